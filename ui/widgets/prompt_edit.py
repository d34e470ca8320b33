"""A field for a prompt: plain text, undo, Tab leaves it."""

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from ui.theme.metrics import XS, M
from ui.theme.theme import Theme

_WAVE = QTextCharFormat.UnderlineStyle.WaveUnderline
# What Qt keeps apart and gives back as one.
_AS_READ = {ord("\r"): "\n", 0x2028: "\n", 0x2029: "\n", 0xA0: " "}


class PromptEdit(QPlainTextEdit):
    """Text dropped or pasted is plain; files dropped on it are the window's.

    Pasting ends at so many characters in all, beyond which each key would take its time;
    `shortened` tells that there were more.
    """

    shortened = Signal()

    def __init__(self, theme: Theme, lines: int, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._most = most
        # The place from which the text is dimmed, and the places that are underlined.
        self._dimmed: int | None = None
        self._lined: tuple[tuple[int, int], ...] = ()
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * lines + M + XS)
        theme.changed.connect(self._draw_marks)

    def mark(self, text: str, cut_at: int | None, spots: Sequence[tuple[int, int]]) -> None:
        """Dim what has no effect and underline spots, given by character and length.

        `text` is what the field holds, or its beginning. Where it does not any more nothing
        happens: what is typed moves the marks along.
        """
        if not self._begins_with(text):
            return
        self._dimmed = None if cut_at is None else _place(text, cut_at)
        self._lined = tuple((_place(text, at), _place(text, at + length)) for at, length in spots)
        self._draw_marks()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:  # noqa: N802 (Qt's name)
        """Text only; a file dropped here goes to the window."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802 (Qt's name)
        """Insert a text, or as much of its beginning as there is room for."""
        text = source.text()
        cursor = self.textCursor()
        replaced = cursor.selectionEnd() - cursor.selectionStart()
        room = max(0, self._most - (self.document().characterCount() - 1 - replaced))
        if text[:room]:
            self.insertPlainText(text[:room])
        if len(text) > room:
            self.shortened.emit()

    def _draw_marks(self) -> None:
        end = self.document().characterCount() - 1
        selections: list[QTextEdit.ExtraSelection] = []
        if self._dimmed is not None and self._dimmed < end:
            dimmed = QTextCharFormat()
            dimmed.setForeground(QColor(self._theme.colours.disabled))
            selections.append(self._selection(self._dimmed, end, dimmed))
        lined = QTextCharFormat()
        lined.setUnderlineStyle(_WAVE)
        lined.setUnderlineColor(QColor(self._theme.colours.accent))
        selections += (
            self._selection(*spot, lined) for spot in self._lined if spot[0] < spot[1] <= end
        )
        self.setExtraSelections(selections)

    def _begins_with(self, text: str) -> bool:
        length = _place(text, len(text))
        if length >= self.document().characterCount():
            return False
        held = self._cursor(0, length).selectedText()
        return held.translate(_AS_READ) == text.replace("\r\n", "\n").translate(_AS_READ)

    def _cursor(self, start: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _selection(self, start: int, end: int, look: QTextCharFormat) -> QTextEdit.ExtraSelection:
        cursor = self._cursor(start, end)
        selection = QTextEdit.ExtraSelection()
        selection.cursor, selection.format = cursor, look  # pyright: ignore[reportAttributeAccessIssue]
        return selection


def _place(text: str, character: int) -> int:
    """Return a character's position in a document, which counts UTF-16 units."""
    before = text[:character].replace("\r\n", "\n")
    return len(before.encode("utf-16-le", "surrogatepass")) // 2
