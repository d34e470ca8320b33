"""The picture keeps its part of the window, whatever stands around it."""

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest

from tests.ui.conftest import Desk, MakeDesk
from tests.ui.test_info_panel import picture
from ui.actions import ActionName

CONTROL = Qt.KeyboardModifier.ControlModifier
NARROW, WIDE = (1440, 900), (1920, 1080)
# Windows, and the picture's least part with nothing opened beside the form.
SIZES = (
    ((1280, 720), 0.45),
    ((1366, 768), 0.5),
    (NARROW, 0.55),
    (WIDE, 0.6),
    ((3840, 2160), 0.75),
)


def share(desk: Desk) -> float:
    """The part of the window that pictures take, without the pane that tells of them."""
    room, window = desk.window.canvas.pictures, desk.window
    return room.width() * room.height() / (window.width() * window.height())


def resize(desk: Desk, size: tuple[int, int]) -> None:
    desk.resize(*size)
    desk.wait(lambda: desk.window.size().toTuple() == size)
    settle()


def settle() -> None:
    """Let layouts act, and what they change."""
    for _ in range(20):
        QCoreApplication.processEvents()


def press(desk: Desk, action: ActionName) -> None:
    desk.window.actions_by_name[action].trigger()
    settle()


@pytest.mark.parametrize(("size", "least"), SIZES)
def test_the_picture_has_its_part_in_each_state(
    desk: Desk, tmp_path: Path, size: tuple[int, int], least: float
) -> None:
    window = desk.window
    desk.session.view.choose(picture(tmp_path / "a.png", "a red house"))
    desk.wait(lambda: window.info.title.text() == "a red house")
    resize(desk, size)
    assert window.strip.isVisible()
    plain = share(desk)
    assert plain >= least
    press(desk, ActionName.DETAILS)
    assert window.canvas.details.isVisible()
    assert share(desk) >= 0.45
    # The drawer lies over the page.
    press(desk, ActionName.QUEUE)
    assert window.queue.isVisible()
    assert share(desk) >= 0.45
    press(desk, ActionName.QUEUE)
    window.create_page.sides.moveSplitter(size[0], 1)
    settle()
    assert share(desk) >= 0.45
    press(desk, ActionName.DETAILS)
    window.create_page.sides.moveSplitter(size[0], 1)
    settle()
    assert window.form.width() > window.form.needed_width()
    assert share(desk) >= 0.45


def test_details_take_the_forms_place_in_a_narrow_window_and_leave_the_picture_as_it_is(
    desk: Desk,
) -> None:
    window = desk.window
    resize(desk, NARROW)
    before = window.canvas.pictures.size()
    window.form.negative.setFocus()
    press(desk, ActionName.DETAILS)
    pane = window.canvas.details
    assert pane.isVisible()
    assert not window.form.isVisible()
    assert window.create_page.sides.side.isAncestorOf(pane)
    assert window.canvas.pictures.size() == before
    assert pane.back.hasFocus()
    pane.back.click()
    settle()
    assert window.form.isVisible()
    assert not pane.isVisible()
    assert not window.info.details.isChecked()
    assert window.form.negative.hasFocus()


def test_details_stand_beside_the_form_in_a_wide_window(desk: Desk) -> None:
    window = desk.window
    resize(desk, NARROW)
    press(desk, ActionName.DETAILS)
    resize(desk, WIDE)
    assert window.form.isVisible()
    assert window.canvas.isAncestorOf(window.canvas.details)
    assert window.canvas.details.isVisible()
    assert not window.canvas.details.back.isVisible()
    resize(desk, NARROW)
    assert window.canvas.details.isVisible()
    assert not window.form.isVisible()


def test_whatever_leads_to_the_form_brings_it_back(desk: Desk) -> None:
    window = desk.window
    resize(desk, NARROW)
    for action in (ActionName.EDIT_PROMPT, ActionName.USE_SETTINGS):
        press(desk, ActionName.DETAILS)
        assert not window.form.isVisible()
        window.actions_by_name[action].setEnabled(True)
        press(desk, action)
        assert window.form.isVisible()
        assert not window.canvas.details.isVisible()
    press(desk, ActionName.EDIT_PROMPT)
    assert window.form.prompt.hasFocus()


def test_a_side_is_folded_with_the_details_that_are_in_it(desk: Desk) -> None:
    window = desk.window
    resize(desk, NARROW)
    press(desk, ActionName.DETAILS)
    QTest.keyClick(window, Qt.Key.Key_B, CONTROL)
    assert not window.canvas.details.isVisible()
    assert not window.form.isVisible()
    # Beside a folded side there is room for them.
    press(desk, ActionName.DETAILS)
    assert window.canvas.isAncestorOf(window.canvas.details)
    assert window.canvas.details.isVisible()
    assert share(desk) >= 0.55
    QTest.keyClick(window, Qt.Key.Key_B, CONTROL)
    assert window.form.isVisible()
    assert not window.canvas.details.isVisible()


def test_a_dragged_side_comes_back_as_wide_as_it_was(desk: Desk) -> None:
    sides = desk.window.create_page.sides
    resize(desk, WIDE)
    sides.moveSplitter(WIDE[0], 1)
    width = sides.side.width()
    press(desk, ActionName.DETAILS)
    assert sides.side.width() < width
    press(desk, ActionName.DETAILS)
    assert sides.side.width() == width


def test_details_are_at_the_next_start_as_they_were_left(make_desk: MakeDesk) -> None:
    desk = make_desk()
    resize(desk, NARROW)
    press(desk, ActionName.DETAILS)
    desk.end()
    again = make_desk()
    resize(again, NARROW)
    assert again.window.canvas.details.back.hasFocus()
    assert not again.window.form.isVisible()
    assert again.window.info.details.isChecked()
    resize(again, WIDE)
    assert again.window.form.isVisible()
