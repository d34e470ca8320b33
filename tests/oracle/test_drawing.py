"""Shapes beside OpenCV's, at random places in and around pictures."""

# pyright: basic, reportMissingImports=false
# OpenCV is absent from the environment that is type-checked.

import random

import numpy as np
import pytest

from engine.preprocessors.opencv import drawing
from engine.preprocessors.opencv.resizing import resize_linear_levels

pytestmark = pytest.mark.oracle
COLOUR = (1, 2, 3)


@pytest.mark.parametrize("inside", [True, False])
def test_shapes_are_opencvs_to_the_last_pixel(inside: bool) -> None:
    import cv2

    drawn = random.Random(0)
    for _ in range(400):
        height, width = drawn.randrange(20, 200), drawn.randrange(20, 200)

        def point(wide: int = width, high: int = height) -> tuple[int, int]:
            if inside:
                return drawn.randrange(wide), drawn.randrange(high)
            return drawn.randrange(-90, wide + 90), drawn.randrange(-90, high + 90)

        start, end, radius = point(), point(), drawn.choice((1, 3, 4))
        axes, angle = (drawn.randrange(90), 4), drawn.randrange(-180, 181)
        corners = cv2.ellipse2Poly(start, axes, angle, 0, 360, 1)
        assert drawing.ellipse_points(start, axes, angle) == [tuple(corner) for corner in corners]
        theirs, ours = (np.zeros((height, width, 3), np.uint8) for _ in range(2))
        cv2.circle(theirs, start, radius, COLOUR, -1)
        drawing.fill_circle(ours, start, radius, COLOUR)
        assert np.array_equal(ours, theirs)
        cv2.line(theirs, start, end, (4, 5, 6), 2)
        drawing.draw_line(ours, start, end, (4, 5, 6))
        assert np.array_equal(ours, theirs)
        cv2.fillConvexPoly(theirs, corners, (7, 8, 9))
        drawing.fill_polygon(ours, [(int(x), int(y)) for x, y in corners], (7, 8, 9))
        assert np.array_equal(ours, theirs)


def test_linear_levels_are_opencvs_but_for_one_level_in_a_hundred() -> None:
    import cv2

    drawn, levels = random.Random(0), np.random.default_rng(0)
    away = count = 0
    for _ in range(100):
        size = drawn.randrange(1, 120), drawn.randrange(1, 120)
        target = drawn.randrange(1, 150), drawn.randrange(1, 150)
        picture = levels.integers(0, 256, (*size, 3), dtype=np.uint8)
        theirs = cv2.resize(picture, target, interpolation=cv2.INTER_LINEAR).astype(int)
        difference = np.abs(theirs - resize_linear_levels(picture, *target))
        assert difference.max() <= 1
        away, count = away + np.count_nonzero(difference), count + difference.size
    assert away < count / 100
