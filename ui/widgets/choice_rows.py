"""The entries of a list to choose from: those that a search finds, and their drawing."""

from typing import Protocol, runtime_checkable

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
    SignalInstance,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine.api.folded import folded
from ui.theme.metrics import CONTROL_HEIGHT, ICON, RADIUS, XS, S
from ui.theme.theme import SCALES, Theme
from ui.widgets.tick_box import draw_tick

# The accessible description by which Qt marks the separators of a combo box.
SEPARATOR = "separator"
# Item role: a sentence about an entry.
ABOUT_ROLE = Qt.ItemDataRole.UserRole + 1
# A sentence about an entry has this many lines at most.
_MOST_LINES = 2
AnyIndex = QModelIndex | QPersistentModelIndex


def is_heading(index: AnyIndex) -> bool:
    """Return True for an entry that begins a group and cannot be chosen."""
    return index.data(Qt.ItemDataRole.AccessibleDescriptionRole) == SEPARATOR


@runtime_checkable
class Searched(Protocol):
    """A list of thousands of entries, which would take long to read one after another."""

    def searched_texts(self) -> list[str]:
        """Return what a search looks through, of each entry."""
        ...


class ChoiceFilter(QSortFilterProxyModel):
    """The entries that have every word of a search in them; a heading while its group has one."""

    def __init__(self, parent: QObject) -> None:
        """Have no entries yet."""
        super().__init__(parent)
        self._words: list[str] = []
        # What is searched of each entry, None for a heading; read once for a state of the list.
        self._texts: list[str | None] = []
        # The rows with all words, and headings above them.
        self._found: set[int] = set()

    def setSourceModel(self, sourceModel: QAbstractItemModel) -> None:  # noqa: N802, N803 (Qt's names)
        """Show the entries of a list."""
        before = self.sourceModel()
        for signal in _changes(before) if before is not None else ():  # pyright: ignore[reportUnnecessaryComparison] (there is none at first)
            signal.disconnect(self._read_again)
        # Before Qt's own connections, which ask for the rows.
        for signal in _changes(sourceModel):
            signal.connect(self._read_again)
        self._read_again()
        super().setSourceModel(sourceModel)

    def search(self, text: str) -> None:
        """Show the entries that have every word of a text in their names, sentences or paths."""
        self._words = folded(text).split()
        self._find()
        self.invalidate()

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what the list has; what is spoken of an entry includes the sentence about it."""
        if role == Qt.ItemDataRole.AccessibleTextRole and not is_heading(index):
            spoken = super().data(index, role) or super().data(index)
            return ", ".join(filter(None, (spoken, super().data(index, ABOUT_ROLE))))
        return super().data(index, role)

    def filterAcceptsRow(  # noqa: N802 (Qt's name)
        self, source_row: int, source_parent: AnyIndex
    ) -> bool:
        """Tell whether an entry is shown."""
        if self._words and not self._texts:
            self._find()
        return not self._words or source_row in self._found

    def _read_again(self) -> None:
        self._texts = []

    def _find(self) -> None:
        if not self._words:
            return
        self._texts = self._texts or self._read()
        self._found, heading = set(), -1
        for row, text in enumerate(self._texts):
            if text is None:
                heading = row
            elif all(word in text for word in self._words):
                self._found |= {row, heading}

    def _read(self) -> list[str | None]:
        model = self.sourceModel()
        if isinstance(model, Searched):
            return [folded(text) for text in model.searched_texts()]
        entries = (model.index(row, 0) for row in range(model.rowCount()))
        return [None if is_heading(entry) else _searched(entry) for entry in entries]


def _changes(model: QAbstractItemModel) -> tuple[SignalInstance, ...]:
    return model.modelReset, model.dataChanged, model.rowsInserted, model.rowsRemoved


def _searched(entry: QModelIndex) -> str:
    texts = entry.data(), entry.data(ABOUT_ROLE)
    return folded("\n".join(str(text) for text in texts if text))


class ChoiceDelegate(QStyledItemDelegate):
    """A delegate that draws an entry with a sentence below it, and headings in small muted text.

    Entries `of_files` are of one height, with a sentence of one line.
    """

    def __init__(self, theme: Theme, parent: QWidget, *, of_files: bool = False) -> None:
        super().__init__(parent)
        self._theme, self._of_files = theme, of_files
        self.has_sentences = False
        # The row of the present choice in the box, and the width of the list.
        self.chosen, self.width = -1, 0

    def sizeHint(  # noqa: N802 (Qt's name)
        self, option: QStyleOptionViewItem, index: AnyIndex
    ) -> QSize:
        """Return the size of an entry with its sentence, or of a heading."""
        font: QFont = option.font  # pyright: ignore[reportAttributeAccessIssue]
        caption = QFontMetrics(_caption(font))
        name = QFontMetrics(font).height() + 2 * XS + 2
        if self._of_files and self.has_sentences:
            return QSize(self.width, name + caption.lineSpacing())
        about = "" if is_heading(index) or not self.has_sentences else index.data(ABOUT_ROLE)
        if not about:
            return QSize(self.width, CONTROL_HEIGHT)
        room = self._room(QRect(0, 0, self.width, 0), Qt.LayoutDirection.LeftToRight).width()
        wanted = caption.boundingRect(QRect(0, 0, room, 9999), _WRAPPED, str(about)).height()
        lines = min(wanted, _MOST_LINES * caption.lineSpacing())
        return QSize(self.width, name + lines)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw an entry or a heading."""
        whole: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        font: QFont = option.font  # pyright: ignore[reportAttributeAccessIssue]
        direction: Qt.LayoutDirection = option.direction  # pyright: ignore[reportAttributeAccessIssue]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_heading(index):
            painter.setFont(_caption(font))
            painter.setPen(QColor(self._theme.colours.muted))
            room = whole.adjusted(S, 0, -S, -XS)
            text = index.data(Qt.ItemDataRole.AccessibleTextRole) or ""
            painter.drawText(room, _aligned(direction, Qt.AlignmentFlag.AlignBottom), str(text))
        else:
            self._paint_entry(painter, option, index, whole, direction)
        painter.restore()

    def _paint_entry(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: AnyIndex,
        whole: QRect,
        direction: Qt.LayoutDirection,
    ) -> None:
        colours = self._theme.colours
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        font: QFont = option.font  # pyright: ignore[reportAttributeAccessIssue]
        is_current = bool(state & QStyle.StateFlag.State_Selected)
        if is_current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent))
            painter.drawRoundedRect(QRectF(whole), RADIUS - 2, RADIUS - 2)
        text = QColor(colours.on_accent if is_current else colours.text)
        muted = QColor(colours.on_accent if is_current else colours.muted)
        if self._is_chosen(index):
            side = QRect(whole.left() + XS, whole.center().y() - ICON // 2, ICON, ICON)
            draw_tick(painter, QRectF(QStyle.visualRect(direction, whole, side)), text)
        room = self._room(whole, direction)
        about = str(index.data(ABOUT_ROLE) or "")
        name = painter.fontMetrics().elidedText(
            str(index.data() or ""), Qt.TextElideMode.ElideMiddle, room.width()
        )
        painter.setFont(font)
        painter.setPen(text)
        if not about:
            painter.drawText(room, _aligned(direction, Qt.AlignmentFlag.AlignVCenter), name)
            return
        room.adjust(0, XS, 0, -XS)
        top = _aligned(direction, Qt.AlignmentFlag.AlignTop)
        painter.drawText(room, top, name)
        room.setTop(room.top() + painter.fontMetrics().height())
        painter.setFont(_caption(font))
        painter.setPen(muted)
        painter.drawText(room, top | _WRAPPED, self._cut(painter.fontMetrics(), about, room))

    def _cut(self, metrics: QFontMetrics, about: str, room: QRect) -> str:
        """Return the sentence about an entry, as much of it as fits."""
        if self._of_files:
            return metrics.elidedText(about, Qt.TextElideMode.ElideMiddle, room.width())
        return _cut(metrics, about, room.width())

    def _is_chosen(self, index: AnyIndex) -> bool:
        model = index.model()
        assert isinstance(model, QSortFilterProxyModel)
        return model.mapToSource(QModelIndex(index)).row() == self.chosen  # pyright: ignore[reportArgumentType, reportCallIssue]

    def _room(self, whole: QRect, direction: Qt.LayoutDirection) -> QRect:
        """Return the room for words: beside the tick."""
        room = whole.adjusted(2 * XS + ICON, 0, -S, 0)
        return QStyle.visualRect(direction, whole, room)


_WRAPPED = int(Qt.TextFlag.TextWordWrap)


def _aligned(direction: Qt.LayoutDirection, vertical: Qt.AlignmentFlag) -> int:
    # Painters do not mirror: only styles do.
    is_left = direction is Qt.LayoutDirection.LeftToRight
    side = Qt.AlignmentFlag.AlignLeft if is_left else Qt.AlignmentFlag.AlignRight
    return int(side | Qt.AlignmentFlag.AlignAbsolute | vertical)


def _cut(metrics: QFontMetrics, text: str, width: int) -> str:
    """Return a text that fits into the lines of a sentence, with an ellipsis where it is cut."""

    def fits(shown: str) -> bool:
        height = metrics.boundingRect(QRect(0, 0, width, 9999), _WRAPPED, shown).height()
        return height <= _MOST_LINES * metrics.lineSpacing()

    if fits(text):
        return text
    words = text.split()
    while words and not fits(" ".join(words) + " …"):
        words.pop()
    return " ".join(words) + " …"


def _caption(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(small.pointSizeF() * SCALES["caption"])
    return small
