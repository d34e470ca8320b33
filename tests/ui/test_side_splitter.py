"""The form's side is dragged and folded, and the picture keeps its room at every size."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.ui.conftest import Desk, MakeDesk

CONTROL = Qt.KeyboardModifier.ControlModifier


def share(desk: Desk) -> float:
    """The part of the window that the canvas takes."""
    canvas, window = desk.window.canvas, desk.window
    return canvas.width() * canvas.height() / (window.width() * window.height())


@pytest.mark.parametrize(
    ("size", "least"),
    # The last ones are a screen of 3840 by 2160 at 300, 200, 150 and 100 %.
    [
        ((1366, 768), 0.5),
        ((1440, 900), 0.55),
        # A window that fills such a screen, less its title bar.
        ((1440, 881), 0.55),
        ((1280, 720), 0.45),
        ((1920, 1080), 0.6),
        ((2560, 1440), 0.7),
        ((3840, 2160), 0.75),
    ],
)
def test_the_picture_has_its_part_of_the_window(
    desk: Desk, size: tuple[int, int], least: float
) -> None:
    window = desk.window
    window.resize(*size)
    desk.wait(lambda: window.size().toTuple() == size)
    assert share(desk) >= least
    # Also with the side as wide as it can be dragged.
    sides = window.create_page.sides
    sides.moveSplitter(size[0], 1)
    assert share(desk) >= 0.45
    dock = window.dock
    assert dock.geometry().bottom() < size[1]
    for part in (dock.count, dock.seed, dock.generate, dock.cancel, dock.queue, dock.device):
        assert dock.rect().contains(part.geometry()), part
    assert not dock.status.geometry().intersects(dock.generate.geometry())
    assert dock.status.width() >= 120


def test_the_side_folds_by_key_and_by_its_handle(desk: Desk) -> None:
    window = desk.window
    before = share(desk)
    QTest.keyClick(window, Qt.Key.Key_B, CONTROL)
    assert not window.form.isVisible()
    desk.wait(lambda: share(desk) > before)
    button = window.create_page.sides.fold_button
    # The prompt had the focus.
    assert button.hasFocus()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.form.isVisible()
    desk.wait(lambda: share(desk) == pytest.approx(before))


def test_the_key_of_the_prompt_unfolds_it(desk: Desk) -> None:
    desk.window.create_page.sides.fold()
    QTest.keyClick(desk.window, Qt.Key.Key_E, CONTROL)
    assert desk.window.form.prompt.hasFocus()


def test_the_side_is_at_the_next_start_as_it_was_left(make_desk: MakeDesk) -> None:
    desk = make_desk()
    desk.resize(1440, 900)
    sides = desk.window.create_page.sides
    handle = sides.handle(1)
    place = handle.rect().center() - QPoint(0, 200)
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseMove(handle, place + QPoint(60, 0))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=place + QPoint(60, 0))
    width = desk.window.form.width()
    sides.fold()
    desk.end()
    again = make_desk()
    again.window.resize(1440, 900)
    assert not again.window.form.isVisible()
    again.window.create_page.sides.fold()
    assert again.window.form.width() == width > 340
