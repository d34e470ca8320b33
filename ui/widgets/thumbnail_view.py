"""A small picture with round corners, and its mask's coloured overlay."""

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ui.theme.metrics import ICON, RADIUS
from ui.theme.theme import Theme
from ui.widgets.placing import covering


class ThumbnailView(QWidget):
    """A view of the middle of a picture, cropped to fill the widget; without one, a sign."""

    def __init__(self, theme: Theme, side: int) -> None:
        super().__init__()
        self._theme = theme
        self._layers: tuple[QImage, ...] = ()
        self.setFixedSize(side, side)
        theme.changed.connect(self.update)

    def show_layers(self, *layers: QImage) -> None:
        """Show images of one shape, stacked in this order."""
        self._layers = layers
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the images and an outline."""
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
            if not self._layers:
                place = QRect(0, 0, ICON, ICON)
                place.moveCenter(self.rect().center())
                icon = self._theme.icon("picture", self._theme.colours.muted)
                icon.paint(painter, place)
