"""Marks over the places of a form that take a dragged picture."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ui.theme.metrics import RADIUS, XS
from ui.theme.theme import Theme

# The opacity of the plate below the words, of 255.
_PLATE = 225


class SpotMarks(QWidget):
    """Dashed frames around places; the one below the pointer says what a drop there does."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._spots: Sequence[QRect] = ()
        self._current: int | None = None
        self.words = ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def show_spots(
        self, room: QRect, spots: Sequence[QRect], current: int | None, words: str
    ) -> None:
        """Mark places in the parent, within a room; `words` are those of the current one."""
        self.setGeometry(room)
        self._spots = [spot.translated(-room.topLeft()) for spot in spots]
        self._current, self.words = current, words
        self.raise_()
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the frames, and the words over the current place."""
        colours = self._theme.colours
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for number, spot in enumerate(self._spots):
                frame = QRectF(spot).adjusted(1, 1, -1, -1)
                if number != self._current:
                    painter.setBrush(Qt.BrushStyle.NoBrush)
                    painter.setPen(QPen(QColor(colours.outline), 1, Qt.PenStyle.DashLine))
                    painter.drawRoundedRect(frame, RADIUS, RADIUS)
                    continue
                plate = QColor(colours.window)
                plate.setAlpha(_PLATE)
                painter.setBrush(plate)
                painter.setPen(QPen(QColor(colours.accent), 2))
                painter.drawRoundedRect(frame, RADIUS, RADIUS)
                painter.setPen(QColor(colours.text))
                flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextWordWrap)
                painter.drawText(frame.adjusted(XS, 0, -XS, 0), flags, self.words)
