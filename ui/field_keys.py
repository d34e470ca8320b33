"""Keys that fields of text and the window both want.

On X11 fields of one line edit as in Emacs: Ctrl+E goes to the end of a line, and Ctrl+U deletes it.
"""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from ui.typed_signs import is_further_sign

_KEYS = (QKeySequence.StandardKey.MoveToEndOfLine, QKeySequence.StandardKey.DeleteCompleteLine)
_OF_ONE_LINE = (QLineEdit, QAbstractSpinBox)
_FIELDS = (*_OF_ONE_LINE, QPlainTextEdit)


class FieldKeys(QObject):
    """Offers keys of a line to the window's actions first; a key that none has still edits.

    A press that types a sign is the field's, whatever shortcut has the same keys.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Have a field claim no key that edits a whole line or is bound on it; each that types."""
        if event.type() is not QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        if is_further_sign(event):
            event.accept()
            return True
        is_ours = isinstance(watched, _OF_ONE_LINE) and any(event.matches(key) for key in _KEYS)
        is_ours = is_ours or _is_bound(watched, QKeySequence(event.keyCombination()))
        if is_ours:
            event.ignore()
        return is_ours

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        if isinstance(before, _FIELDS):
            before.removeEventFilter(self)
        if isinstance(now, _FIELDS):
            now.installEventFilter(self)


def _is_bound(field: QObject, key: QKeySequence) -> bool:
    """Return True for a key that does something of ours in this field."""
    bound = field.actions() if isinstance(field, QWidget) else []
    return any(key in action.shortcuts() for action in bound)
