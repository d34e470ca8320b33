"""Signs that are typed with AltGr or Option are typed, whatever shortcut has the same keys."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

from tests.ui.conftest import Desk
from ui import typed_signs

# The display of tests says so of lists that open.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
NONE = Qt.KeyboardModifier.NoModifier
# A field of several lines, and one of a line.
FIELDS: dict[str, Callable[[Desk], QWidget]] = {
    "prompt": lambda desk: desk.window.form.prompt,
    "seed": lambda desk: desk.window.dock.seed.number,
}


def is_claimed(field: QWidget, key: Qt.Key, held: Qt.KeyboardModifier, text: str) -> bool:
    """Return True if a field takes a key before the window's actions do."""
    event = QKeyEvent(QEvent.Type.ShortcutOverride, key, held, text)
    event.ignore()
    QApplication.sendEvent(field, event)
    return event.isAccepted()


@pytest.mark.parametrize("field", FIELDS)
def test_a_sign_of_altgr_is_typed_and_no_shortcut(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    monkeypatch.setattr(typed_signs, "_FURTHER", CTRL | ALT)
    widget = FIELDS[field](desk)
    widget.setFocus()
    # On a German keyboard AltGr+0, which is also the key to show a picture at 100 %.
    assert is_claimed(widget, Qt.Key.Key_0, CTRL | ALT, "}")
    # Where these keys type nothing they are the shortcut.
    assert not is_claimed(widget, Qt.Key.Key_0, CTRL | ALT, "")
    assert not is_claimed(widget, Qt.Key.Key_S, CTRL | ALT, "\x13")
    assert not is_claimed(widget, Qt.Key.Key_L, ALT, "l")


def test_a_list_is_searched_with_signs_of_option(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed_signs, "_FURTHER", ALT)
    box = desk.window.form.advanced.rows.method.sampler
    box.showPopup()
    popup = box.popup
    assert popup is not None
    desk.wait(popup.isVisible)
    for target, text in ((popup.list, "e"), (popup.search, "\u015b")):
        held = ALT if text == "\u015b" else NONE
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(target, QKeyEvent(kind, Qt.Key.Key_S, held, text))
    assert popup.isVisible()
    assert popup.search.text() == "e\u015b"
    closing = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Up, ALT, "")
    QApplication.sendEvent(popup.search, closing)
    assert not popup.isVisible()
