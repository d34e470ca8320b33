"""Preprocessors with weights: what a network is shown, and how its numbers become a map.

Pictures and maps are uint8 [height, width, 3] in RGB. Steps are those of sd-webui-controlnet
(`annotator/`, `scripts/preprocessor/legacy/processor.py`) but where said.
"""

import numpy as np
from numpy.typing import NDArray

from engine.api.preprocessors import (
    DepthOptions,
    HedOptions,
    LineartOptions,
    PidinetOptions,
    ScribbleHedOptions,
    ScribblePidinetOptions,
)
from engine.graphs.annotators.depth_anything import PATCH
from engine.preprocessors.annotators import LoadedAnnotator, Plane
from engine.preprocessors.opencv.blurring import blur, blur_numbers
from engine.preprocessors.opencv.resizing import resize_cubic_numbers, resize_linear
from engine.preprocessors.scales import Pixels, on_three_channels, padded, resized

# The least side that Depth Anything sees, and the colours that its pictures are normalised by.
_DEPTH_SIDE = 518
IMAGENET_MEAN, IMAGENET_DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# Scribbles: levels above which an edge counts, and widths of strokes.
_EDGE, _STROKE, _SPREAD = 127, 3.0, 4


def lineart(picture: Pixels, options: LineartOptions, network: LoadedAnnotator) -> Pixels:
    """Return white lines on black: the negative of the network's drawing."""

    def drawn(whole: Pixels) -> Pixels:
        lines = network(_planes(whole) / np.float32(255))
        return on_three_channels(255 - _levels(lines))

    return padded(resized(picture, options.resolution), drawn)


def softedge_hed(picture: Pixels, options: HedOptions, network: LoadedAnnotator) -> Pixels:
    """Return the mean edge of the network's five levels."""
    return on_three_channels(_hed(picture, options.resolution, network, safe=options.safe))


def softedge_pidinet(picture: Pixels, options: PidinetOptions, network: LoadedAnnotator) -> Pixels:
    """Return the network's edges; it sees red and blue swapped, as it was trained."""
    return on_three_channels(_pidinet(picture, options.resolution, network, safe=options.safe))


def scribble_hed(picture: Pixels, options: ScribbleHedOptions, network: LoadedAnnotator) -> Pixels:
    """Return strokes along HED's edges."""
    return on_three_channels(_strokes(_hed(picture, options.resolution, network, safe=False)))


def scribble_pidinet(
    picture: Pixels, options: ScribblePidinetOptions, network: LoadedAnnotator
) -> Pixels:
    """Return strokes along PiDiNet's edges."""
    return on_three_channels(_strokes(_pidinet(picture, options.resolution, network, safe=False)))


def depth(picture: Pixels, options: DepthOptions, network: LoadedAnnotator) -> Pixels:
    """Return nearness, from black for the farthest pixel to white for the nearest one.

    The network sees RGB, as in its own repository; sd-webui-controlnet swaps red and blue. A
    picture of one depth becomes black.
    """

    def drawn(whole: Pixels) -> Pixels:
        near = nearness(whole, network)
        return on_three_channels((near / (near.max() or 1) * np.float32(255)).astype(np.uint8))

    return padded(resized(picture, options.resolution), drawn)


def nearness(whole: Pixels, network: LoadedAnnotator) -> Plane:
    """Return Depth Anything's result for a picture, float32 [height, width] from 0 on."""
    height, width = whole.shape[:2]
    seen = resize_cubic_numbers(whole / 255.0, *depth_size(width, height))
    normal = ((seen - IMAGENET_MEAN) / IMAGENET_DEVIATION).astype(np.float32)
    made = network(normal.transpose(2, 0, 1)[None])
    near = resize_linear(made[:, :, None], width, height)[:, :, 0]
    return near - near.min()


def depth_size(width: int, height: int) -> tuple[int, int]:
    """Return the width and height that Depth Anything sees: at least 518, multiples of 14."""
    scale = max(_DEPTH_SIDE / width, _DEPTH_SIDE / height)
    wide, high = (max(round(side * scale / PATCH) * PATCH, _DEPTH_SIDE) for side in (width, height))
    return wide, high


def _hed(
    picture: Pixels, resolution: int | None, network: LoadedAnnotator, *, safe: bool
) -> Pixels:
    def found(whole: Pixels) -> Pixels:
        with np.errstate(over="ignore"):  # e to the power of 1000 is infinite, and its edge 0
            edges = 1 / (1 + np.exp(-network(_planes(whole)).astype(np.float64)))
        return _levels(_in_steps(edges) if safe else edges)

    return padded(resized(picture, resolution), found)


def _pidinet(
    picture: Pixels, resolution: int | None, network: LoadedAnnotator, *, safe: bool
) -> Pixels:
    def found(whole: Pixels) -> Pixels:
        edges = network(_planes(whole[:, :, ::-1]) / np.float32(255))
        return _levels(_in_steps(edges) if safe else edges)

    return padded(resized(picture, resolution), found)


def _planes(picture: Pixels) -> Plane:
    """Return a picture as float32 [1, 3, height, width], from 0 to 255."""
    return picture.astype(np.float32).transpose(2, 0, 1)[None]


def _levels(numbers: NDArray[np.floating]) -> Pixels:
    """Return numbers from 0 to 1 as levels, cut and not rounded."""
    return np.clip(numbers * 255, 0, 255).astype(np.uint8)


def _in_steps(numbers: NDArray[np.floating]) -> Plane:
    """Return numbers from 0 to 1 in halves: below 1/3, 2/3 and 1."""
    steps = (numbers.astype(np.float32) * np.float32(3)).astype(np.int32)
    return steps.astype(np.float32) / np.float32(2)


def _strokes(edges: Pixels) -> Pixels:
    """Return strokes along the ridges of blurred edges [height, width], 255 on 0."""
    smooth = blur_numbers(edges[:, :, None].astype(np.float32), _STROKE)[:, :, 0]
    lines = (_is_ridge(smooth) & (smooth > _EDGE)).astype(np.uint8) * np.uint8(255)
    wide = blur(lines[:, :, None], _STROKE)[:, :, 0]
    return (wide > _SPREAD).astype(np.uint8) * np.uint8(255)


def _is_ridge(plane: Plane) -> NDArray[np.bool_]:
    """Tell where a pixel is at least as great as both neighbours along one of four directions."""
    height, width = plane.shape
    around = np.pad(plane, 1, constant_values=-np.inf)
    ridge = np.zeros(plane.shape, np.bool_)
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        sides = [around[1 + step * down :, 1 + step * right :][:height, :width] for step in (-1, 1)]
        ridge |= (plane >= sides[0]) & (plane >= sides[1])
    return ridge
