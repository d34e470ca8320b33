"""A field for plain text that stays quick, whatever is pasted into it."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMimeData, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit, QWidget

# In a line: Qt lays out a longer one without spaces for seconds.
LONGEST_LINE = 10_000


def _takes_none(text: str) -> bool:
    return False


class TextField(QPlainTextEdit):
    """A field for plain text: it takes dropped and pasted text; the window takes files.

    A pasted text is cut when the field holds `most` characters or a line `LONGEST_LINE`;
    `shortened` is emitted then.
    """

    shortened = Signal()

    def __init__(self, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._most = most
        # Called with a pasted text; returns True if that is not to be inserted.
        self.takes: Callable[[str], bool] = _takes_none

    def event(self, e: QEvent) -> bool:
        """Leave the key that pastes to the window, unless there is text to paste."""
        if e.type() is QEvent.Type.ShortcutOverride and isinstance(e, QKeyEvent):
            pastes = e.matches(QKeySequence.StandardKey.Paste)
            if pastes and not self.canPaste():
                return False
        return super().event(e)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:  # noqa: N802 (Qt's name)
        """Accept text only; a dropped file goes to the window."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802 (Qt's name)
        """Insert a text, or as much of its beginning as the limits allow."""
        text = source.text()
        if self.takes(text):
            return
        fitting = self._fitting(text)
        if fitting:
            self.insertPlainText(fitting)
        if fitting != text:
            self.shortened.emit()

    def _fitting(self, text: str) -> str:
        """Return as much of a text as there is room for in place of the selection."""
        cursor, document = self.textCursor(), self.document()
        first, last = (
            document.findBlock(place) for place in (cursor.selectionStart(), cursor.selectionEnd())
        )
        before = cursor.selectionStart() - first.position()
        after = last.position() + last.length() - 1 - cursor.selectionEnd()
        replaced = cursor.selectionEnd() - cursor.selectionStart()
        room = max(0, self._most - (document.characterCount() - 1 - replaced))
        lines = text[:room].split("\n")
        # What is before the cursor stays in the first line, what is after it in the last.
        rooms = [LONGEST_LINE] * len(lines)
        rooms[0] -= before
        rooms[-1] -= after
        return "\n".join(line[: max(0, most)] for line, most in zip(lines, rooms, strict=True))
