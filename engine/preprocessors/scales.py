"""The size of a map, and the padding that networks want (sd-webui-controlnet's `scripts/utils.py`).

The shorter side becomes the resolution. Pictures that grow are interpolated, others are averaged.
While a preprocessor runs, both sides are multiples of 64: the right and bottom edges are repeated.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.api.limits import MAX_SIDE
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.preprocessors.opencv.resizing import resize_area, resize_cubic

Pixels = NDArray[np.uint8]
_CELL = 64


def map_size(width: int, height: int, resolution: int) -> tuple[int, int]:
    """Return width and height of a map. Raises EngineError(REQUEST_INVALID) if it is too long."""
    scale = resolution / min(width, height)
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


def pixel_perfect(picture: tuple[int, int], target: tuple[int, int], *, whole: bool = False) -> int:
    """Return the resolution at which no pixel of the map is lost or invented.

    Sizes are (width, height). The picture will fill the target and be cropped, or, `whole`, fit
    into it. sd-webui-controlnet's `pixel_perfect_resolution`.
    """
    scales = [wanted / given for given, wanted in zip(picture, target, strict=True)]
    return round((min(scales) if whole else max(scales)) * min(picture))


def resized(picture: Pixels, resolution: int) -> Pixels:
    """Return a picture whose shorter side is the resolution. Raises EngineError as `map_size`."""
    height, width = picture.shape[:2]
    size = map_size(width, height, resolution)
    resize = resize_cubic if resolution > min(width, height) else resize_area
    return resize(picture, *size)


def padded(picture: Pixels, work: Callable[[Pixels], Pixels]) -> Pixels:
    """Return the result of `work` on a picture with sides of multiples of 64, without the rest."""
    height, width = picture.shape[:2]
    whole = np.pad(picture, ((0, -height % _CELL), (0, -width % _CELL), (0, 0)), mode="edge")
    return work(whole)[:height, :width]


def on_three_channels(plane: Pixels) -> Pixels:
    """Return a grey map [height, width] as [height, width, 3]."""
    return np.repeat(plane[:, :, None], 3, axis=2)
