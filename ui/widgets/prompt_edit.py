"""A field for a prompt: plain text, undo, Tab leaves it."""

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from ui.theme.metrics import XS, M
from ui.theme.theme import Theme

_WAVE = QTextCharFormat.UnderlineStyle.WaveUnderline
# Characters that Qt's document changes: both texts are normalized before a comparison.
_AS_READ = {ord("\r"): "\n", 0x2028: "\n", 0x2029: "\n", 0xA0: " "}


class PromptEdit(QPlainTextEdit):
    """A prompt field: it takes dropped and pasted text as plain text; the window takes files.

    A pasted text is cut when the field holds `most` characters, because more would slow typing
    down; `shortened` is emitted then.
    """

    shortened = Signal()

    def __init__(self, theme: Theme, lines: int, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._most = most
        # The start of the dimmed text, and the (start, end) of each underlined place.
        self._dimmed: int | None = None
        self._lined: tuple[tuple[int, int], ...] = ()
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * lines + M + XS)
        theme.changed.connect(self._draw_marks)

    def mark(self, text: str, cut_at: int | None, spots: Sequence[tuple[int, int]]) -> None:
        """Dim the text from `cut_at` on, and underline spots, given as (character, length).

        `text` is the checked text: the field's, or its beginning. Nothing happens if the field has
        changed since; Qt moves the old marks with the edits.
        """
        if not self._begins_with(text):
            return
        self._dimmed = None if cut_at is None else _place(text, cut_at)
        self._lined = tuple((_place(text, at), _place(text, at + length)) for at, length in spots)
        self._draw_marks()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:  # noqa: N802 (Qt's name)
        """Accept text only; a dropped file goes to the window."""
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802 (Qt's name)
        """Insert a text, or as much of its beginning as the limit allows."""
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
