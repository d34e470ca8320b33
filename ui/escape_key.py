"""The key Esc, which leads back where there is a way back, and else cancels a picture."""

from PySide6.QtCore import QEvent, QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent


def is_escape_wanted(event: QEvent) -> bool:
    """Return True for a question whether a widget takes the key Esc before a shortcut does."""
    if event.type() is not QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    return event.keyCombination() == QKeyCombination(Qt.Key.Key_Escape)
