"""Shapes filled as OpenCV fills them (`modules/imgproc/src/drawing.cpp`), without smoothing.

Pictures are uint8 [height, width, 3], changed in place; points are (x, y) and may lie outside.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Point = tuple[int, int]
Colour = tuple[int, int, int]

# Places of exact polygons are multiples of 1 / 65536 of a pixel.
_SHIFT = 16
_ONE = 1 << _SHIFT
_HALF = _ONE >> 1
# The width of lines in pixels.
_WIDTH = 2


def fill_circle(image: Pixels, centre: Point, radius: int, colour: Colour) -> None:
    """Fill a circle (`circle` with thickness -1), row by row."""
    x, y = centre
    for row, reach in _rows_of_circle(radius):
        _fill_row(image, y + row, x - reach, x + reach, colour)


def draw_line(image: Pixels, start: Point, end: Point, colour: Colour) -> None:
    """Draw a line of two pixels' width with round ends (`line` with thickness 2).

    The part of it farther outside of the picture than that is cut off, to whole pixels.
    """
    (height, width), far = image.shape[:2], 2 * _WIDTH
    moved = [(x + _WIDTH, y + _WIDTH) for x, y in (start, end)]
    inside = _clipped(moved[0], moved[1], width + far, height + far)
    if inside is None:
        return
    start, end = ((x - _WIDTH, y - _WIDTH) for x, y in inside)
    x0, y0, x1, y1 = (place << _SHIFT for place in (*start, *end))
    dx, dy = float(start[0] - end[0]), float(end[1] - start[1])
    length = dx * dx + dy * dy
    if length:
        scale = _ONE / math.sqrt(length)
        across, along = _rounded(dy * scale), _rounded(dx * scale)
        corners = [
            (x0 + across, y0 + along),
            (x0 - across, y0 - along),
            (x1 - across, y1 - along),
            (x1 + across, y1 + along),
        ]
        _fill(image, corners, colour, _SHIFT)
    for point in (start, end):
        fill_circle(image, point, 1, colour)


def fill_polygon(image: Pixels, points: Sequence[Point], colour: Colour) -> None:
    """Fill a convex polygon with its outline (`fillConvexPoly`)."""
    _fill(image, points, colour, 0)


def ellipse_points(centre: Point, axes: tuple[int, int], angle: int) -> list[Point]:
    """Return the corners of an ellipse, one a degree (`ellipse2Poly` with delta 1).

    `axes` are half lengths in pixels, `angle` is in degrees.
    """
    alpha, beta = _cosine(angle % 360), _sine(angle % 360)
    points: list[Point] = []
    for degree in range(361):
        x, y = axes[0] * _cosine(degree), axes[1] * _sine(degree)
        point = (
            _rounded(centre[0] + x * alpha - y * beta),
            _rounded(centre[1] + x * beta + y * alpha),
        )
        if not points or point != points[-1]:
            points.append(point)
    return [centre, centre] if len(points) == 1 else points


def _fill(image: Pixels, points: Sequence[Point], colour: Colour, shift: int) -> None:
    """Fill a convex polygon of places in 1 / 2^shift of a pixel: its outline, then its rows."""
    scale = _SHIFT - shift
    for (x0, y0), (x1, y1) in zip((points[-1], *points[:-1]), points, strict=True):
        if shift:
            _draw_exact(image, (x0, y0), (x1, y1), colour)
        else:
            _draw_thin(image, (x0, y0), (x1, y1), colour)
    delta = 1 << shift >> 1
    rows = [(y + delta) >> shift for _, y in points]
    last = min(max(rows), image.shape[0] - 1)
    if len(points) < 3:
        return
    first = min(range(len(points)), key=lambda at: points[at][1])
    sides = _Side(points, rows, first, 1, scale), _Side(points, rows, first, -1, scale)
    edges = [len(points)]
    for y in range(rows[first], last + 1):
        for side in sides:
            side.reach(y, edges)
        low, high = sorted(side.x for side in sides)
        if y >= 0:
            _fill_row(image, y, (low + _HALF) >> _SHIFT, (high + _HALF) >> _SHIFT, colour)
        for side in sides:
            side.x += side.step


class _Side:
    """One of the two sides of a polygon on the way down: its place, and its step by row."""

    def __init__(
        self, points: Sequence[Point], rows: Sequence[int], first: int, way: int, scale: int
    ) -> None:
        self._points, self._rows, self._at, self._way = points, rows, first, way
        self._scale, self._until = scale, rows[first]
        self.x, self.step = -_ONE, 0

    def reach(self, y: int, edges: list[int]) -> None:
        """Go on to the edge that is there in row `y`; both sides take from the edges left."""
        if y < self._until:
            return
        before, at = self._at, (self._at + self._way) % len(self._points)
        while edges[0] > 0:
            edges[0] -= 1
            if self._rows[at] > y:
                start, end = (self._points[place][0] << self._scale for place in (before, at))
                height = self._rows[at] - y
                self._until, self._at, self.x = self._rows[at], at, start
                self.step = _quotient((end - start) * 2 + height, 2 * height)
                return
            before, at = at, (at + self._way) % len(self._points)


def _draw_thin(image: Pixels, start: Point, end: Point, colour: Colour) -> None:
    """Draw a line of one pixel's width from left to right (`LineIterator`, 8-connected)."""
    inside = _clipped(start, end, image.shape[1], image.shape[0])
    if inside is None:
        return
    start, end = inside if inside[0][0] <= inside[1][0] else (inside[1], inside[0])
    x, y = start
    wide, high, down = end[0] - x, abs(end[1] - y), 1 if end[1] >= y else -1
    steep = high > wide
    long, short = (high, wide) if steep else (wide, high)
    error = long - 2 * short
    for _ in range(long + 1):
        _fill_row(image, y, x, x, colour)
        both = error < 0
        error += 2 * long - 2 * short if both else -2 * short
        x += 1 if both or not steep else 0
        y += down if both or steep else 0


