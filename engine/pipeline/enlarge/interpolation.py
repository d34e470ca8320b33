"""Latents at another size: `torch.nn.functional.interpolate` and ComfyUI's "bislerp", in NumPy.

All modes of torch are separable, so each is a matrix of weights for the rows and one for the
columns. After `UpSampleKernel.cpp` of PyTorch 2 with `align_corners=False`.
"""

from collections.abc import Callable
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from engine.sampling.types import Latent

Weights = NDArray[np.float64]
# ComfyUI takes cosines closer to 1 or -1 than this for equal or opposite vectors.
_ALMOST = 1e-5


class Interpolation(StrEnum):
    """The modes by which a latent is made larger or smaller."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BILINEAR_ANTIALIASED = "bilinear-antialiased"
    BICUBIC = "bicubic"
    BICUBIC_ANTIALIASED = "bicubic-antialiased"
    AREA = "area"
    BISLERP = "bislerp"


def interpolated(latent: Latent, cells: tuple[int, int], mode: Interpolation) -> Latent:
    """Return a latent [batch, channels, height, width] at a height and a width in cells."""
    if latent.shape[2:] == cells:
        return latent
    if mode is Interpolation.BISLERP:
        return _bislerp(latent, cells)
    weights = _WEIGHTS[mode]
    down = weights(latent.shape[2], cells[0]).astype(np.float32)
    across = weights(latent.shape[3], cells[1]).astype(np.float32)
    return np.ascontiguousarray(down @ latent @ across.T)


def _nearest(before: int, after: int) -> Weights:
    # torch computes the step in float32.
    step = np.float32(before) / np.float32(after)
    return _picked(np.floor(np.arange(after, dtype=np.float32) * step), before)


def _nearest_exact(before: int, after: int) -> Weights:
    step = np.float32(before) / np.float32(after)
    centres = np.arange(after, dtype=np.float32) + np.float32(0.5)
    return _picked(np.floor(centres * step), before)


def _picked(places: NDArray[np.float32], before: int) -> Weights:
    return np.eye(before)[np.minimum(places.astype(np.int64), before - 1)]


def _bilinear(before: int, after: int) -> Weights:
    first, share = _places(np.maximum(_centres(before, after), 0))
    return _sum_of([(first, 1 - share), (np.minimum(first + 1, before - 1), share)], before, after)


def _centres(before: int, after: int) -> Weights:
    """Return the places of new cells among the old ones, whose centres are whole numbers."""
    return (np.arange(after, dtype=np.float64) + 0.5) * (before / after) - 0.5


def _places(centres: Weights) -> tuple[NDArray[np.int64], Weights]:
    """Return the cells at or before these places, and the distances from them."""
    first = np.floor(centres)
    return first.astype(np.int64), centres - first


def _bicubic(before: int, after: int) -> Weights:
    first, share = _places(_centres(before, after))
    return _sum_of(
        [
            (np.clip(first + at, 0, before - 1), _cubic(share - at, sharpness=-0.75))
            for at in (-1, 0, 1, 2)
        ],
        before,
        after,
    )


def _sum_of(terms: list[tuple[NDArray[np.int64], Weights]], before: int, after: int) -> Weights:
    """Return a matrix with the weights of each term at the cells that it looks at."""
    matrix = np.zeros((after, before))
    for cells, weights in terms:
        np.add.at(matrix, (np.arange(after), cells), weights)
    return matrix


def _antialiased(kernel: Callable[[Weights], Weights], reach: int) -> Callable[[int, int], Weights]:
    """Return the weights of a kernel that widens with the step when a latent shrinks."""

    def weights(before: int, after: int) -> Weights:
        step = before / after
        wide = max(step, 1.0)
        matrix = np.zeros((after, before))
        for row in range(after):
            centre = step * (row + 0.5)
            first = max(int(centre - reach * wide + 0.5), 0)
            end = min(int(centre + reach * wide + 0.5), before)
            found = kernel((np.arange(first, end, dtype=np.float64) - centre + 0.5) / wide)
            matrix[row, first:end] = found / found.sum()
        return matrix

    return weights


def _triangle(distance: Weights) -> Weights:
    return np.maximum(1 - np.abs(distance), 0)


def _smooth_cubic(distance: Weights) -> Weights:
    return _cubic(distance, sharpness=-0.5)


def _cubic(distance: Weights, *, sharpness: float) -> Weights:
    """Return Keys's cubic convolution kernel (Keys 1981) at distances in cells."""
    x = np.abs(distance)
    inner = ((sharpness + 2) * x - (sharpness + 3)) * x * x + 1
    outer = ((x - 5) * x + 8) * x * sharpness - 4 * sharpness
    return np.where(x <= 1, inner, np.where(x < 2, outer, 0))


def _area(before: int, after: int) -> Weights:
    """Return the means of `adaptive_avg_pool2d`, whose areas are whole cells."""
    matrix = np.zeros((after, before))
    for row in range(after):
        first, end = row * before // after, -(-(row + 1) * before // after)
        matrix[row, first:end] = 1 / (end - first)
    return matrix


_WEIGHTS: dict[Interpolation, Callable[[int, int], Weights]] = {
    Interpolation.NEAREST: _nearest,
    Interpolation.NEAREST_EXACT: _nearest_exact,
    Interpolation.BILINEAR: _bilinear,
    Interpolation.BILINEAR_ANTIALIASED: _antialiased(_triangle, 1),
    Interpolation.BICUBIC: _bicubic,
    Interpolation.BICUBIC_ANTIALIASED: _antialiased(_smooth_cubic, 2),
    Interpolation.AREA: _area,
}


def _bislerp(latent: Latent, cells: tuple[int, int]) -> Latent:
    """Rotate between neighbouring cells, along the rows and then along the columns.

    The vectors of all channels keep their lengths (`comfy.utils.bislerp`).
    """
    for axis, after in ((3, cells[1]), (2, cells[0])):
        cell, following, share = _neighbours(latent.shape[axis], after)
        near, far = (np.take(latent, places, axis) for places in (cell, following))
        latent = _rotated(near, far, share.reshape(1, 1, *((1, -1) if axis == 3 else (-1, 1))))
    return np.ascontiguousarray(latent)


def _neighbours(
    before: int, after: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return the two cells between which each new cell lies, and its distance from the first."""
    weights = _bilinear(before, after)
    numbers = np.arange(before, dtype=np.float64)
    places = (weights @ numbers).astype(np.float32)
    ends = (weights @ np.minimum(numbers + 1, before - 1)).astype(np.float32)
    return places.astype(np.int64), ends.astype(np.int64), places - np.floor(places)


def _rotated(near: Latent, far: Latent, share: Latent) -> Latent:
    """Return the spherical interpolation over the channels; a copy of `near` where both agree."""
    lengths = [np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (near, far)]
    first, second = (
        vectors / np.where(length == 0, 1, length)
        for vectors, length in zip((near, far), lengths, strict=True)
    )
    cosine = (first * second).sum(axis=1, keepdims=True)
    angle = np.arccos(np.clip(cosine, -1, 1))
    sine = np.where(np.sin(angle) == 0, 1, np.sin(angle))
    turned = np.sin((1 - share) * angle) / sine * first + np.sin(share * angle) / sine * second
    turned = turned * (lengths[0] * (1 - share) + lengths[1] * share)
    straight = near * (1 - share) + far * share
    turned = np.where(cosine > 1 - _ALMOST, near, turned)
    return np.where(cosine < _ALMOST - 1, straight, turned).astype(np.float32)
