"""A button by which a card is moved: dragged, or with the arrow keys."""

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication

from ui.escape_key import is_escape_wanted
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton

_MOVES = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class Grip(IconButton):
    """The grip of a card; Esc ends a drag that was not meant."""

    # Emits -1 to move the card up, 1 to move it down.
    stepped = Signal(int)
    # Emit the pointer's place on the screen while the card is dragged, and where it is dropped.
    dragged = Signal(QPoint)
    dropped = Signal(QPoint)
    given_up = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__(theme, "grip", name)
        self.setCursor(Qt.CursorShape.SizeVerCursor)
        # After a click the arrow keys move the card.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # Where the button was pressed; None unless it may become a drag.
        self._pressed: QPoint | None = None
        self._is_dragged = False

    def event(self, event: QEvent) -> bool:
        """Keep Esc, which cancels a job elsewhere, while the card is dragged."""
        if is_escape_wanted(event) and self._is_dragged:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Move the card by the arrow keys; give a drag up by Esc."""
        step = _MOVES.get(Qt.Key(event.key()))
        if step is not None:
            self.stepped.emit(step)
        elif self._is_dragged and event.key() == Qt.Key.Key_Escape:
            self._end()
            self.given_up.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Remember where a drag would begin."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._pressed = event.globalPosition().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Drag the card, once the pointer is far enough from where it was pressed."""
        place = event.globalPosition().toPoint()
        if self._pressed is None:
            super().mouseMoveEvent(event)
            return
        way = (place - self._pressed).manhattanLength()
        if self._is_dragged or way >= QApplication.startDragDistance():
            self._is_dragged = True
            self.dragged.emit(place)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Drop the card."""
        was_dragged = self._is_dragged
        self._end()
        super().mouseReleaseEvent(event)
        if was_dragged:
            self.dropped.emit(event.globalPosition().toPoint())

    def _end(self) -> None:
        self._pressed, self._is_dragged = None, False