def _draw_exact(image: Pixels, start: Point, end: Point, colour: Colour) -> None:
    """Draw a line of one pixel's width between places in 1/65536 of a pixel (`Line2`)."""
    inside = _clipped(start, end, image.shape[1] << _SHIFT, image.shape[0] << _SHIFT)
    if inside is None:
        return
    (x0, y0), (x1, y1) = inside
    is_flat = abs(x1 - x0) > abs(y1 - y0)
    if (x0 > x1) if is_flat else (y0 > y1):
        x0, y0, x1, y1 = x1, y1, x0, y0
    dx, dy = x1 - x0, y1 - y0
    _dot(image, (x1 + _HALF) >> _SHIFT, (y1 + _HALF) >> _SHIFT, colour)
    count = (dx if is_flat else dy) >> _SHIFT
    slope = _quotient((dy if is_flat else dx) * _ONE, (abs(dx) if is_flat else abs(dy)) | 1)
    x, y = x0 + _HALF, y0 + _HALF
    for step in range(count + 1):
        if is_flat:
            _dot(image, (x >> _SHIFT) + step, (y + step * slope) >> _SHIFT, colour)
        else:
            _dot(image, (x + step * slope) >> _SHIFT, (y >> _SHIFT) + step, colour)


def _clipped(start: Point, end: Point, width: int, height: int) -> tuple[Point, Point] | None:
    """Return the part of a line that is in a rectangle; None if none is (`clipLine`)."""
    ends, most = [list(start), list(end)], (width - 1, height - 1)
    # Rows first, then columns.
    for along, other in ((1, 0), (0, 1)):
        sides = [-1 if point[along] < 0 else int(point[along] > most[along]) for point in ends]
        if sides[0] == sides[1] != 0 or _beyond(ends, other, most[other]):
            return None
        for point, side in zip(ends, sides, strict=True):
            if side:
                edge = 0 if side < 0 else most[along]
                run, rise = ends[1][along] - ends[0][along], ends[1][other] - ends[0][other]
                point[other] += int(float(edge - point[along]) * rise / run)
                point[along] = edge
    if _beyond(ends, 0, most[0]):
        return None
    return (ends[0][0], ends[0][1]), (ends[1][0], ends[1][1])


def _beyond(ends: Sequence[Sequence[int]], axis: int, most: int) -> bool:
    """Tell whether both ends are on the same side of a rectangle along an axis."""
    low, high = sorted(end[axis] for end in ends)
    return high < 0 or low > most


def _dot(image: Pixels, x: int, y: int, colour: Colour) -> None:
    _fill_row(image, y, x, x, colour)


def _fill_row(image: Pixels, y: int, left: int, right: int, colour: Colour) -> None:
    """Fill pixels of a row from `left` to `right`, as far as they are in the picture."""
    if 0 <= y < image.shape[0] and right >= 0:
        image[y, max(0, left) : right + 1] = colour


@cache
def _rows_of_circle(radius: int) -> tuple[tuple[int, int], ...]:
    """Return the rows of a circle from its centre, and how far each reaches (`Circle`)."""
    rows: dict[int, int] = {}
    error, dx, dy, plus, minus = 0, radius, 0, 1, 2 * radius - 1
    while dx >= dy:
        for row, reach in ((dy, dx), (dx, dy)):
            for offset in (-row, row):
                rows[offset] = max(reach, rows.get(offset, 0))
        dy += 1
        error += plus
        plus += 2
        if error > 0:
            error -= minus
            dx -= 1
            minus -= 2
    return tuple(rows.items())


@cache
def _sine(degree: int) -> float:
    """Return a sine as OpenCV's table has it: seven digits in float32."""
    return float(np.float32(round(math.sin(math.radians(degree)), 7)))


def _cosine(degree: int) -> float:
    return _sine(450 - degree)


def _rounded(number: float) -> int:
    """Return the nearest integer, halves to even (`cvRound`)."""
    return round(number)


def _quotient(number: int, by: int) -> int:
    """Divide as C does: towards zero."""
    return number // by if number >= 0 else -(-number // by)
