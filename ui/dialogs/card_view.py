"""The cards of files to choose from, in a grid."""

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QListView

from ui.delegates.lora_delegate import LoraDelegate
from ui.theme.theme import Theme


class CardView(QListView):
    """A grid of cards; without any, a sentence."""

    def __init__(self, theme: Theme, model: QAbstractItemModel, name: str) -> None:
        super().__init__()
        self._theme, self._empty = theme, ""
        delegate = LoraDelegate(theme, self)
        self.setAccessibleName(name)
        self.setModel(model)
        self.setItemDelegate(delegate)
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setGridSize(delegate.cell)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        theme.changed.connect(self.viewport().update)

    def tell(self, text: str) -> None:
        """Show a sentence in place of the cards."""
        self._empty = text
        self.setAccessibleDescription(text)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the cards, or the sentence."""
        super().paintEvent(event)
        if self._empty:
            with QPainter(self.viewport()) as painter:
                painter.setPen(QColor(self._theme.colours.muted))
                place = self.viewport().rect()
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self._empty)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Choose the current card by Enter, also where a style wants a double click."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            index: QModelIndex = self.currentIndex()
            if index.isValid():
                self.activated.emit(index)
            return
        super().keyPressEvent(event)
