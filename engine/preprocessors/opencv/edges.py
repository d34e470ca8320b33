"""Edges as OpenCV's `Canny` finds them (`modules/imgproc/src/canny.cpp`; Canny 1986).

The aperture is 3 and the gradient's magnitude |dx| + |dy|, the defaults there.
"""

import numpy as np
from numpy.typing import NDArray

# tan(22.5 degrees) in 1/32768.
_TANGENT, _BITS = 13573, 15
_Grid = NDArray[np.int32]


def canny(image: NDArray[np.uint8], low: float, high: float) -> NDArray[np.uint8]:
    """Return the edges of a picture, uint8 [height, width, channels], as 255 on 0.

    Of several channels each pixel has the gradient of the one where it is greatest, the first of
    equal ones. Pixels above `low` count where they touch, over others of their kind, one above
    `high`. The result is [height, width].
    """
    low, high = sorted((low, high))
    across, along = _gradient(image)
    magnitude = np.abs(across) + np.abs(along)
    thin = _is_ridge(across, along, magnitude) & (magnitude > int(np.floor(low)))
    strong = thin & (magnitude > int(np.floor(high)))
    return _reached(thin, strong).astype(np.uint8) * np.uint8(255)


def _gradient(image: NDArray[np.uint8]) -> tuple[_Grid, _Grid]:
    """Return Sobel's differences along x and y, of the channel where their sum is greatest."""
    height, width, channels = image.shape
    best = np.full((height, width), -1, np.int32)
    across, along = np.zeros((2, height, width), np.int32)
    for channel in range(channels):
        x, y = _sobel(image[:, :, channel])
        size = np.abs(x) + np.abs(y)
        greater = size > best
        for whole, part in ((best, size), (across, x), (along, y)):
            np.copyto(whole, part, where=greater)
    return across, along


def _sobel(plane: NDArray[np.uint8]) -> tuple[_Grid, _Grid]:
    """Return the differences of a plane, whose edges are repeated, along x and y."""
    wide = np.pad(plane.astype(np.int32), 1, mode="edge")
    smooth_rows = wide[:-2] + 2 * wide[1:-1] + wide[2:]
    smooth_columns = wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]
    return smooth_rows[:, 2:] - smooth_rows[:, :-2], smooth_columns[2:] - smooth_columns[:-2]


def _is_ridge(across: _Grid, along: _Grid, magnitude: _Grid) -> NDArray[np.bool_]:
    """Tell where the magnitude is the greatest along the gradient, of four directions.

    Along a row and a column a neighbour before may not be as great, one behind may; on diagonals
    neither may.
    """
    x, y = np.abs(across).astype(np.int64), np.abs(along).astype(np.int64) << _BITS
    flat = y < x * _TANGENT
    steep = y > x * _TANGENT + (x << (_BITS + 1))
    falling = (across ^ along) < 0
    around = np.pad(magnitude, 1)
    height, width = magnitude.shape

    def beside(down: int, right: int) -> _Grid:
        return around[1 + down : 1 + down + height, 1 + right : 1 + right + width]

    on_row = (magnitude > beside(0, -1)) & (magnitude >= beside(0, 1))
    on_column = (magnitude > beside(-1, 0)) & (magnitude >= beside(1, 0))
    on_fall = (magnitude > beside(-1, 1)) & (magnitude > beside(1, -1))
    on_rise = (magnitude > beside(-1, -1)) & (magnitude > beside(1, 1))
    diagonal = np.where(falling, on_fall, on_rise)
    return np.where(flat, on_row, np.where(steep, on_column, diagonal))


def _reached(thin: NDArray[np.bool_], strong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return those of `thin` that touch one of `strong` over others, corners included.

    Pixels in touch are joined as in Shiloach & Vishkin 1982: the rounds are few however long the
    lines are.
    """
    width = thin.shape[1] + 1
    # A column of nothing on the right keeps the ends of rows apart.
    places = np.flatnonzero(np.pad(thin, ((0, 0), (0, 1))))
    roots = np.arange(len(places))
    pairs = np.concatenate([_pairs(places, step) for step in (1, width - 1, width, width + 1)], 1)
    while pairs.size:
        ends = roots[pairs]
        least = ends.min(axis=0)
        np.minimum.at(roots, ends[0], least)
        np.minimum.at(roots, ends[1], least)
        while not np.array_equal(roots, further := roots[roots]):
            roots = further
        pairs = pairs[:, roots[pairs[0]] != roots[pairs[1]]]
    starts = np.pad(strong, ((0, 0), (0, 1))).reshape(-1)[places]
    alive = np.zeros(len(places), np.bool_)
    alive[roots[starts]] = True
    reached = np.zeros(thin.shape[0] * width, np.bool_)
    reached[places] = alive[roots]
    return reached.reshape(-1, width)[:, :-1]


def _pairs(places: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Return the numbers of the places that are `step` apart, [2, pairs]."""
    found = np.searchsorted(places, places + step)
    found[found == len(places)] = 0
    first = np.flatnonzero(places[found] == places + step) if len(places) else places
    return np.stack([first, found[first]])
