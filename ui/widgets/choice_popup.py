"""The list that a choice opens: it is searched by typing, and tells what each entry is."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QComboBox, QFrame, QListView, QVBoxLayout

from ui.theme.metrics import CONTROL_HEIGHT, XS
from ui.theme.theme import Theme
from ui.typed_signs import is_further_sign
from ui.widgets.choice_rows import ChoiceDelegate, ChoiceFilter, is_heading
from ui.widgets.labels import plain_label
from ui.widgets.line_field import MOST_SEARCHED, LineField

# A list with more entries shows its search at once, a shorter one as soon as somebody types.
_SHORT = 9
# The height in pixels, and the width where entries have sentences.
_HIGHEST, _WIDE = 480, 400
# The margin with the outline around it.
_FRAME = XS + 1
_MOVES = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: 8,
    Qt.Key.Key_PageUp: -8,
}
_CHOOSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)
_CLOSING = (Qt.Key.Key_Escape, Qt.Key.Key_F4)
_ALT = Qt.KeyboardModifier.AltModifier


class ChoicePopup(QFrame):
    """The popup of a box; `chosen` emits the row of the box's entry that was chosen."""

    chosen = Signal(int)
    closed = Signal()

    def __init__(self, theme: Theme, box: QComboBox, *, of_files: bool = False) -> None:
        """Create the closed popup of a box; thousands of files are shown and searched quickly."""
        super().__init__(box, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self._box = box
        self._room = QRect()
        self._is_below = True
        self.setProperty("role", "choices")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        # A click on the box closes the list, and does not open it again.
        self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay)
        self.search = LineField(MOST_SEARCHED)
        self.search.setFixedHeight(CONTROL_HEIGHT)
        self.search.setPlaceholderText(self.tr("Type to search"))
        self.search.setAccessibleName(self.tr("Search"))
        self.nothing = plain_label(self.tr("Nothing has these words."), "note", wrap=True)
        self.list = QListView()
        self.rows = ChoiceFilter(self)
        self._delegate = ChoiceDelegate(theme, self.list, of_files=of_files)
        self.list.setUniformItemSizes(of_files)
        self._lay_out()
        self.search.textChanged.connect(self._on_search)
        for part in (self.search, self.list, self.list.viewport()):
            part.installEventFilter(self)

    def open_in(self, room: QRect, *, has_sentences: bool) -> None:
        """Show the entries below the box, or above it; `room` is the window's on the screen.

        `has_sentences` is True where there is a sentence about some entry.
        """
        box, self._room = self._box, room
        self.setLayoutDirection(box.layoutDirection())
        self.list.setAccessibleName(box.accessibleName())
        self._delegate.chosen = box.currentIndex()
        self.rows.setSourceModel(box.model())
        self.search.clear()
        self.search.setVisible(box.count() > _SHORT)
        self.nothing.hide()
        self._place(has_sentences=has_sentences)
        self._go_to(self.rows.mapFromSource(box.model().index(box.currentIndex(), 0)).row())
        self.show()
        self.list.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 (Qt's name)
        """Tell that the list is closed, also by a click beside it."""
        super().hideEvent(event)
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 (Qt's name)
        """Move by the arrows from the search, too; search by typing in the list; choose."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            # The page behind has keys with Alt, which close an open list instead.
            event.setAccepted(_closes(event))
            return event.isAccepted()
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._takes(event, from_search=watched is self.search)
        if watched is self.list.viewport() and isinstance(event, QMouseEvent):
            return self._points(event)
        return super().eventFilter(watched, event)

    def _points(self, event: QMouseEvent) -> bool:
        """Highlight the entry under the mouse, choose one that is released."""
        index = self.list.indexAt(event.position().toPoint())
        if not index.isValid() or is_heading(index):
            return False
        if event.type() is QEvent.Type.MouseMove:
            self.list.setCurrentIndex(index)
        elif event.type() is QEvent.Type.MouseButtonRelease:
            self._choose(index)
            return True
        return False

    def _takes(self, event: QKeyEvent, *, from_search: bool) -> bool:
        key = Qt.Key(event.key())
        if _closes(event):
            self.close()
        elif key in _CHOOSING:
            self._choose(self.list.currentIndex())
        elif key in _MOVES:
            # From here on a screen reader speaks the entries.
            self.list.setFocus()
            self._move(_MOVES[key])
        elif from_search:
            return False
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._go_to(0 if key is Qt.Key.Key_Home else self.rows.rowCount() - 1)
        elif event.text().strip() or (key is Qt.Key.Key_Backspace and self.search.text()):
            self._type(event)
        else:
            return False
        return True

    def _type(self, event: QKeyEvent) -> None:
        """Search for what is typed in the list."""
        self.search.show()
        self.search.setFocus()
        if event.key() == Qt.Key.Key_Backspace:
            self.search.backspace()
        else:
            self.search.insert(event.text())

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid() and not is_heading(index):
            row = self.rows.mapToSource(index).row()
            self.close()
            self.chosen.emit(row)

    def _move(self, by: int) -> None:
        """Highlight an entry so many rows on; headings are stepped over."""
        last, step = self.rows.rowCount() - 1, 1 if by > 0 else -1
        row = min(max(self.list.currentIndex().row() + by, 0), last)
        while 0 <= row <= last and is_heading(self.rows.index(row, 0)):
            row += step
        if 0 <= row <= last:
            self._go_to(row)

    def _go_to(self, row: int) -> None:
        index = self.rows.index(row, 0)
        if row == 0 and index.isValid() and is_heading(index):
            index = self.rows.index(1, 0)
        self.list.setCurrentIndex(index)
        self.list.scrollTo(index)

    def _on_search(self, text: str) -> None:
        self.rows.search(text)
        self.nothing.setVisible(not self.rows.rowCount())
        # Above the box the list stays as it is: the search would move while somebody types in it.
        if self.isVisible() and self._is_below:
            self._fit()
        self._go_to(0)

    def _lay_out(self) -> None:
        view = self.list
        view.setModel(self.rows)
        view.setItemDelegate(self._delegate)
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setMouseTracking(True)
        # Qt would not let it be lower than a few rows.
        view.setMinimumHeight(1)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        column = QVBoxLayout(self)
        column.setContentsMargins(XS, XS, XS, XS)
        column.setSpacing(XS)
        column.addWidget(self.search)
        column.addWidget(self.nothing)
        column.addWidget(self.list, 1)

    def _place(self, *, has_sentences: bool) -> None:
        """Choose the side of the box and the width, for all entries."""
        room, at = self._room, self._at()
        width = min(max(at.width(), _WIDE if has_sentences else 0), room.width())
        self._delegate.width = width - 2 * _FRAME
        self._delegate.has_sentences = has_sentences
        below, above = room.bottom() - at.bottom(), at.top() - room.top()
        height = self._height(max(below, above))
        if self._whole_rows(height - self._head()) < self.rows.rowCount():
            # Words have the room beside the scroll bar.
            self._delegate.width -= self.list.verticalScrollBar().sizeHint().width()
            height = self._height(max(below, above))
        self._is_below = height <= below or below >= above
        is_mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        left = at.right() + 1 - width if is_mirrored else at.left()
        left = min(max(left, room.left()), room.right() + 1 - width)
        top = at.bottom() + 1 if self._is_below else at.top() - height
        self.setGeometry(QRect(left, top, width, height))

    def _fit(self) -> None:
        """Be as high as what was found, where the list is below the box."""
        self.resize(self.width(), self._height(self._room.bottom() - self._at().bottom()))

    def _at(self) -> QRect:
        """Return the place of the box on the screen."""
        return QRect(self._box.mapToGlobal(self._box.rect().topLeft()), self._box.size())

    def _height(self, room: int) -> int:
        """Return the height of the search with as many whole rows as there is room for."""
        head = self._head()
        if self.nothing.isVisibleTo(self):
            return head + XS + self.nothing.heightForWidth(self.width() - 2 * _FRAME) + XS
        rows = max(1, self._whole_rows(min(_HIGHEST, room) - head))
        return head + sum(self._height_of(row) for row in range(min(rows, self.rows.rowCount())))

    def _head(self) -> int:
        """Return the height of what is not the rows."""
        return (CONTROL_HEIGHT + XS if self.search.isVisibleTo(self) else 0) + 2 * _FRAME

    def _whole_rows(self, most: int) -> int:
        """Return the number of rows that fit into a height."""
        height = 0
        for row in range(self.rows.rowCount()):
            height += self._height_of(row)
            if height > most:
                return row
        return self.rows.rowCount()

    def _height_of(self, row: int) -> int:
        size: QSize = self.list.sizeHintForIndex(self.rows.index(row, 0))
        return size.height()


def _closes(event: QKeyEvent) -> bool:
    """Return True for a key that closes an open list, and types no sign."""
    is_key = Qt.Key(event.key()) in _CLOSING or bool(event.modifiers() & _ALT)
    return is_key and not is_further_sign(event)
