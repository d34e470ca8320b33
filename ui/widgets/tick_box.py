"""A check box as large as the icons, in the theme's colours."""

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QCheckBox

from ui.theme.metrics import ICON, XS

_ROUND = 4.0
# The corners of the tick, as fractions of its side.
_TICK = ((0.26, 0.52), (0.43, 0.68), (0.74, 0.34))


class TickBox(QCheckBox):
    """A check box; one without a text needs an accessible name."""

    def sizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the size of the box with room for the focus ring, and of the text."""
        side = ICON + 2 * XS
        metrics = self.fontMetrics()
        words = XS + metrics.horizontalAdvance(self.text()) if self.text() else 0
        return QSize(side + words, max(side, metrics.height()))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the only size."""
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:  # noqa: N802 (Qt's name)
        """Return True: all of it can be clicked."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the box, the tick and the focus ring."""
        role, colours = QPalette.ColorRole, self.palette()
        box = self._box()
        outline = colours.color(role.Text if self.underMouse() else role.Mid)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.isChecked():
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colours.color(role.Highlight))
                painter.drawRoundedRect(box, _ROUND, _ROUND)
                draw_tick(painter, box, colours.color(role.HighlightedText))
            else:
                painter.setBrush(colours.color(role.Base))
                painter.setPen(QPen(outline, 1.0))
                painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), _ROUND, _ROUND)
            self._draw_text(painter)
            if self.hasFocus():
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(colours.color(role.Accent), 2.0))
                painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), _ROUND + 1, _ROUND + 1)

    def _box(self) -> QRectF:
        """Return the place of the box: at the beginning of a text, or in the middle."""
        box = QRectF(0, 0, ICON, ICON)
        box.moveCenter(QRectF(self.rect()).center())
        if self.text():
            box.moveLeft(self.width() - ICON - XS if self.isRightToLeft() else XS)
        return box

    def _draw_text(self, painter: QPainter) -> None:
        room, taken = self.rect(), ICON + 3 * XS
        room = (
            room.adjusted(0, 0, -taken, 0)
            if self.isRightToLeft()
            else room.adjusted(taken, 0, 0, 0)
        )
        painter.setPen(self.palette().color(self.foregroundRole()))
        side = Qt.AlignmentFlag.AlignRight if self.isRightToLeft() else Qt.AlignmentFlag.AlignLeft
        aligned = side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, int(aligned), self.text())


def draw_tick(painter: QPainter, box: QRectF, colour: QColor) -> None:
    """Draw a tick within a square."""
    pen = QPen(colour, box.width() / 9)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    path = QPainterPath()
    for number, (x, y) in enumerate(_TICK):
        corner = QPointF(box.left() + x * box.width(), box.top() + y * box.height())
        if number:
            path.lineTo(corner)
        else:
            path.moveTo(corner)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen)
    painter.drawPath(path)
