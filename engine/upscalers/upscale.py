"""A picture of the wanted size: enlarged by a network as often as needed, then resampled."""

import math
from collections.abc import Callable

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.api.second_passes import Resampling
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError, host_memory_errors
from engine.metadata.opening import MAX_PIXELS
from engine.upscalers.resampling import resampled
from engine.upscalers.tiles import Floats

Pixels = NDArray[np.uint8]
# Makes planes [channels, height, width] in [0, 1] larger by its scale.
Enlarge = Callable[[Floats], Floats]
Shape = tuple[int, int, int]
# A network is run on its own result no more often than this.
_MOST_PASSES = 3
_LEVELS = 255.0


class Enlarger(msgspec.Struct, frozen=True):
    """A network that makes each side `scale` times as long; 1 where it only cleans a picture.

    `expect` is told the shapes of all planes that a picture will have enlarged, in order.
    """

    enlarge: Enlarge
    scale: int
    expect: Callable[[tuple[Shape, ...]], None] = lambda _shapes: None


class Wanted(msgspec.Struct, frozen=True):
    """The wanted picture: an exact width and height, its longer side, or a growth.

    With none of these it grows as the network does.
    """

    size: tuple[int, int] | None = None
    scale: float | None = None
    resampling: Resampling = Resampling.LANCZOS
    longest: int | None = None

    def size_for(self, size: tuple[int, int], own_scale: int) -> tuple[int, int]:
        """Return width and height in pixels for a picture of this width and height.

        Raises EngineError(REQUEST_INVALID) for more pixels than a picture may have.
        """
        scale = own_scale if self.scale is None else self.scale
        if self.longest is not None:
            scale = self.longest / max(size)
        width, height = self.size or tuple(max(1, round(side * scale)) for side in size)
        return _bounded((width, height))


@host_memory_errors()
def upscaled(pixels: Pixels, wanted: Wanted, enlarger: Enlarger | None) -> Pixels:
    """Return a picture, uint8 [height, width, 3 or 4], at the wanted size.

    Without `enlarger` it is only resampled. A fourth channel, the opacity, is enlarged as a grey
    picture. Raises EngineError: REQUEST_INVALID for too large a picture, before anything is run;
    the errors of `enlarger`.
    """
    height, width = pixels.shape[:2]
    size = wanted.size_for((width, height), enlarger.scale if enlarger else 1)
    planes = np.ascontiguousarray(pixels.transpose(2, 0, 1)).astype(np.float32) / _LEVELS
    if enlarger is not None:
        planes = grown(planes, size, enlarger)
    planes = resampled(planes, size, wanted.resampling)
    levels = np.rint(np.clip(planes, 0, 1) * _LEVELS).astype(np.uint8)
    return np.ascontiguousarray(levels.transpose(1, 2, 0))


def grown(planes: Floats, size: tuple[int, int], enlarger: Enlarger) -> Floats:
    """Return planes enlarged by a network until they are no smaller than a width and height.

    Raises EngineError as `upscaled` does.
    """
    height, width = planes.shape[1:]
    count = passes_within((width, height), size, enlarger.scale)
    enlarger.expect(shapes((width, height), count, enlarger.scale, opaque=_is_even(planes)))
    for _ in range(count):
        planes = _enlarged(planes, enlarger)
    return planes


def passes_within(size: tuple[int, int], target: tuple[int, int], scale: int) -> int:
    """Return how often a network is run. Raises EngineError where a picture would be too large."""
    count = passes(size, target, scale)
    grown = scale**count
    _bounded((size[0] * grown, size[1] * grown))
    return count


def passes(size: tuple[int, int], target: tuple[int, int], scale: int) -> int:
    """Return how often a network is run: until neither side is too short, but at least once."""
    if scale == 1:
        return 1
    growth = max(wanted / now for wanted, now in zip(target, size, strict=True))
    needed = math.ceil(math.log(growth, scale) - 1e-9) if growth > 1 else 1
    return min(max(needed, 1), _MOST_PASSES)


def shapes(size: tuple[int, int], count: int, scale: int, *, opaque: bool) -> tuple[Shape, ...]:
    """Return the shapes of the planes that a network gets for a picture, run `count` times.

    `opaque`: the opacity is the same everywhere, so that it needs no run of its own.
    """
    width, height = size
    sides = [(height * scale**run, width * scale**run) for run in range(count)]
    return tuple((channels, *side) for side in sides for channels in ((3,) if opaque else (3, 1)))


def _is_even(planes: Floats) -> bool:
    """Tell whether the opacity, if there is any, is the same everywhere."""
    return len(planes) == 3 or bool(planes[3].min() == planes[3].max())


def _enlarged(planes: Floats, enlarger: Enlarger) -> Floats:
    """Return planes after one run of the network; the next one sees colours within bounds."""
    colours = np.clip(enlarger.enlarge(planes[:3]), 0, 1)
    if len(planes) == 3:
        return colours
    opacity = planes[3:]
    if _is_even(planes):
        even = np.full((1, *colours.shape[1:]), opacity.min(), np.float32)
        return np.concatenate([colours, even])
    return np.concatenate([colours, np.clip(enlarger.enlarge(opacity), 0, 1)])


def _bounded(size: tuple[int, int]) -> tuple[int, int]:
    width, height = size
    if width * height > MAX_PIXELS:
        raise EngineError(
            ErrorCode.REQUEST_INVALID,
            sentence(
                "The picture would be {width} × {height}; {most} million pixels is the most.",  # noqa: RUF001
                width=width,
                height=height,
                most=MAX_PIXELS // 1_000_000,
            ),
            sentence("Choose a smaller size, or an upscaler of a smaller scale."),
        )
    return width, height
