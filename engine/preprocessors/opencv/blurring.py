"""Gaussian blur as OpenCV's `GaussianBlur` makes it with a size of zero (`smooth.dispatch.cpp`).

Edges are mirrored without the pixel at the edge (BORDER_REFLECT_101).
"""

import numpy as np
from numpy.typing import NDArray

from backends.base import Array

# Pixels of the result at once: a block of this size and its surroundings meet one small matrix.
_BLOCK = 256


def blur(image: NDArray[np.uint8], sigma: float) -> NDArray[np.uint8]:
    """Blur an 8-bit picture; `sigma` is the standard deviation in pixels, above 0.

    The kernel reaches 3 sigma; its weights are multiples of 1/256, as in OpenCV, whose result this
    is to the last bit.
    """
    weights = _in_fixed_point(_kernel(sigma, 3), 256).astype(np.float32)
    # All sums are integers below 2^24, which float32 holds.
    sums = _convolved(_convolved(image.astype(np.float32), weights, 1), weights, 0)
    return ((sums.astype(np.int64) + (1 << 15)) >> 16).astype(np.uint8)


def blur_numbers(image: NDArray[np.float32], sigma: float) -> NDArray[np.float32]:
    """Blur a float32 picture in float32; the kernel reaches 4 sigma."""
    weights = _kernel(sigma, 4).astype(np.float32)
    return _convolved(_convolved(image, weights, 1), weights, 0)


def _kernel(sigma: float, reach: int) -> NDArray[np.float64]:
    """Return a Gaussian of an odd number of weights that sum to 1."""
    size = round(sigma * reach * 2 + 1) | 1
    away = np.arange(size) - size // 2
    weights = np.exp(-0.5 * away**2 / sigma**2)
    return weights / weights.sum()


def _in_fixed_point(kernel: NDArray[np.float64], unity: int) -> NDArray[np.int64]:
    """Return the weights as integers that sum to `unity`; each takes on the error before it.

    Those left of the middle are mirrored; the middle one is the rest.
    """
    half = len(kernel) // 2
    weights = np.zeros(len(kernel), np.int64)
    error = 0.0
    for place in range(half):
        wanted = kernel[place] * unity + error
        weights[place] = weights[-1 - place] = round(wanted)
        error = wanted - weights[place]
    weights[half] = unity - weights.sum()
    return weights


def _convolved(image: Array, weights: NDArray[np.float32], axis: int) -> Array:
    """Return the convolution of a float32 picture along an axis, its edges mirrored."""
    reach = len(weights) // 2
    rows = np.moveaxis(image, axis, -1)
    around = [(0, 0)] * (rows.ndim - 1)
    wide = np.pad(rows, [*around, (reach, reach)], mode="reflect")
    band = np.zeros((_BLOCK + 2 * reach, _BLOCK), np.float32)
    for place in range(_BLOCK):
        band[place : place + len(weights), place] = weights
    result = np.empty(rows.shape, np.float32)
    for start in range(0, rows.shape[-1], _BLOCK):
        count = min(_BLOCK, rows.shape[-1] - start)
        part = wide[..., start : start + count + 2 * reach]
        result[..., start : start + count] = part @ band[: count + 2 * reach, :count]
    return np.moveaxis(result, -1, axis)
