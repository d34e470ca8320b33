"""A field for a prompt: plain text, undo, weights by keys, completion of names; Tab leaves it."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QTextEdit, QWidget

from app.form.completions import NO_COMPLETIONS, Completion, Completions
from app.form.prompt_weights import FINE_STEP, STEP, WeightEdit
from ui.action_names import ActionName
from ui.escape_key import is_escape_wanted
from ui.keys import bind_key
from ui.theme.metrics import XS, M
from ui.theme.theme import Theme
from ui.widgets.completion_list import CompletionList
from ui.widgets.text_field import TextField

_WAVE = QTextCharFormat.UnderlineStyle.WaveUnderline
# Characters that Qt's document changes: both texts are normalized before a comparison.
_AS_READ = {ord("\r"): "\n", 0x2028: "\n", 0x2029: "\n", 0xA0: " "}
_UP_AND_DOWN = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}
_TAKING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)
# Names are completed from this many characters before the cursor.
_LOOKED_AT = 200
_CONTROL = Qt.KeyboardModifier.ControlModifier
# The change of the weight by each key.
_WEIGHING = {
    ActionName.HEAVIER: STEP,
    ActionName.LIGHTER: -STEP,
    ActionName.A_LITTLE_HEAVIER: FINE_STEP,
    ActionName.A_LITTLE_LIGHTER: -FINE_STEP,
}

# Takes a text, a selection as two characters and a step.
Weigh = Callable[[str, int, int, float], WeightEdit | None]


def _no_weights(text: str, start: int, end: int, step: float) -> None:
    return None


def _no_names(before: str) -> Completions:
    return NO_COMPLETIONS


class PromptEdit(TextField):
    """A prompt field, which grows with its text.

    Keys change the weight of the selection or of the word at the cursor.
    """

    def __init__(
        self, theme: Theme, lines: tuple[int, int], most: int, parent: QWidget | None = None
    ) -> None:
        """`lines` are the numbers of lines that are shown at least and at most."""
        super().__init__(most, parent)
        self._theme, self._lines = theme, lines
        # Set by whoever knows the grammar and the names; they must be quick.
        self.weigh: Weigh = _no_weights
        self.complete: Callable[[str], Completions] = _no_names
        self.names: CompletionList | None = None
        # The positions of the beginning and the end of what the offered names complete.
        self._written = (0, 0)
        # The positions at which chunks of tokens begin.
        self._borders: tuple[int, ...] = ()
        # The start of the dimmed text, and the (start, end) of each underlined place.
        self._dimmed: int | None = None
        self._lined: tuple[tuple[int, int], ...] = ()
        self.setTabChangesFocus(True)
        for name, step in _WEIGHING.items():
            bind_key(self, name, partial(self._change_weight, step))
        self._fit()
        self.textChanged.connect(self._fit)
        self.textChanged.connect(self._offer_names)
        self.cursorPositionChanged.connect(self._on_cursor)
        theme.changed.connect(self._draw_marks)

    def mark(
        self,
        text: str,
        cut_at: int | None,
        spots: Sequence[tuple[int, int]],
        borders: Sequence[int] = (),
    ) -> None:
        """Dim the text from `cut_at` on, underline spots, given as (character, length).

        `borders` are the characters at which a chunk of tokens begins; a line is drawn there.

        `text` is the checked text: the field's, or its beginning. Nothing happens if the field has
        changed since; Qt moves the old marks with the edits.
        """
        if not self._begins_with(text):
            return
        self._dimmed = None if cut_at is None else _place(text, cut_at)
        self._lined = tuple((_place(text, at), _place(text, at + length)) for at, length in spots)
        self._borders = tuple(_place(text, at) for at in borders)
        self._draw_marks()
        self.viewport().update()

    def write(self, start: int, length: int, text: str) -> None:
        """Put a text in place of so many characters; the user can undo it."""
        written = self.toPlainText()
        cursor = self._cursor(*(_place(written, at) for at in (start, start + length)))
        cursor.insertText(text)
        self.setTextCursor(cursor)

    def event(self, e: QEvent) -> bool:
        """Keep Esc from the window while names are offered, and let their list have its keys."""
        if is_escape_wanted(e) and self._is_offering:
            e.accept()
            return True
        # Tab does not reach `keyPressEvent` as it leaves the field.
        if e.type() is QEvent.Type.KeyPress and isinstance(e, QKeyEvent) and self._takes(e):
            return True
        return super().event(e)

    def resizeEvent(self, e: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Wrap the text anew, and grow with it."""
        super().resizeEvent(e)
        if e.size().width() != e.oldSize().width():
            self._fit()

    def focusOutEvent(self, e: QFocusEvent) -> None:  # noqa: N802 (Qt's name)
        """Hide the names when typing goes elsewhere."""
        super().focusOutEvent(e)
        self._hide_names()

    def paintEvent(self, e: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the text, and a line where a chunk of tokens begins."""
        super().paintEvent(e)
        with QPainter(self.viewport()) as painter:
            painter.setPen(QPen(QColor(self._theme.colours.accent), 1, Qt.PenStyle.DashLine))
            for place in self._borders:
                if place < self.document().characterCount():
                    line = self.cursorRect(self._cursor(place, place))
                    painter.drawLine(line.topLeft(), line.bottomLeft())

    @property
    def _is_offering(self) -> bool:
        return self.names is not None and self.names.isVisible()

    def _takes(self, event: QKeyEvent) -> bool:
        """Let the list of names have a key; return True if it is for the list."""
        names = self.names
        if names is None or not self._is_offering or event.modifiers() & _CONTROL:
            return False
        if (rows := _UP_AND_DOWN.get(Qt.Key(event.key()))) is not None:
            names.move_by(-rows)
        elif event.key() == Qt.Key.Key_Escape:
            self._hide_names()
        elif event.key() in _TAKING and names.current is not None:
            self._take(names.current)
        else:
            return False
        return True

    def _offer_names(self) -> None:
        """Show the names that complete what is being typed."""
        cursor = self.textCursor()
        if not self.hasFocus() or cursor.hasSelection():
            self._hide_names()
            return
        block = cursor.block()
        before = block.text()[: cursor.positionInBlock()][-_LOOKED_AT:]
        offered = self.complete(before)
        end = cursor.position()
        self._written = end - _place(before[offered.start :], len(before)), end
        if not offered.names:
            self._hide_names()
            return
        if self.names is None:
            self.names = CompletionList(self._theme, self.window())
            self.names.chosen.connect(self._take)
        at = self.cursorRect()
        corner = self.viewport().mapTo(self.window(), at.topLeft())
        self.names.offer(offered.names, QRect(corner, at.size()))

    def offer_again(self) -> None:
        """Offer what there is now, if names are offered."""
        if self._is_offering:
            self._offer_names()

    def _on_cursor(self) -> None:
        """Hide the names when the cursor leaves the place where they were offered."""
        if self._is_offering and self.textCursor().position() != self._written[1]:
            self._hide_names()

    def _hide_names(self) -> None:
        if self.names is not None:
            self.names.hide()

    def _take(self, completion: Completion) -> None:
        chosen = self._cursor(*self._written)
        chosen.beginEditBlock()
        chosen.insertText(completion.text)
        chosen.endEditBlock()
        self.setTextCursor(chosen)
        self._hide_names()

    def _change_weight(self, step: float) -> None:
        text, cursor = self.toPlainText(), self.textCursor()
        start, end = (
            _character(text, place) for place in (cursor.selectionStart(), cursor.selectionEnd())
        )
        edit = self.weigh(text, start, end, step)
        if edit is None:
            return
        had_selection = cursor.hasSelection()
        changed = self._cursor(_place(text, edit.start), _place(text, edit.end))
        changed.beginEditBlock()
        changed.insertText(edit.text)
        changed.endEditBlock()
        after = self.toPlainText()
        first, last = (_place(after, place) for place in edit.selection)
        self.setTextCursor(self._cursor(first if had_selection else last, last))
        self._hide_names()

    def _fit(self, *_: object) -> None:
        """Make the field as high as its text, within its numbers of lines."""
        least, most = self._lines
        lines = min(max(least, self._count_lines(most)), most)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * lines + M + XS)

    def _count_lines(self, most: int) -> int:
        """Return the number of lines as they wrap; for a long text at least `most`."""
        spacing = self.fontMetrics().lineSpacing()
        block, lines = self.document().begin(), 0
        while block.isValid() and lines < most:
            # Lays the block out, which the size of the document does not.
            lines += max(1, round(self.blockBoundingRect(block).height() / spacing))
            block = block.next()
        return lines

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


def _character(text: str, place: int) -> int:
    """Return the character at a position in a document, which counts UTF-16 units."""
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * place]
    return len(units.decode("utf-16-le", "surrogatepass"))
