"""The size of a map, and the padding that networks want (sd-webui-controlnet's `scripts/utils.py`).

The shorter side becomes the resolution. Pictures that grow are interpolated, others are averaged.
While a preprocessor runs, both sides are multiples of 64: the right and bottom edges are repeated.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.api.limits import MAX_SIDE
from engine.api.preprocessors import MapTarget
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.preprocessors.opencv.resizing import resize_area, resize_cubic

Pixels = NDArray[np.uint8]
_CELL = 64


def map_size(width: int, height: int, resolution: int | None) -> tuple[int, int]:
    """Return width and height of a map of a picture; without a resolution it keeps its own size.

    Raises EngineError(REQUEST_INVALID) if the map is too long.
    """
    scale = (resolution or min(width, height)) / min(width, height)
    size = round(width * scale), round(height * scale)
    if max(size) > MAX_SIDE:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The map would be {width} x {height} pixels; a side has at most {most}.",
                width=size[0],
                height=size[1],
                most=MAX_SIDE,
            ),
            sentence("Lower the resolution, or cut the picture to another shape."),
        )
    return size


def pixel_perfect(width: int, height: int, target: MapTarget) -> int:
    """Return the resolution at which no pixel of a picture's map is lost or invented, at least 1.

    sd-webui-controlnet's `pixel_perfect_resolution`.
    """
    scales = target.width / width, target.height / height
    scale = min(scales) if target.whole else max(scales)
    return max(1, round(scale * min(width, height)))


def resized(picture: Pixels, resolution: int | None) -> Pixels:
    """Return a picture whose shorter side is the resolution, or without one the picture.

    Raises EngineError as `map_size`.
    """
    height, width = picture.shape[:2]
    size = map_size(width, height, resolution)
    if size == (width, height):
        return picture
    return (resize_cubic if size[0] > width else resize_area)(picture, *size)


def padded(picture: Pixels, work: Callable[[Pixels], Pixels]) -> Pixels:
    """Return the result of `work` on a picture with sides of multiples of 64, without the rest."""
    height, width = picture.shape[:2]
    whole = np.pad(picture, ((0, -height % _CELL), (0, -width % _CELL), (0, 0)), mode="edge")
    return work(whole)[:height, :width]


def on_three_channels(plane: Pixels) -> Pixels:
    """Return a grey map [height, width] as [height, width, 3]."""
    return np.repeat(plane[:, :, None], 3, axis=2)
