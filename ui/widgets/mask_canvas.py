"""A canvas for painting a mask on a picture."""

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.masks import empty_mask, inverted, veil
from ui.theme.theme import Theme
from ui.widgets.placing import fitted

# The memory for earlier masks (undo), in bytes.
_UNDO_BYTES = 128 << 20


class MaskCanvas(QWidget):
    """A canvas on which the brush paints white (painted) and the eraser black (kept).

    `changed` is emitted after each stroke. Sizes are in the picture's pixels.
    """

    changed = Signal()

    def __init__(self, theme: Theme, picture: QImage) -> None:
        super().__init__()
        self._theme, self._picture = theme, picture
        self.painted = empty_mask(picture.size())
        # The diameter of the brush in the picture's pixels.
        self.brush = max(8, min(picture.width(), picture.height()) // 8)
        self.erases = False
        self._before: list[QImage] = []
        self._last: QPointF | None = None
        self._pointer: QPoint | None = None
        # The mask's coloured overlay, and the picture scaled to its size on the screen.
        self._veil: QImage | None = None
        self._scaled = QImage()
        self.setMouseTracking(True)
        self.setMinimumSize(256, 256)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Picture to paint on"))

    @property
    def can_undo(self) -> bool:
        """True if there is an earlier mask."""
        return bool(self._before)

    def show_mask(self, mask: QImage) -> None:
        """Replace the mask by one of the picture's size; `undo` restores the old one."""
        self._keep()
        self.painted = mask
        self._tell()

    def clear(self) -> None:
        """Replace the mask by one that keeps everything."""
        self.show_mask(empty_mask(self.painted.size()))

    def invert(self) -> None:
        """Swap the painted and the kept area."""
        self.show_mask(inverted(self.painted))

    def undo(self) -> None:
        """Restore the previous mask, if there is one."""
        if self._before:
            self.painted = self._before.pop()
            self._tell()

    def stroke(self, start: QPointF, end: QPointF) -> None:
        """Draw a line with the brush, in the picture's pixels."""
        colour = Qt.GlobalColor.black if self.erases else Qt.GlobalColor.white
        pen = QPen(colour, self.brush, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        with QPainter(self.painted) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(pen)
            # Qt does not draw a line without length.
            painter.drawLine(start, end) if start != end else painter.drawPoint(end)
        around = self.brush // 2 + 2
        touched = QRectF(start, end).normalized().adjusted(-around, -around, around, around)
        self._renew(touched.toAlignedRect() & self.painted.rect())

    def sizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return a comfortable size for painting."""
        return QSize(640, 560)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Begin a stroke."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._keep()
            self._last = self._in_picture(event.position())
            self.stroke(self._last, self._last)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Continue the stroke and move the brush's outline."""
        self._pointer = event.position().toPoint()
        if self._last is not None:
            place = self._in_picture(event.position())
            self.stroke(self._last, place)
            self._last = place
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """End the stroke and emit `changed`."""
        if self._last is not None and event.button() is Qt.MouseButton.LeftButton:
            self._last = None
            self.changed.emit()

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802 (Qt's name)
        """Hide the pointer: the brush's outline replaces it."""
        super().enterEvent(event)
        self.setCursor(Qt.CursorShape.BlankCursor)

    def leaveEvent(self, event: object) -> None:  # noqa: N802 (Qt's name)
        """Hide the brush's outline: the pointer left the canvas."""
        self._pointer = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the picture, the mask's overlay and the brush's outline."""
        if self._veil is None:
            self._veil = veil(self.painted, self._theme.colours.accent)
        target = QRectF(self._target())
        self._scale((target.size() * self.devicePixelRatioF()).toSize())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(self.rect(), QColor(self._theme.colours.canvas))
            painter.drawImage(target, self._scaled)
            painter.drawImage(target, self._veil)
            if self._pointer is not None:
                self._draw_brush(painter, QPointF(self._pointer), target)

    def _draw_brush(self, painter: QPainter, place: QPointF, target: QRectF) -> None:
        radius = self.brush / 2 * target.width() / self._picture.width()
        # Two rings, black and white: one of them is visible on any picture.
        for colour, wider in ((Qt.GlobalColor.black, 1), (Qt.GlobalColor.white, 0)):
            painter.setPen(QPen(colour, 1.5))
            painter.drawEllipse(place, radius + wider, radius + wider)

    def _keep(self) -> None:
        self._before.append(self.painted.copy())
        most = max(1, _UNDO_BYTES // max(1, self.painted.sizeInBytes()))
        del self._before[:-most]

    def _renew(self, part: QRect) -> None:
        """Redraw the overlay in this part only: the time grows with the stroke's size."""
        if self._veil is not None:
            with QPainter(self._veil) as painter:
                painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
                patch = veil(self.painted.copy(part), self._theme.colours.accent)
                painter.drawImage(part.topLeft(), patch)
        self.update()

    def _scale(self, size: QSize) -> None:
        if self._scaled.size() != size:
            smooth = Qt.TransformationMode.SmoothTransformation
            self._scaled = self._picture.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)

    def _tell(self) -> None:
        self._veil = None
        self.update()
        self.changed.emit()

    def _target(self) -> QRect:
        return fitted(self._picture.size(), self.rect())

    def _in_picture(self, place: QPointF) -> QPointF:
        target = self._target()
        scale = self._picture.width() / max(1, target.width())
        return (place - QPointF(target.topLeft())) * scale
