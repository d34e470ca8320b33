"""Keys of the window that fields of one line would take: on X11 they edit as in Emacs.

There Ctrl+E goes to the end of a line, and Ctrl+U deletes it.
"""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QWidget

_KEYS = (QKeySequence.StandardKey.MoveToEndOfLine, QKeySequence.StandardKey.DeleteCompleteLine)
_FIELDS = (QLineEdit, QAbstractSpinBox)


class FieldKeys(QObject):
    """Offers these keys to the window's actions first; a key that none has still edits."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Have a field claim no key that edits a whole line."""
        if event.type() is not QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        is_ours = any(event.matches(key) for key in _KEYS)
        if is_ours:
            event.ignore()
        return is_ours

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        if isinstance(before, _FIELDS):
            before.removeEventFilter(self)
        if isinstance(now, _FIELDS):
            now.installEventFilter(self)
