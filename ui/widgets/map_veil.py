"""A control layer's map as an overlay: what is bright in the map covers the picture."""

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from engine.api.control import ControlResize
from ui.widgets.placing import covering, fitted

_OPACITY = 0.75
# Colour pictures whose darkest quarter is not black are shown as they are, translucent.
_PLAIN_OPACITY = 0.55
# The opacity of the black below a grey map, of 255.
_DIMMED = 120
_SAMPLE = 32
_DARK = 48


class MapVeil:
    """A map's overlay, and the way in which it takes the shape of the picture."""

    def __init__(self, image: QImage, resize: ControlResize) -> None:
        """Make the overlay; below a grey map the picture is dimmed, so that white lines show."""
        self._resize = resize
        small = image.scaled(_SAMPLE, _SAMPLE).convertToFormat(QImage.Format.Format_RGB32)
        light = image.convertToFormat(QImage.Format.Format_Grayscale8)
        self._opacity, self._veil = _OPACITY, QColor(Qt.GlobalColor.transparent)
        if small.allGray():
            self._image = QImage(image.size(), QImage.Format.Format_ARGB32)
            self._image.fill(QColor(Qt.GlobalColor.white))
            self._opacity, self._veil = 1.0, QColor(0, 0, 0, _DIMMED)
            self._image.setAlphaChannel(light)
        elif _is_dark(small):
            self._image = image.convertToFormat(QImage.Format.Format_ARGB32)
            self._image.setAlphaChannel(light)
        else:
            self._image, self._opacity = image, _PLAIN_OPACITY

    def draw(self, painter: QPainter, target: QRectF) -> None:
        """Draw the map over a picture's place."""
        painter.save()
        painter.setClipRect(target)
        painter.fillRect(target, self._veil)
        painter.setOpacity(self._opacity)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(self._place(target), self._image)
        painter.restore()

    def _place(self, target: QRectF) -> QRectF:
        match self._resize:
            case ControlResize.STRETCH:
                return target
            case ControlResize.CROP:
                return covering(self._image.size(), target)
            case ControlResize.FILL:
                return QRectF(fitted(self._image.size(), QRect(target.toAlignedRect())))


def _is_dark(sample: QImage) -> bool:
    """Return True if much of a picture is black, as around the limbs of a pose."""
    lightness = [
        sample.pixelColor(x, y).lightness()
        for y in range(sample.height())
        for x in range(sample.width())
    ]
    return sorted(lightness)[len(lightness) // 4] < _DARK
