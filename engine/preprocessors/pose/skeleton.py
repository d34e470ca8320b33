"""Poses drawn as OpenPose's ControlNets know them (`annotator/openpose/util.py`).

Points are float [count, 3] of x, y and a score, in the order of `joints.as_openpose`.
"""

import colorsys
import math
from collections.abc import Iterable, Sequence

import numpy as np

from backends.base import Array
from engine.preprocessors.opencv.drawing import (
    Colour,
    draw_line,
    ellipse_points,
    fill_circle,
    fill_polygon,
)
from engine.preprocessors.pose.joints import is_there
from engine.preprocessors.scales import Pixels

# The parts of a pose, by their points: eyes are added to the face's.
_BODY, _FACE, _LEFT, _RIGHT = slice(0, 18), slice(24, 92), slice(92, 113), slice(113, 134)
_EYES = (14, 15)
_LIMBS = (
    (1, 2), (1, 5), (2, 3), (3, 4), (5, 6), (6, 7), (1, 8), (8, 9), (9, 10), (1, 11), (11, 12),
    (12, 13), (1, 0), (0, 14), (14, 16), (0, 15), (15, 17),
)  # fmt: skip
_COLOURS: tuple[Colour, ...] = (
    (255, 0, 0), (255, 85, 0), (255, 170, 0), (255, 255, 0), (170, 255, 0), (85, 255, 0),
    (0, 255, 0), (0, 255, 85), (0, 255, 170), (0, 255, 255), (0, 170, 255), (0, 85, 255),
    (0, 0, 255), (85, 0, 255), (170, 0, 255), (255, 0, 255), (255, 0, 170), (255, 0, 85),
)  # fmt: skip
_FINGERS = tuple(
    (0 if joint == 0 else finger * 4 + joint, finger * 4 + joint + 1)
    for finger in range(5)
    for joint in range(4)
)
_BLUE, _WHITE = (0, 0, 255), (255, 255, 255)
# Half the width of a limb and its share of the colour; radii of points.
_LIMB, _DIM, _JOINT, _DOT = 4, 0.6, 4, 3
# Points at the edge of the picture, and outside on its upper left, are left out of hands and faces.
_EDGE = 0.01


def draw_pose(
    width: int, height: int, people: Iterable[Array], *, body: bool, hands: bool, face: bool
) -> Pixels:
    """Return people in colours on black, uint8 [height, width, 3]."""
    canvas = np.zeros((height, width, 3), np.uint8)
    for points in people:
        if body:
            _draw_body(canvas, points[_BODY])
        if hands:
            _draw_hand(canvas, points[_LEFT])
            _draw_hand(canvas, points[_RIGHT])
        # A face without points of its own has no eyes either.
        if face and is_there(points[_FACE]).any():
            _draw_face(canvas, np.concatenate([points[_FACE], points[list(_EYES)]]))
    return canvas


def _draw_body(canvas: Pixels, points: Array) -> None:
    there, at = is_there(points), _places(points)
    for (start, end), colour in zip(_LIMBS, _COLOURS, strict=False):
        if there[start] and there[end]:
            (x0, y0), (x1, y1) = at[start], at[end]
            length = ((y0 - y1) ** 2 + (x0 - x1) ** 2) ** 0.5
            angle = math.degrees(math.atan2(y0 - y1, x0 - x1))
            centre = int((x0 + x1) / 2), int((y0 + y1) / 2)
            limb = ellipse_points(centre, (int(length / 2), _LIMB), int(angle))
            red, green, blue = (int(level * _DIM) for level in colour)
            fill_polygon(canvas, limb, (red, green, blue))
    for (x, y), is_one, colour in zip(at, there, _COLOURS, strict=True):
        if is_one:
            fill_circle(canvas, (int(x), int(y)), _JOINT, colour)


def _draw_hand(canvas: Pixels, points: Array) -> None:
    there = is_there(points)
    at = [(int(x), int(y)) for x, y in _places(points)]
    for number, (start, end) in enumerate(_FINGERS):
        if there[start] and there[end] and min(*at[start], *at[end]) > _EDGE:
            draw_line(canvas, at[start], at[end], _hue(number / len(_FINGERS)))
    for place, is_one in zip(at, there, strict=True):
        if is_one and min(place) > _EDGE:
            fill_circle(canvas, place, _JOINT, _BLUE)


def _draw_face(canvas: Pixels, points: Array) -> None:
    for (x, y), is_one in zip(_places(points), is_there(points), strict=True):
        if is_one and min(int(x), int(y)) > _EDGE:
            fill_circle(canvas, (int(x), int(y)), _DOT, _WHITE)


def _places(points: Array) -> Sequence[tuple[float, float]]:
    return [(float(x), float(y)) for x, y, _ in points]


def _hue(number: float) -> Colour:
    """Return a full colour of the wheel, as OpenCV makes levels of numbers."""
    red, green, blue = (round(level * 255) for level in colorsys.hsv_to_rgb(number, 1, 1))
    return red, green, blue
