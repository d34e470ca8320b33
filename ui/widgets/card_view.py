"""A grid of cards; without any, a sentence in their place."""

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QListView

from ui.delegates.card_delegate import CardDelegate
from ui.theme.metrics import L
from ui.theme.theme import Theme
from ui.widgets.quiet_bar import QuietBar

_BATCH = 300


class CardView(QListView):
    """A list as a grid of cards, one of them current. Enter emits `activated`."""

    def __init__(self, theme: Theme, item_model: QAbstractItemModel, name: str) -> None:
        """`name` is what a screen reader calls the list; `draw_by` is to follow."""
        super().__init__()
        self._theme, self._empty = theme, ""
        self._delegate: CardDelegate | None = None
        self.setAccessibleName(name)
        self.setModel(item_model)
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        # Thousands of cards are laid out beside the events of the window.
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(_BATCH)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # It always has its room: the cards fill the same width with and without it.
        self.setVerticalScrollBar(QuietBar())
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        theme.changed.connect(self.viewport().update)

    def draw_by(self, delegate: CardDelegate) -> None:
        """Have a delegate draw the cards; it says how large they are."""
        self._delegate = delegate
        self.setItemDelegate(delegate)
        self._fill_width()

    def resizeEvent(self, e: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Share the width out among the cards of a row."""
        super().resizeEvent(e)
        self._fill_width()

    def _fill_width(self) -> None:
        if self._delegate is None:
            return
        # One pixel less: a list that is exactly as wide as its cards wraps the last.
        room, least = self.viewport().width() - 1, self._delegate.least
        columns = max(1, room // least.width())
        cell = QSize(max(least.width(), room // columns), least.height())
        if cell != self.gridSize():
            self._delegate.cell = cell
            self.setGridSize(cell)

    def tell(self, text: str) -> None:
        """Show a sentence in place of the cards; none if it is empty."""
        if text != self._empty:
            self._empty = text
            self.setAccessibleDescription(text)
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the cards, or the sentence."""
        super().paintEvent(event)
        if self._empty:
            with QPainter(self.viewport()) as painter:
                painter.setPen(QColor(self._theme.colours.muted))
                place = self.viewport().rect().adjusted(L, L, -L, -L)
                flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
                painter.drawText(place, int(flags), self._empty)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Activate the current card by Enter, also where a style wants a double click."""
        index: QModelIndex = self.currentIndex()
        if index.isValid() and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.activated.emit(index)
        else:
            super().keyPressEvent(event)
