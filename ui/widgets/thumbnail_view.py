"""A small picture with round corners, and the colour of its mask over it."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ui.theme.metrics import RADIUS
from ui.theme.theme import Theme
from ui.widgets.placing import covering


class ThumbnailView(QWidget):
    """Draws the middle of a picture, as large as it is itself; an empty frame without one."""

    def __init__(self, theme: Theme, side: int) -> None:
        super().__init__()
        self._theme = theme
        self._layers: tuple[QImage, ...] = ()
        self.setFixedSize(side, side)
        theme.changed.connect(self.update)

    def show_layers(self, *layers: QImage) -> None:
        """Draw these above each other, which have one shape."""
        self._layers = layers
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw them, and a line around."""
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        shape = QPainterPath()
        shape.addRoundedRect(frame, RADIUS, RADIUS)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.fillPath(shape, QColor(self._theme.colours.canvas))
            painter.setClipPath(shape)
            for layer in self._layers:
                painter.drawImage(covering(layer.size(), frame), layer)
            painter.setClipping(False)
            painter.setPen(QPen(QColor(self._theme.colours.outline), 1))
            painter.drawPath(shape)
