"""Signs that are typed with the keys of shortcuts: by AltGr on Windows, by Option on a Mac.

For Windows and Qt AltGr is Ctrl and Alt: a Polish ś is Ctrl+Alt+S, a German } is Ctrl+Alt+0.
"""

import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

_CTRL, _ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
# What a person holds to type further signs; elsewhere such keys have no modifier for Qt.
_FURTHER = {"win32": _CTRL | _ALT, "darwin": _ALT}.get(sys.platform)


def is_further_sign(event: QKeyEvent) -> bool:
    """Return True for a press that types a sign although it has the modifiers of a shortcut."""
    held = event.modifiers() & (_CTRL | _ALT | Qt.KeyboardModifier.MetaModifier)
    return held == _FURTHER and bool(event.text()) and event.text().isprintable()
