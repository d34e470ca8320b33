"""The drawing of a LoRA file in the list: its picture, its name and a line about it."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ui.item_models.lora_item_model import ABOUT_ROLE, CHOSEN_ROLE, SUITED_ROLE
from ui.theme.metrics import ICON, LORA_PICTURE, RADIUS, XS, S
from ui.theme.theme import SCALES, Theme
from ui.widgets.placing import covering
from ui.widgets.tick_box import draw_tick

_UNSUITED = 0.35


class LoraDelegate(QStyledItemDelegate):
    """A delegate that draws a card; one that the checkpoint cannot use is faded."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        font = parent.font()
        lines = sum(QFontMetrics(one).height() for one in (font, _caption(font)))
        self.cell = QSize(LORA_PICTURE + 2 * S, LORA_PICTURE + 3 * S + lines)

    def sizeHint(  # noqa: N802 (Qt's name)
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the size that all cards have."""
        return self.cell

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw one card."""
        room: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        picture = QRect(room.left() + S, room.top() + S, LORA_PICTURE, LORA_PICTURE)
        is_suited = bool(index.data(SUITED_ROLE))
        self._draw_picture(painter, picture, index.data(Qt.ItemDataRole.DecorationRole), is_suited)
        if index.data(CHOSEN_ROLE):
            self._draw_mark(painter, picture)
        self._draw_ring(painter, picture, option)
        self._draw_words(painter, picture, option, index, is_suited)
        painter.restore()

    def _draw_picture(
        self, painter: QPainter, frame: QRect, pixmap: object, is_suited: bool
    ) -> None:
        colours = self._theme.colours
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(frame), RADIUS, RADIUS)
        painter.fillPath(shape, QColor(colours.surface))
        if isinstance(pixmap, QPixmap):
            painter.save()
            painter.setClipPath(shape)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.setOpacity(1.0 if is_suited else _UNSUITED)
            painter.drawPixmap(
                covering(pixmap.size(), QRectF(frame)), pixmap, QRectF(pixmap.rect())
            )
            painter.restore()
        else:
            place = QRect(0, 0, ICON, ICON)
            place.moveCenter(frame.center())
            self._theme.icon("picture", colours.muted).paint(painter, place)

    def _draw_mark(self, painter: QPainter, frame: QRect) -> None:
        """Draw a tick in the corner of a card that is in the form's list."""
        colours = self._theme.colours
        side = ICON + XS
        place = QRectF(frame.right() - side - XS, frame.top() + XS + 1, side, side)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent))
        painter.drawEllipse(place)
        draw_tick(painter, place, QColor(colours.on_accent))

    def _draw_ring(self, painter: QPainter, frame: QRect, option: QStyleOptionViewItem) -> None:
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        colours = self._theme.colours
        if state & QStyle.StateFlag.State_HasFocus:
            pen = QPen(QColor(colours.focus), 2.5)
        elif state & QStyle.StateFlag.State_Selected:
            pen = QPen(QColor(colours.accent), 2.5)
        elif state & QStyle.StateFlag.State_MouseOver:
            pen = QPen(QColor(colours.muted), 1.5)
        else:
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen)
        painter.drawRoundedRect(QRectF(frame).adjusted(-3, -3, 3, 3), RADIUS + 2, RADIUS + 2)

    def _draw_words(
        self,
        painter: QPainter,
        frame: QRect,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
        is_suited: bool,
    ) -> None:
        colours = self._theme.colours
        font = QFont(option.font)  # pyright: ignore[reportAttributeAccessIssue]
        top = frame.bottom() + S
        lines = (
            (index.data(Qt.ItemDataRole.DisplayRole), font, Qt.TextElideMode.ElideMiddle),
            (index.data(ABOUT_ROLE), _caption(font), Qt.TextElideMode.ElideRight),
        )
        shades = (colours.text if is_suited else colours.muted, colours.muted)
        for (text, shown, elide), shade in zip(lines, shades, strict=True):
            painter.setFont(shown)
            metrics = painter.fontMetrics()
            place = QRect(frame.left(), top, frame.width(), metrics.height())
            words = metrics.elidedText(str(text or "")[:300], elide, frame.width())
            painter.setPen(QColor(shade))
            painter.drawText(place, int(Qt.AlignmentFlag.AlignLeading), words)
            top += metrics.height()


def _caption(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(small.pointSizeF() * SCALES["caption"])
    return small
