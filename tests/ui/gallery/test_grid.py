"""The grid by mouse and keys: choosing, sizes, drags, what is spoken."""

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QAccessible, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.gallery.rows import Trouble
from tests.ui.gallery.conftest import PROMPTS, Shown, write_picture
from ui.gallery.grid_layout import INSET
from ui.gallery.grid_view import LEAST_SIDE, MOST_SIDE, SIDE_STEP
from ui.gallery.tile_marks import HEART, mark_place, marks_place
from ui.theme.metrics import M
from ui.widgets.placing import fitted

KEY, NO, CTRL, SHIFT = (
    Qt.Key,
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
LEFT = Qt.MouseButton.LeftButton


def click(shown: Shown, row: int, modifier: Qt.KeyboardModifier = NO) -> None:
    place = shown.grid.visualRect(shown.browser.model.index(row)).center()
    QTest.mouseClick(shown.grid.viewport(), LEFT, modifier, place)


def heading(shown: Shown, section: int) -> QPoint:
    """Return a place on a day's heading, which is in view."""
    return shown.grid.layout_.heading(section).center()


@pytest.fixture
def days(nothing: Shown) -> Shown:
    """Two pictures of today under three of another day."""
    for number, prompt in enumerate(PROMPTS):
        path = nothing.folder / f"{number}.png"
        write_picture(path, prompt)
        if number < 3:
            os.utime(path, (1_000_000_000 + number, 1_000_000_000 + number))
    nothing.session.gallery_index.refresh()
    nothing.wait_for(5)
    return nothing


def told(shown: Shown) -> list[str]:
    return [row.value.toPlainText() for row in shown.page.details.rows]


def test_the_pictures_stand_under_their_day(shown: Shown) -> None:
    assert [section.count for section in shown.browser.model.sections] == [5]
    assert shown.browser.model.sections[0].title == "Today"


def test_tiles_change_sides_with_the_direction_of_the_text(shown: Shown) -> None:
    """Once they stayed until something else laid them out."""
    grid, first = shown.grid, shown.browser.model.index(0)
    left = grid.visualRect(first)
    shown.desk.window.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    assert grid.visualRect(first).center().x() > grid.viewport().width() / 2
    shown.desk.window.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    assert grid.visualRect(first) == left


def test_clicks_choose_one_several_and_a_range(shown: Shown) -> None:
    click(shown, 1)
    assert shown.grid.rows() == [1]
    click(shown, 3, CTRL)
    assert shown.grid.rows() == [1, 3]
    click(shown, 0)
    click(shown, 2, SHIFT)
    assert shown.grid.rows() == [0, 1, 2]


def test_a_rubber_band_chooses_what_it_touches(shown: Shown) -> None:
    view, first = shown.grid.viewport(), shown.grid.visualRect(shown.browser.model.index(0))
    second = shown.grid.visualRect(shown.browser.model.index(1))
    start = QPoint(second.center().x(), first.bottom() + 4)
    # Below all tiles, where no drag of a picture begins.
    start.setY(shown.grid.layout_.height - 4)
    QTest.mousePress(view, LEFT, NO, start)
    QTest.mouseMove(view, start - QPoint(10, 20))
    QTest.mouseMove(view, first.center())
    QTest.mouseRelease(view, LEFT, NO, first.center())
    assert {0, 1} <= set(shown.grid.rows())


def test_a_click_on_a_day_chooses_its_pictures_and_control_adds_or_takes_out(days: Shown) -> None:
    first, second = heading(days, 0), heading(days, 1)
    QTest.mouseClick(days.grid.viewport(), LEFT, NO, first)
    assert days.grid.rows() == [0, 1]
    QTest.mouseClick(days.grid.viewport(), LEFT, NO, second)
    assert days.grid.rows() == [2, 3, 4]
    assert days.browser.current == 2
    QTest.mouseClick(days.grid.viewport(), LEFT, CTRL, first)
    assert days.grid.rows() == [0, 1, 2, 3, 4]
    QTest.mouseClick(days.grid.viewport(), LEFT, CTRL, second)
    assert days.grid.rows() == [0, 1]


def test_a_press_on_a_day_drags_nothing(days: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    dragged: list[object] = []
    monkeypatch.setattr(days.grid, "startDrag", dragged.append)
    click(days, 3)
    view, start = days.grid.viewport(), heading(days, 0)
    QTest.mousePress(view, LEFT, NO, start)
    for step in range(8):
        QTest.mouseMove(view, start + QPoint(8 * step, 12 * step))
    QTest.mouseRelease(view, LEFT, NO, start + QPoint(56, 84))
    assert dragged == []
    assert days.grid.rows() == [0, 1]
    click(days, 3)
    assert days.grid.rows() == [3]


def test_a_heading_that_is_pointed_at_is_lit_until_the_pointer_leaves(days: Shown) -> None:
    view, place = days.grid.viewport(), heading(days, 1)
    before = view.grab().toImage().pixelColor(place)
    QTest.mouseMove(view, place)
    assert view.cursor().shape() is Qt.CursorShape.PointingHandCursor
    assert view.grab().toImage().pixelColor(place) != before
    QApplication.sendEvent(view, QEvent(QEvent.Type.Leave))
    assert view.grab().toImage().pixelColor(place) == before


def test_the_first_picture_begins_where_its_heading_does(shown: Shown) -> None:
    tile = shown.grid.visualRect(shown.browser.model.index(0))
    assert tile.left() + INSET == M


def test_a_scroll_bar_is_seen_only_where_there_is_something_to_scroll(shown: Shown) -> None:
    bar = shown.grid.verticalScrollBar()
    shown.grid.use_side(LEAST_SIDE)
    assert bar.maximum() == 0
    picture = bar.grab().toImage()
    assert len({picture.pixel(5, y) for y in range(picture.height())}) == 1
    shown.grid.use_side(MOST_SIDE)
    assert bar.maximum() > 0
    picture = bar.grab().toImage()
    assert len({picture.pixel(5, y) for y in range(picture.height())}) > 1


def test_keys_move_choose_all_and_extend(shown: Shown) -> None:
    shown.grid.choose(0)
    QTest.keyClick(shown.grid, KEY.Key_Right)
    assert shown.grid.rows() == [1]
    QTest.keyClick(shown.grid, KEY.Key_Right, SHIFT)
    assert shown.grid.rows() == [1, 2]
    QTest.keyClick(shown.grid, KEY.Key_A, CTRL)
    assert shown.grid.rows() == [0, 1, 2, 3, 4]
    QTest.keyClick(shown.grid, KEY.Key_End)
    assert shown.grid.rows() == [4]


def test_a_key_chooses_the_tile_that_has_the_focus_already(shown: Shown) -> None:
    # As the grid is after Ctrl+2: the first tile has the focus ring, none is chosen.
    model = shown.grid.selectionModel()
    shown.grid.clearSelection()
    model.setCurrentIndex(shown.browser.model.index(0), model.SelectionFlag.NoUpdate)
    assert shown.grid.rows() == []
    QTest.keyClick(shown.grid, KEY.Key_Home)
    assert shown.grid.rows() == [0]


def test_control_and_the_wheel_change_the_size_of_tiles(shown: Shown) -> None:
    side = shown.grid.side
    place = QPointF(60, 80)
    event = QWheelEvent(
        place,
        shown.grid.viewport().mapToGlobal(place),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        CTRL,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(shown.grid.viewport(), event)
    assert shown.grid.side == side + SIDE_STEP
    assert shown.session.gallery_habits.habits.side == side + SIDE_STEP
    assert shown.page.foot.side.value() == side + SIDE_STEP


def test_dragged_pictures_are_files(shown: Shown) -> None:
    shown.choose("a red house", "a green tree")
    data = shown.browser.model.mimeData(shown.grid.selectedIndexes())
    assert {Path(url.toLocalFile()).name for url in data.urls()} == {"0.png", "2.png"}


def test_a_picture_speaks_prompt_model_date_and_marks(shown: Shown) -> None:
    shown.choose("a red house")
    QTest.keyClick(shown.grid, KEY.Key_4)
    QTest.keyClick(shown.grid, KEY.Key_P)
    index = shown.browser.model.index(shown.number("a red house"))
    words = index.data(Qt.ItemDataRole.AccessibleTextRole)
    for part in ("a red house", "dreamer", "4 stars", "favourite", "AUTOMATIC1111"):
        assert part in words
    view = QAccessible.queryAccessibleInterface(shown.grid)
    names = [view.child(at).text(QAccessible.Text.Name) for at in range(view.childCount())]
    assert words in names


def test_a_broken_file_is_a_tile_that_says_why(nothing: Shown) -> None:
    (nothing.folder / "page.png").write_text("<html>")
    nothing.session.gallery_index.refresh()
    nothing.wait_for(1)
    row = nothing.browser.model.row(0)
    assert row is not None
    assert row.trouble is Trouble.OTHER_FORMAT
    words = nothing.browser.model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "It is no PNG, JPEG or WebP." in words
    nothing.grid.choose(0)
    nothing.desk.wait(lambda: "It is no PNG, JPEG or WebP." in told(nothing))


def test_text_of_a_picture_is_no_markup(nothing: Shown) -> None:
    write_picture(nothing.folder / "x.png", "<b>bold</b> & <img src='http://192.0.2.1/x.png'>")
    nothing.session.gallery_index.refresh()
    nothing.wait_for(1)
    tooltip = nothing.browser.model.index(0).data(Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b&gt;bold" in tooltip
    assert "<img" not in tooltip
    nothing.grid.choose(0)
    nothing.desk.wait(lambda: any(text.startswith("<b>bold</b>") for text in told(nothing)))


def test_the_choice_stays_when_a_picture_comes(shown: Shown) -> None:
    shown.choose("a blue boat", "a green tree")
    write_picture(shown.folder / "new.png", "a purple flower")
    shown.session.gallery_index.refresh()
    shown.wait_for(6)
    rows = shown.grid.rows()
    assert {shown.prompts()[row] for row in rows} == {"a blue boat", "a green tree"}


def mark_spot(shown: Shown, row: int, mark: int) -> QPoint:
    """Return a place on one of the marks that a tile offers; its picture is wider than high."""
    tile = shown.grid.visualRect(shown.browser.model.index(row))
    room = tile.adjusted(INSET, INSET, -INSET, -INSET)
    mirrored = shown.grid.isRightToLeft()
    marks = marks_place(fitted(QSize(64, 48), room), room, mirrored=mirrored)
    return mark_place(marks, mark, mirrored=mirrored).center()


def marks_of(shown: Shown, row: int) -> tuple[bool, int]:
    marked = shown.session.gallery_index.rows([shown.browser.model.ids[row]])[0]
    return marked.favourite, marked.rating


def test_marks_under_the_pointer_are_given_and_taken_by_a_click(shown: Shown) -> None:
    """Marks of the picture under the pointer alone; the choice stays as it was."""
    click(shown, 0)
    for mark, expected in ((3, (False, 3)), (HEART, (True, 3)), (3, (True, 0))):
        QTest.mouseClick(shown.grid.viewport(), LEFT, NO, mark_spot(shown, 2, mark))
        assert marks_of(shown, 2) == expected
    assert shown.grid.rows() == [0]
    assert marks_of(shown, 0) == (False, 0)


def test_two_quick_clicks_on_a_star_open_no_picture(shown: Shown) -> None:
    opened: list[bool] = []
    shown.grid.opened.connect(lambda: opened.append(True))
    spot = mark_spot(shown, 1, 4)
    QTest.mouseClick(shown.grid.viewport(), LEFT, NO, spot)
    QTest.mouseDClick(shown.grid.viewport(), LEFT, NO, spot)
    assert not opened
    above = spot - QPoint(0, 60)
    QTest.mouseClick(shown.grid.viewport(), LEFT, NO, above)
    QTest.mouseDClick(shown.grid.viewport(), LEFT, NO, above)
    assert opened


def test_a_click_with_ctrl_chooses_where_marks_are(shown: Shown) -> None:
    click(shown, 0)
    QTest.mouseClick(shown.grid.viewport(), LEFT, CTRL, mark_spot(shown, 2, 3))
    assert shown.grid.rows() == [0, 2]
    assert marks_of(shown, 2) == (False, 0)


def test_marks_begin_at_the_right_where_text_does(shown: Shown) -> None:
    shown.desk.window.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    tile = shown.grid.visualRect(shown.browser.model.index(1))
    assert mark_spot(shown, 1, HEART).x() > tile.center().x()
    QTest.mouseClick(shown.grid.viewport(), LEFT, NO, mark_spot(shown, 1, 2))
    assert marks_of(shown, 1) == (False, 2)
