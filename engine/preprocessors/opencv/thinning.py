"""Thin lines as sd-webui-controlnet makes them with OpenCV's morphology.

Zhang's "High Quality Edge Thinning" (`scripts/lvminthin.py`). Pictures are [height, width]; beyond
their edges every pattern is met, as for OpenCV's `erode` and `dilate`.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Plane = NDArray[np.uint8]
Mask = NDArray[np.bool_]
_Level = TypeVar("_Level", np.uint8, np.bool_)
# Lines through a pixel: along a row, a column, and both diagonals, as steps down and right.
_LINES = ((0, 1), (1, 0), (1, 1), (1, -1))
# Patterns in which a pixel is not needed: 1 is a line's pixel, -1 none, 0 either.
_EDGES = (((-1, -1, -1), (0, 1, 0), (1, 1, 1)), ((0, -1, -1), (1, 1, -1), (0, 1, 0)))
# Ends of lines that are shorter spurs.
_SPURS = (((-1, -1, -1), (-1, 1, -1), (0, 0, -1)), ((-1, -1, -1), (-1, 1, -1), (-1, 0, 0)))
_MOST_ROUNDS = 32


def opened(picture: Plane) -> Plane:
    """Return a picture eroded and then dilated by 3 x 3 pixels, each channel by itself."""
    steps = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    eroded = np.minimum.reduce([_moved(picture, *step, beyond=255) for step in steps])
    return np.maximum.reduce([_moved(eroded, *step, beyond=0) for step in steps])


def ridges(grey: Plane) -> Plane:
    """Return the pixels that are the greatest of three on one of the lines through them."""
    found = np.zeros(grey.shape, np.bool_)
    for down, right in _LINES:
        beside = (_moved(grey, sign * down, sign * right, beyond=0) for sign in (-1, 1))
        found |= np.maximum.reduce([grey, *beside]) == grey
    return np.where(found, grey, np.uint8(0))


def thinned(lines: Mask, *, prunes: bool) -> Mask:
    """Return lines one pixel wide, without the spurs of one pixel if it `prunes`."""
    left = lines.copy()
    for _round in range(_MOST_ROUNDS):
        if not _thinned_once(left, _turned(_EDGES)):
            break
    if prunes:
        _thinned_once(left, _turned(_SPURS))
    return left


def _thinned_once(lines: Mask, patterns: list[NDArray[np.int8]]) -> bool:
    """Take the pixels away that are like a pattern, one pattern after another; True for any."""
    changed = False
    for pattern in patterns:
        alike = np.ones(lines.shape, np.bool_)
        for (row, column), wanted in np.ndenumerate(pattern):
            if wanted:
                here = lines if wanted > 0 else ~lines
                alike &= _moved(here, row - 1, column - 1, beyond=1)
        lines[alike] = False
        changed = changed or bool(alike.any())
    return changed


def _turned(patterns: tuple[tuple[tuple[int, ...], ...], ...]) -> list[NDArray[np.int8]]:
    """Return patterns in all four directions, those of one direction together."""
    return [
        np.rot90(np.array(pattern, np.int8), turns) for turns in range(4) for pattern in patterns
    ]


def _moved(picture: NDArray[_Level], down: int, right: int, *, beyond: int) -> NDArray[_Level]:
    """Return for each pixel the one so far from it, and `beyond` outside of the picture."""
    height, width = picture.shape[:2]
    sides = ((1, 1), (1, 1), *(((0, 0),) * (picture.ndim - 2)))
    wide = np.pad(picture, sides, constant_values=beyond)
    return wide[1 + down : 1 + down + height, 1 + right : 1 + right + width]
