"""The key Enter on a button that has the focus: it presses the button, as Space does.

GNOME and KDE do so, and Windows in its dialogs; Qt leaves it to the desktop.
"""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QCheckBox, QWidget

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class EnterKey(QObject):
    """Presses the button with the focus by Enter; boxes to tick leave Enter to their dialog."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Press the button; a key that is held down presses it once."""
        if event.type() is not QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() not in _ENTER or held != Qt.KeyboardModifier.NoModifier:
            return False
        if isinstance(watched, QAbstractButton) and not event.isAutoRepeat():
            watched.click()
        return True

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        # Handlers of all events would be called for each; only one button has the focus.
        if isinstance(before, QAbstractButton):
            before.removeEventFilter(self)
        if isinstance(now, QAbstractButton) and not _is_chosen(now):
            now.installEventFilter(self)


def _is_chosen(button: QAbstractButton) -> bool:
    """Return True for a button that says a choice rather than does something."""
    group = button.group()
    # A button may be in no group.
    return isinstance(button, QCheckBox) or (bool(group) and group.exclusive())
