"""The coloured overlay that shows a mask, with the soft edge that the engine gives it."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter

from ui.masks import veil


class MaskVeil:
    """An overlay that is renewed in the part where the mask was drawn on.

    Drawn in cells of twice the blur and enlarged smoothly, a mask looks as blurred as by a
    Gaussian of that standard deviation.
    """

    def __init__(self) -> None:
        self._image = QImage()
        self._mask = QSize()
        self._cell = 1
        self._colour = ""

    def take(self, mask: QImage, colour: str, blur: float) -> None:
        """Show all of a mask in a colour; `blur` is in the mask's pixels."""
        self._cell, self._colour, self._mask = max(1, round(2 * blur)), colour, mask.size()
        width, height = mask.size().toTuple()
        self._image = self._part(
            mask, QRect(0, 0, -(-width // self._cell), -(-height // self._cell))
        )

    def renew(self, mask: QImage, part: QRect) -> None:
        """Show the mask anew in this part."""
        cell = self._cell
        cells = QRect(
            part.left() // cell,
            part.top() // cell,
            part.right() // cell - part.left() // cell + 1,
            part.bottom() // cell - part.top() // cell + 1,
        )
        with QPainter(self._image) as painter:
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
            painter.drawImage(cells.topLeft(), self._part(mask, cells))

    def _part(self, mask: QImage, cells: QRect) -> QImage:
        """Return the overlay of these cells."""
        cell = self._cell
        source = mask.copy(
            cells.x() * cell, cells.y() * cell, cells.width() * cell, cells.height() * cell
        )
        if cell > 1:
            smooth = Qt.TransformationMode.SmoothTransformation
            whole = Qt.AspectRatioMode.IgnoreAspectRatio
            source = source.scaled(cells.size(), whole, smooth)
        return veil(source, self._colour)

    def draw(self, painter: QPainter, place: QRectF) -> None:
        """Draw over the picture in this place."""
        cell = self._cell
        shown = QRectF(0, 0, self._mask.width() / cell, self._mask.height() / cell)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(place, self._image, shown)
