"""A change of look reaches every widget of every page, a slice at a time."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.conftest import Desk
from ui.places import Place
from ui.settings.page import SettingsPage
from ui.slices import Slices
from ui.theme.colours import CONTRAST, DARK, LIGHT, Colours
from ui.theme.restyling import restyle
from ui.theme.theme import Theme
from ui.widgets.labels import plain_label


def has_colours(label: QLabel, colours: Colours) -> bool:
    return label.palette().windowText().color() == QColor(colours.muted)


@pytest.fixture
def dressed(theme: Theme) -> Iterator[QWidget]:
    """A dressed window with three captions; the last two were shown and hidden again."""
    window = QWidget()
    column = QVBoxLayout(window)
    # A least size of a window is no matter of the platform that draws off the screen.
    column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
    for _ in range(3):
        column.addWidget(plain_label("Words", "caption"))
    theme.dress(window)
    window.show()
    for label in captions(window)[1:]:
        label.hide()
    yield window
    if shiboken6.isValid(window):
        shiboken6.delete(window)


def captions(window: QWidget) -> list[QLabel]:
    return window.findChildren(QLabel)


def of_every_page(desk: Desk) -> list[QImage]:
    pictures: list[QImage] = []
    for place in Place:
        desk.window.places.open(place)
        for page in desk.window.findChildren(SettingsPage):
            page.complete()
        desk.window.setFocus()
        pictures.append(desk.window.grab().toImage())
    return pictures


def style_anew(window: QWidget, sheet: str) -> None:
    # Another text, so that Qt works it out for every widget.
    window.setStyleSheet(f"{sheet}/* again */")


@pytest.mark.parametrize("colours", [LIGHT, CONTRAST], ids=["light", "contrast"])
def test_every_page_looks_as_if_it_was_styled_from_the_start(
    desk: Desk, theme: Theme, qtbot: QtBot, colours: Colours
) -> None:
    theme.reduce_motion(reduced=True)
    desk.unfold()
    before = of_every_page(desk)
    dialog = desk.window.windows.show_devices()
    # Laid out, and done with what it asks for when it is shown.
    qtbot.wait(50)
    theme.use_colours(colours)
    theme.finish()
    after, of_dialog = of_every_page(desk), dialog.grab().toImage()
    style_anew(desk.window, theme.sheet)
    assert of_every_page(desk) == after
    assert dialog.grab().toImage() == of_dialog
    assert all(old != new for old, new in zip(before, after, strict=True))


def test_a_window_keeps_its_picture_until_all_in_sight_is_restyled(
    theme: Theme, dressed: QWidget
) -> None:
    seen, _, hidden = captions(dressed)
    theme.use_colours(LIGHT)
    assert not dressed.updatesEnabled()
    assert has_colours(seen, DARK)
    for _ in restyle([dressed]):
        if dressed.updatesEnabled():
            break
    assert has_colours(seen, LIGHT)
    assert has_colours(hidden, DARK)
    theme.finish()
    assert has_colours(hidden, LIGHT)


def test_one_step_restyles_one_widget(theme: Theme, dressed: QWidget) -> None:
    theme.use_colours(LIGHT)
    work, changed = restyle([dressed]), list[int]()
    for _ in work:
        changed.append(sum(has_colours(caption, LIGHT) for caption in captions(dressed)))
    assert changed[0] == 0
    assert changed[-1] == 3
    assert all(late - early <= 1 for early, late in pairwise(changed))


def test_a_look_that_changes_again_meanwhile_wins(theme: Theme, dressed: QWidget) -> None:
    theme.use_colours(LIGHT)
    theme.use_colours(CONTRAST)
    # The restyling of the first would show the window before that of the second has ended.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert len(theme.findChildren(Slices)) == 1
    theme.finish()
    assert dressed.updatesEnabled()
    assert all(has_colours(caption, CONTRAST) for caption in captions(dressed))


def test_widgets_may_go_while_the_look_changes(theme: Theme, dressed: QWidget) -> None:
    seen, _, hidden = captions(dressed)
    theme.use_colours(LIGHT)
    for _ in restyle([dressed]):
        if shiboken6.isValid(hidden):
            shiboken6.delete(hidden)
    assert has_colours(seen, LIGHT)
    shiboken6.delete(dressed)
    theme.finish()


def test_widgets_made_after_a_change_of_look_have_the_new_colours(
    theme: Theme, dressed: QWidget
) -> None:
    theme.use_colours(LIGHT)
    theme.finish()
    late = plain_label("Words", "caption")
    layout = dressed.layout()
    assert layout is not None
    layout.addWidget(late)
    late.show()
    assert has_colours(late, LIGHT)
