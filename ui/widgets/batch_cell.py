"""A picture of a batch: a button with the picture, its preview, or an empty sheet."""

from PySide6.QtCore import QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from ui.theme.metrics import XS
from ui.theme.theme import Theme
from ui.widgets.placing import fitted

_LEAST = 48


class BatchCell(QAbstractButton):
    """A button that is a picture; pressing it asks for the picture alone."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._image = QImage()
        # The picture as it was drawn last: the other cells are drawn with each preview of one.
        self._drawn = QPixmap()
        self._shape = QSize(1, 1)
        self._is_marked = self._is_failed = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.update)

    def show_sheet(self, shape: QSize, *, failed: bool) -> None:
        """Show an empty sheet of this shape, with a sign on it for a picture that failed."""
        self._image, self._shape, self._is_failed = QImage(), shape, failed
        self._drawn = QPixmap()
        self.update()

    def show_image(self, image: QImage) -> None:
        """Show a picture, or a preview of it."""
        if not image.isNull():
            self._image, self._shape, self._is_failed = image, image.size(), False
            self._drawn = QPixmap()
            self.update()

    def mark(self, *, marked: bool) -> None:
        """Mark the picture that the line below the canvas tells of."""
        self._is_marked = marked
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 (Qt's name)
        """Return the least size that shows anything."""
        return QSize(_LEAST, _LEAST)

    def paintEvent(self, e: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the picture in the middle, and a frame around the marked or focused one."""
        colours = self._theme.colours
        place = QRectF(fitted(self._shape, self.rect().adjusted(XS, XS, -XS, -XS)))
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(place, QColor(colours.window))
            if not self._image.isNull():
                painter.drawPixmap(place.topLeft(), self._scaled(place.size().toSize()))
            if self._is_failed:
                icon = self._theme.icon("warning", colours.error).pixmap(QSize(24, 24))
                painter.drawPixmap(place.center().toPoint() - icon.rect().center(), icon)
            width = 2 if self.hasFocus() or self._is_marked else 1
            colour = colours.focus if self.hasFocus() else colours.border
            if self._is_marked and not self.hasFocus():
                colour = colours.accent
            painter.setPen(QPen(QColor(colour), width))
            painter.drawRect(place.adjusted(-width, -width, width, width))

    def _scaled(self, size: QSize) -> QPixmap:
        """Return the picture in a size of device-independent pixels, scaled when that changes."""
        ratio = self.devicePixelRatioF()
        pixels = (QSizeF(size) * ratio).toSize()
        if self._drawn.size() != pixels:
            aspect, smooth = Qt.AspectRatioMode, Qt.TransformationMode.SmoothTransformation
            scaled = self._image.scaled(pixels, aspect.IgnoreAspectRatio, smooth)
            self._drawn = QPixmap.fromImage(scaled)
            self._drawn.setDevicePixelRatio(ratio)
        return self._drawn
