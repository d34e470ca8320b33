"""The view of a picture: what the wheel, the mouse and the keys do, and what is drawn."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ui.picture_levels import make_levels
from ui.theme.theme import Theme
from ui.widgets.viewport import ViewPoint
from ui.widgets.zoom_view import ZoomView

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier
SIDE = 1000


def two_coloured(side: int = SIDE) -> QImage:
    """Red on the left, blue on the right."""
    image = QImage(side, side, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    with QPainter(image) as painter:
        painter.fillRect(side // 2, 0, side, side, QColor("blue"))
    return image


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> ZoomView:
    made = ZoomView(theme, margin=0)
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    made.show_picture(make_levels(two_coloured()), QSize(SIDE, SIDE))
    return made


def turn(view: ZoomView, notches: int, at: QPointF, held: Qt.KeyboardModifier = NONE) -> None:
    event = QWheelEvent(
        at,
        view.mapToGlobal(at),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        held,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)


def test_the_wheel_zooms_at_the_pointer(view: ZoomView) -> None:
    place = QPointF(200, 100)
    before = view.to_picture(place)
    turn(view, 4, place)
    assert view.scale == pytest.approx(0.4 * 1.25**4)
    after = view.to_picture(place)
    assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()), abs=3)
    turn(view, -9, place)
    assert view.is_fitted


def test_a_double_click_shows_100_percent_there_and_then_all(view: ZoomView) -> None:
    QTest.mouseDClick(view, LEFT, pos=QPoint(150, 150))
    assert view.scale == 1
    QTest.mouseDClick(view, LEFT, pos=QPoint(150, 150))
    assert view.is_fitted


@pytest.mark.parametrize("button", [LEFT, Qt.MouseButton.MiddleButton])
def test_dragging_pans(view: ZoomView, button: Qt.MouseButton) -> None:
    view.show_actual_size()
    before = view.target.topLeft()
    QTest.mousePress(view, button, pos=QPoint(200, 200))
    QTest.mouseMove(view, QPoint(230, 180))
    QTest.mouseRelease(view, button, pos=QPoint(230, 180))
    assert view.target.topLeft() - before == QPointF(30, -20)
    QTest.mouseMove(view, QPoint(10, 10))
    assert view.target.topLeft() - before == QPointF(30, -20)


def test_keys_zoom_and_pan(view: ZoomView) -> None:
    for _ in range(3):
        QTest.keyClick(view, Qt.Key.Key_Plus)
    assert view.scale == 1
    before = view.target.left()
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.target.left() < before
    QTest.keyClick(view, Qt.Key.Key_Minus)
    assert view.scale < 1


def test_views_follow_each_other_without_an_echo(
    view: ZoomView, qtbot: QtBot, theme: Theme
) -> None:
    other = ZoomView(theme, margin=0)
    qtbot.addWidget(other)
    other.resize(500, 400)
    other.show_picture(make_levels(two_coloured(600)), QSize(600, 600))
    told: list[ViewPoint] = []
    other.view_changed.connect(told.append)
    view.view_changed.connect(other.go_to)
    turn(view, 5, QPointF(100, 100))
    assert other.point == view.point
    assert told == []


def test_at_100_percent_a_pixel_of_the_picture_is_one_of_the_screen(view: ZoomView) -> None:
    view.show_actual_size()
    drawn = view.grab().toImage()
    assert drawn.pixelColor(249, 200) == QColor("red")
    assert drawn.pixelColor(250, 200) == QColor("blue")


def test_a_small_preview_takes_the_place_of_the_whole_picture(view: ZoomView) -> None:
    view.show_actual_size()
    view.show_picture(make_levels(two_coloured(50)), QSize(SIDE, SIDE))
    assert view.scale == 1
    assert view.target.width() == SIDE


def test_levels_end_at_a_small_picture_and_keep_transparency() -> None:
    levels = make_levels(QImage(1000, 30, QImage.Format.Format_ARGB32))
    assert [level.width() for level in levels.images] == [1000, 500, 250]
    assert all(level.hasAlphaChannel() for level in levels.images)
    assert levels.for_width(400).width() == 500
    assert levels.for_width(4000).width() == 1000


def test_a_fitted_picture_is_taken_by_the_mouse_and_a_zoomed_one_is_panned(view: ZoomView) -> None:
    taken: list[QPixmap] = []
    view.taken.connect(taken.append)
    middle = view.rect().center()
    QTest.mousePress(view, LEFT, NONE, middle)
    QTest.mouseMove(view, middle + QPoint(2, 0))
    assert not taken
    QTest.mouseMove(view, middle + QPoint(40, 0))
    assert [pixmap.isNull() for pixmap in taken] == [False]
    QTest.mouseMove(view, middle + QPoint(80, 0))
    QTest.mouseRelease(view, LEFT, NONE, middle)
    assert len(taken) == 1
    view.show_actual_size()
    QTest.mousePress(view, LEFT, NONE, middle)
    QTest.mouseMove(view, middle + QPoint(40, 0))
    QTest.mouseRelease(view, LEFT, NONE, middle)
    assert len(taken) == 1


def test_an_empty_sheet_and_what_is_beside_a_picture_are_not_taken(view: ZoomView) -> None:
    taken: list[QPixmap] = []
    view.taken.connect(taken.append)
    for place in (QPoint(2, 200), view.rect().center()):
        QTest.mousePress(view, LEFT, NONE, place)
        QTest.mouseMove(view, place + QPoint(40, 0))
        QTest.mouseRelease(view, LEFT, NONE, place)
        view.show_sheet(QSize(SIDE, SIDE))
    assert not taken
