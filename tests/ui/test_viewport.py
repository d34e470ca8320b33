"""The geometry of zooming: what stays where it is, and how far one gets."""

import pytest
from PySide6.QtCore import QPointF, QSize

from ui.widgets.viewport import ViewPoint, Viewport


def viewport(
    picture: tuple[int, int], view: tuple[int, int] = (1000, 800), ratio: float = 1
) -> Viewport:
    made = Viewport(0)
    made.resize(QSize(*view), ratio)
    made.take_picture(QSize(*picture))
    return made


@pytest.mark.parametrize(
    ("picture", "ratio", "scale"),
    [((2000, 800), 1, 0.5), ((256, 256), 1, 2), ((256, 256), 2, 4), ((2000, 800), 2, 1)],
)
def test_a_picture_is_fitted_and_a_small_one_at_most_doubled(
    picture: tuple[int, int], ratio: float, scale: float
) -> None:
    shown = viewport(picture, ratio=ratio)
    assert shown.is_fitted
    assert shown.scale == scale
    assert shown.target.center().x() == pytest.approx(500 * ratio, abs=1)


def test_the_point_under_the_pointer_stays_there_while_zooming() -> None:
    shown = viewport((2000, 1600))
    place = QPointF(700, 300)
    before = shown.to_picture(place)
    for scale in (1.0, 3.0, 0.9):
        shown.zoom_to(scale, place)
        after = shown.to_picture(place)
        assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()), abs=2)


def test_zooming_out_ends_at_the_fitted_picture_and_in_at_32_pixels() -> None:
    shown = viewport((2000, 1600))
    shown.zoom_to(5)
    shown.zoom_to(0.01)
    assert shown.is_fitted
    shown.zoom_to(1000)
    assert shown.scale == 32


def test_steps_pass_100_percent_and_the_fitted_picture() -> None:
    shown = viewport((2000, 1600))
    seen = [shown.scale]
    for _ in range(4):
        shown.zoom_to(shown.next_scale(larger=True))
        seen.append(shown.scale)
    assert seen == pytest.approx([0.5, 2 / 3, 1, 1.5, 2])
    for _ in range(4):
        shown.zoom_to(shown.next_scale(larger=False))
    assert shown.is_fitted


def test_panning_leaves_no_gap_beside_a_large_picture() -> None:
    shown = viewport((2000, 1600))
    shown.zoom_to(1)
    shown.pan(QPointF(9999, -9999))
    assert shown.target.left() == 0
    assert shown.target.bottom() == 800


def test_a_side_that_fits_stays_in_the_middle() -> None:
    shown = viewport((4000, 100))
    shown.zoom_to(1)
    shown.pan(QPointF(50, 50))
    assert shown.target.center().y() == pytest.approx(400, abs=1)


def test_the_scale_by_hand_outlives_resizing_and_pictures_of_the_same_size() -> None:
    shown = viewport((2000, 1600))
    shown.zoom_to(1)
    shown.resize(QSize(500, 500), 1)
    shown.take_picture(QSize(2000, 1600))
    assert shown.scale == 1
    shown.resize(QSize(500, 500), 2)
    assert shown.scale == 2
    shown.take_picture(QSize(20, 20))
    assert shown.is_fitted


def test_two_pictures_of_other_sizes_show_the_same_part() -> None:
    large, small = viewport((2000, 1600)), viewport((1000, 800), view=(500, 400))
    large.zoom_to(2, QPointF(900, 100))
    small.go_to(large.point)
    assert small.point == large.point
    small.go_to(ViewPoint())
    assert small.is_fitted
