"""Lightness as OpenCV's `cvtColor` computes it in fixed point (`color_lab.cpp`)."""

import numpy as np
from numpy.typing import NDArray

# Linear light has 3 bits below a level; weights of colours have 12 bits, cube roots 15.
_LIGHT, _WEIGHT, _ROOT = 3, 12, 15
# Shares of red, green and blue in luminance (sRGB, D65).
_SHARES = (0.212671, 0.715160, 0.072169)


def lightness(
    red: NDArray[np.uint8], green: NDArray[np.uint8], blue: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Return L* of CIE L*a*b* of sRGB colours, 0 to 255 for 0 to 100."""
    light, roots = _linear_light(), _cube_roots()
    shares = [round(share * (1 << _WEIGHT)) for share in _SHARES]
    luminance = shares[0] * light[red] + shares[1] * light[green] + shares[2] * light[blue]
    scale, shift = (116 * 255 + 50) // 100, -((16 * 255 * (1 << _ROOT) + 50) // 100)
    return _descaled(scale * roots[_descaled(luminance, _WEIGHT)] + shift, _ROOT).astype(np.uint8)


def _descaled(numbers: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    return (numbers + (1 << (bits - 1))) >> bits


def _linear_light() -> NDArray[np.int64]:
    """Return the linear light of each level, in 1/8."""
    level = np.arange(256) / 255
    light = np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
    return np.rint(255 * (1 << _LIGHT) * light).astype(np.int64)


def _cube_roots() -> NDArray[np.int64]:
    """Return f of CIE L*a*b* of each luminance, in 1/32768."""
    luminance = np.arange((255 << _LIGHT) + 2) / (255 << _LIGHT)
    root = np.where(luminance < 0.008856, luminance * 7.787 + 16 / 116, np.cbrt(luminance))
    return np.rint(root * (1 << _ROOT)).astype(np.int64)
