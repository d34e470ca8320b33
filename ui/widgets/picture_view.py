"""The view of a picture, as large as it fits, with empty space around it."""

from PySide6.QtCore import QRect, QRectF, QSize, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.theme.metrics import L
from ui.theme.theme import Theme
from ui.widgets.placing import fitted


class PictureView(QWidget):
    """A view of a picture that others have scaled, or of an empty sheet of its shape.

    `resized` asks for a picture of the new size; until it comes, the old one is drawn stretched.
    """

    resized = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._image: QImage | None = None
        self._shape = QSize(1, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(128, 128)
        self.setAccessibleName(self.tr("Picture"))
        theme.changed.connect(self.update)

    def room(self) -> QSize:
        """Return the largest size of a picture in the view, in device pixels."""
        size = self._room().size() * self.devicePixelRatioF()
        return size.expandedTo(QSize(1, 1))

    @property
    def image(self) -> QImage | None:
        """The image that is drawn, None for an empty sheet."""
        return self._image

    def show_image(self, image: QImage, shape: QSize) -> None:
        """Draw a picture; `shape` is its original size before scaling."""
        self._image = image
        self._shape = shape
        self.update()

    def show_sheet(self, shape: QSize) -> None:
        """Draw an empty sheet of this shape, for a picture without a preview yet."""
        self._image = None
        self._shape = shape
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Ask for a picture of the new size by emitting `resized`."""
        super().resizeEvent(event)
        self.resized.emit()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the picture in the middle."""
        colours = self._theme.colours
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(colours.canvas))
            target = self._target()
            if self._image is None:
                painter.fillRect(target, QColor(colours.window))
            else:
                painter.drawImage(target, self._image)
            painter.setPen(QPen(QColor(colours.border), 1))
            painter.drawRect(QRectF(target).adjusted(-0.5, -0.5, -0.5, -0.5))

    def _room(self) -> QRect:
        return self.rect().adjusted(L, L, -L, -L)

    def _target(self) -> QRect:
        return fitted(self._shape, self._room())
