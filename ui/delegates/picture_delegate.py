"""The drawing of a picture in the strip: rounded, with a ring around the shown one."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ui.item_models.output_picture_item_model import BROKEN_ROLE
from ui.theme.metrics import ICON, RADIUS, THUMBNAIL, THUMBNAIL_LEAST, XS
from ui.theme.theme import Theme
from ui.widgets.placing import covering

CELL, CELL_LEAST = THUMBNAIL + 2 * XS, THUMBNAIL_LEAST + 2 * XS


class PictureDelegate(QStyledItemDelegate):
    """A delegate that draws thumbnails, and an empty frame for one that is still being read."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        # The width and the height of all cells.
        self.cell = CELL

    def sizeHint(  # noqa: N802 (Qt's name)
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the size that all cells have."""
        return QSize(self.cell, self.cell)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw one picture."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame: QRect = option.rect.adjusted(XS, XS, -XS, -XS)  # pyright: ignore[reportAttributeAccessIssue]
        pixmap = index.data(Qt.ItemDataRole.DecorationRole)
        if isinstance(pixmap, QPixmap):
            self._draw_picture(painter, frame, pixmap)
        else:
            self._draw_empty(painter, frame, broken=bool(index.data(BROKEN_ROLE)))
        self._draw_ring(painter, frame, option)
        painter.restore()

    def _draw_picture(self, painter: QPainter, frame: QRect, pixmap: QPixmap) -> None:
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(frame), RADIUS, RADIUS)
        painter.setClipPath(shape)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        # The picture fills its cell; one that is not square is cropped to its middle.
        target = covering(pixmap.size(), QRectF(frame))
        painter.drawPixmap(target, pixmap, QRectF(pixmap.rect()))
        painter.setClipping(False)

    def _draw_empty(self, painter: QPainter, frame: QRect, *, broken: bool) -> None:
        colours = self._theme.colours
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(QColor(colours.surface)))
        painter.drawRoundedRect(frame, RADIUS, RADIUS)
        if broken:
            place = QRect(0, 0, ICON, ICON)
            place.moveCenter(frame.center())
            self._theme.icon("warning", colours.muted).paint(painter, place)

    def _draw_ring(self, painter: QPainter, frame: QRect, option: QStyleOptionViewItem) -> None:
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        selected = bool(state & QStyle.StateFlag.State_Selected)
        focused = bool(state & QStyle.StateFlag.State_HasFocus)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        if not (selected or focused or hovered):
            return
        colours = self._theme.colours
        colour = colours.accent if selected else colours.text if focused else colours.muted
        width = 2.5 if selected else 1.5
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colour), width))
        painter.drawRoundedRect(QRectF(frame).adjusted(-2, -2, 2, 2), RADIUS + 2, RADIUS + 2)
        if focused and selected:
            painter.setPen(QPen(QColor(colours.text), 1, Qt.PenStyle.DotLine))
            painter.drawRoundedRect(QRectF(frame).adjusted(1, 1, -1, -1), RADIUS, RADIUS)
