"""Changes of size as OpenCV's `resize` makes them (`modules/imgproc/src/resize.cpp`).

Means of areas are equal to the last bit. Bicubic 8-bit pictures are those of OpenCV on x86, which
rounds once (Intel's IPP), but for one level where a number is within float32's error of a half;
OpenCV elsewhere rounds weights to 1/2048 and differs from itself by one level in a pixel of 20.
"""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import DTypeLike, NDArray

from backends.base import Array

# Weights of the linear interpolation of 8-bit pictures are multiples of 1/2048.
_ONE = 1 << 11
# The parameter of Keys' cubic kernel.
_A = -0.75


class _Taps(msgspec.Struct, frozen=True):
    """The pixels that each pixel of the result reads along an axis, and their weights.

    Both are [result, taps]; places are within the picture.
    """

    places: NDArray[np.int64]
    weights: NDArray[np.floating[Any]]

    def of(self, kind: DTypeLike) -> "_Taps":
        """Return the same with weights of another type."""
        return _Taps(self.places, self.weights.astype(kind))


def resize_cubic(image: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Resize an 8-bit picture by bicubic interpolation without antialiasing (INTER_CUBIC)."""
    across, down = (_cubic(*_centres(*sizes), sizes[0]) for sizes in _sizes(image, width, height))
    return _rounded(_along_both(image, across.of(np.float32), down.of(np.float32)))


def resize_cubic_numbers(
    numbers: NDArray[np.float64], width: int, height: int
) -> NDArray[np.float64]:
    """Resize float64 numbers by bicubic interpolation (INTER_CUBIC), placed in float32 as there."""
    across, down = (
        _cubic(*_centres(*sizes, np.float32), sizes[0]) for sizes in _sizes(numbers, width, height)
    )
    return _along_both(numbers, across.of(np.float64), down.of(np.float64))


def resize_cubic_by(
    numbers: Array, width: int, height: int, steps: tuple[float, float]
) -> NDArray[np.float32]:
    """Resize a picture by bicubic interpolation whose samples are `steps` apart along x and y.

    PyTorch's `interpolate` with a scale factor takes 1 / factor for a step, whatever the sizes.
    """
    taps: list[_Taps] = []
    for (before, after), step in zip(_sizes(numbers, width, height), steps, strict=True):
        at = (np.arange(after) + 0.5) * step - 0.5
        first = np.floor(at)
        taps.append(_cubic(first.astype(np.int64), at - first, before).of(np.float32))
    return _along_both(numbers, *taps)


def resize_linear(image: NDArray[np.float32], width: int, height: int) -> NDArray[np.float32]:
    """Resize a float32 picture by linear interpolation without antialiasing (INTER_LINEAR)."""
    across, down = (_between(*_centres(*sizes), sizes[0]) for sizes in _sizes(image, width, height))
    return _along_both(image, across.of(np.float32), down.of(np.float32))


def resize_linear_levels(image: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Resize an 8-bit picture by linear interpolation without antialiasing (INTER_LINEAR)."""
    (before_x, after_x), (before_y, after_y) = _sizes(image, width, height)
    if (before_x, before_y) == (2 * after_x, 2 * after_y):
        return resize_area(image, width, height)
    taps = [
        _between(*_centres(*sizes, np.float32), sizes[0]) for sizes in _sizes(image, width, height)
    ]
    return _along_both_fixed(image, *taps)


def resize_nearest(image: Array, width: int, height: int) -> Array:
    """Resize a picture by repeating or leaving out pixels (INTER_NEAREST)."""
    columns, rows = (
        np.minimum((np.arange(after) * _step(before, after)).astype(np.int64), before - 1)
        for before, after in _sizes(image, width, height)
    )
    return image[rows][:, columns]


def resize_area(image: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Resize an 8-bit picture by the mean of the area under each pixel (INTER_AREA).

    Where the picture grows along an axis, it is interpolated by coverage, as in OpenCV.
    """
    (before_x, after_x), (before_y, after_y) = _sizes(image, width, height)
    if (before_x, before_y) == (after_x, after_y):
        return image.copy()
    if after_x > before_x or after_y > before_y:
        return _covered(image, width, height)
    if before_x % after_x == 0 and before_y % after_y == 0:
        return _block_means(image, before_x // after_x, before_y // after_y)
    across, down = _area(before_x, after_x), _area(before_y, after_y)
    return _rounded(_along_both(image, across, down))


def resize_area_numbers(image: NDArray[np.float32], width: int, height: int) -> Array:
    """Resize float32 numbers by the mean of the area under each pixel (INTER_AREA).

    Where they grow along an axis, they are interpolated by coverage, as in OpenCV.
    """
    sizes = _sizes(image, width, height)
    if any(after > before for before, after in sizes):
        across, down = (_coverage(*size) for size in sizes)
    else:
        across, down = (_area(*size) for size in sizes)
    return _along_both(image, across, down)


def _sizes(image: Array, width: int, height: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the sizes before and after, along x and along y."""
    return (image.shape[1], width), (image.shape[0], height)


def _step(before: int, after: int) -> float:
    """Return the old pixels from one new pixel to the next, rounded as OpenCV rounds it."""
    return 1.0 / (after / before)


def _along_both(image: Array, across: _Taps, down: _Taps) -> Array:
    """Return the weighted sums of pixels, tap by tap in order, in the type of the weights."""
    return _summed(_summed(image, across, 1), down, 0)


def _summed(image: Array, taps: _Taps, axis: int) -> Array:
    shape = [1] * image.ndim
    shape[axis] = -1
    after = list(image.shape)
    after[axis] = len(taps.places)
    total = np.zeros(after, taps.weights.dtype)
    for place, weight in zip(taps.places.T, taps.weights.T, strict=True):
        total += np.take(image, place, axis).astype(weight.dtype) * weight.reshape(shape)
    return total


def _rounded(sums: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return numbers as 8-bit levels, halves to even."""
    return np.clip(np.rint(sums), 0, 255).astype(np.uint8)


def _centres(
    before: int, after: int, kind: DTypeLike = np.float64
) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]]]:
    """Return the pixel at or before the centre of each new pixel, and the way to the next one."""
    at = ((np.arange(after) + 0.5) * _step(before, after) - 0.5).astype(kind)
    first = np.floor(at)
    return first.astype(np.int64), at - first


def _cubic(first: NDArray[np.int64], x: NDArray[np.floating[Any]], before: int) -> _Taps:
    """Return Keys' weights of the pixels around a place, in the type of `x`."""
    y = 1 - x
    a = ((_A * (x + 1) - 5 * _A) * (x + 1) + 8 * _A) * (x + 1) - 4 * _A
    b = ((_A + 2) * x - (_A + 3)) * x * x + 1
    c = ((_A + 2) * y - (_A + 3)) * y * y + 1
    places = np.clip(first[:, None] + np.arange(-1, 3), 0, before - 1)
    return _Taps(places, np.stack([a, b, c, 1 - a - b - c], axis=1))


def _between(first: NDArray[np.int64], x: NDArray[np.floating[Any]], before: int) -> _Taps:
    """Return the weights of the two pixels around a place; those outside repeat the edge."""
    x = np.where((first >= 0) & (first < before - 1), x, 0).astype(x.dtype)
    places = np.clip(first[:, None] + np.arange(2), 0, before - 1)
    return _Taps(places, np.stack([1 - x, x], axis=1))


def _covered(image: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """Enlarge by the share of each new pixel that the next old one covers."""
    across, down = (_coverage(*size) for size in _sizes(image, width, height))
    return _along_both_fixed(image, across, down)


def _coverage(before: int, after: int) -> _Taps:
    """Return the weights of two pixels by the share of each new one that the second covers."""
    new = np.arange(after)
    first = np.floor(new * _step(before, after)).astype(np.int64)
    x = ((new + 1) - (first + 1) * (after / before)).astype(np.float32)
    return _between(first, np.where(x <= 0, np.float32(0), x - np.floor(x)), before)


def _along_both_fixed(image: NDArray[np.uint8], across: _Taps, down: _Taps) -> NDArray[np.uint8]:
    """Return the sums of two pixels along each axis, by weights of whole 1/2048."""
    wide = _summed(image, _Taps(across.places, _fixed(across)), 1)
    # Both rows are rounded apart, as the vector instructions of OpenCV do.
    rows = [
        (weight.reshape(-1, 1, 1) * (wide[place] >> 4)) >> 16
        for place, weight in zip(down.places.T, _fixed(down).T, strict=True)
    ]
    return ((rows[0] + rows[1] + 2) >> 2).astype(np.uint8)


def _fixed(taps: _Taps) -> NDArray[Any]:
    """Return weights in 1/2048."""
    return np.rint(taps.weights * np.float32(_ONE)).astype(np.int64)


def _block_means(image: NDArray[np.uint8], x: int, y: int) -> NDArray[np.uint8]:
    """Return the means of blocks of `x` by `y` pixels, halves to even; of 2 x 2 halves go up."""
    height, width, channels = image.shape
    blocks = image.reshape(height // y, y, width // x, x, channels)
    sums = blocks.sum(axis=(1, 3), dtype=np.int64)
    if (x, y) == (2, 2):
        return ((sums + 2) >> 2).astype(np.uint8)
    return np.rint(sums.astype(np.float32) * np.float32(1 / (x * y))).astype(np.uint8)


def _area(before: int, after: int) -> _Taps:
    """Return the shares of old pixels under each new one; those beyond the last weigh nothing."""
    scale = _step(before, after)
    start = np.arange(after) * scale
    end = start + scale
    cell = np.minimum(scale, before - start)
    whole = np.ceil(start).astype(np.int64)
    last = np.minimum(np.floor(end).astype(np.int64), before - 1)
    whole = np.minimum(whole, last)
    # A first part, whole pixels and a last part, in this order; parts below 1/1000 do not count.
    begins = np.where(whole - start > 1e-3, (whole - start) / cell, 0)
    ends = np.where(end - last > 1e-3, np.minimum(np.minimum(end - last, 1), cell) / cell, 0)
    count = int((last - whole).max()) if after else 0
    inner = whole[:, None] + np.arange(count)
    shares = np.where(inner < last[:, None], 1 / cell[:, None], 0)
    places = np.concatenate([(whole - 1)[:, None], inner, last[:, None]], axis=1)
    weights = np.concatenate([begins[:, None], shares, ends[:, None]], axis=1)
    return _Taps(np.clip(places, 0, before - 1), weights.astype(np.float32))
