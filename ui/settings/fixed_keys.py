"""The keys that stay as they are: those of every program, and those that move within controls."""

from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeySequence

from ui.key_texts import shown_key

translate = QCoreApplication.translate
_UP_DOWN, _LEFT_RIGHT = "↑ ↓", "← →"
_ARROWS = f"{_LEFT_RIGHT} {_UP_DOWN}"
_Key, _Standard = Qt.Key, QKeySequence.StandardKey


def fixed_keys() -> Iterator[tuple[str, str]]:
    """Return what these keys do, each with its keys in the system's notation."""
    yield translate("Settings", "Paste a picture, a model or settings"), _shown(_Standard.Paste)
    yield translate("Settings", "Go back, or close what is open"), _shown(_Key.Key_Escape)
    yield translate("Settings", "Go to the next control"), _shown(_Key.Key_Tab)
    yield translate("Settings", "Choose or open what is marked"), _shown(_Key.Key_Return)
    yield translate("Settings", "Choose all"), _shown(_Standard.SelectAll)
    yield translate("Settings", "Move among pictures, rows and tools"), _ARROWS
    yield translate("Settings", "Move a picture that is larger than its view"), _ARROWS
    yield translate("Settings", "Move a card by its grip"), _UP_DOWN
    yield translate("Settings", "Move a slider, or the line between two pictures"), _LEFT_RIGHT
    yield translate("Settings", "Put a slider back"), _shown(_Key.Key_Delete)


def _shown(key: Qt.Key | QKeySequence.StandardKey) -> str:
    return shown_key(QKeySequence(key))
