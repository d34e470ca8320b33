"""The drawing of a model in the list: its picture or a sign of its kind, its name and a line."""

from zlib import crc32

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QLinearGradient,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine.api.model_files import ModelKind
from ui.item_models.model_item_model import BROKEN_ROLE, KIND_ROLE, LINE_ROLE
from ui.model_labels import ICONS, OTHER_ICON, kind_label
from ui.theme.metrics import ICON, MODEL_PICTURE, RADIUS, XS, L, M, S
from ui.theme.theme import SCALES, Theme
from ui.widgets.placing import covering

_HEIGHT = MODEL_PICTURE - L
_HUES = 360


class ModelDelegate(QStyledItemDelegate):
    """A delegate that draws a card."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        lines = sum(QFontMetrics(one).height() for one in _fonts(parent.font()))
        self.cell = QSize(MODEL_PICTURE + M, _HEIGHT + M + S + XS + lines)

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
        card = room.adjusted(XS, XS, -XS, -XS)
        self._draw_card(painter, card, option)
        picture = QRect(card.left() + XS, card.top() + XS, card.width() - S, _HEIGHT)
        self._draw_picture(painter, picture, index)
        self._draw_badge(painter, picture, index.data(KIND_ROLE))
        self._draw_words(painter, picture, option, index)
        painter.restore()

    def _draw_card(self, painter: QPainter, card: QRect, option: QStyleOptionViewItem) -> None:
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        colours = self._theme.colours
        fill, pen = colours.surface, QPen(QColor(colours.border), 1)
        if state & QStyle.StateFlag.State_MouseOver:
            fill, pen = colours.hover, QPen(QColor(colours.outline), 1)
        if state & QStyle.StateFlag.State_Selected:
            pen = QPen(QColor(colours.accent), 2)
        if state & QStyle.StateFlag.State_HasFocus:
            pen = QPen(QColor(colours.focus), 2)
        painter.setPen(pen)
        painter.setBrush(QColor(fill))
        painter.drawRoundedRect(QRectF(card), RADIUS + 2, RADIUS + 2)

    def _draw_picture(
        self, painter: QPainter, frame: QRect, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(frame), RADIUS, RADIUS)
        pixmap = index.data(Qt.ItemDataRole.DecorationRole)
        if isinstance(pixmap, QPixmap):
            painter.save()
            painter.setClipPath(shape)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            place = covering(pixmap.deviceIndependentSize().toSize(), QRectF(frame))
            painter.drawPixmap(place, pixmap, QRectF(pixmap.rect()))
            painter.restore()
            return
        is_broken = bool(index.data(BROKEN_ROLE))
        name = str(index.data(Qt.ItemDataRole.DisplayRole))
        painter.fillPath(shape, self._tint(name, frame, is_broken=is_broken))
        sign = "warning" if is_broken else ICONS.get(index.data(KIND_ROLE), OTHER_ICON)
        colours = self._theme.colours
        place = QRect(0, 0, 2 * ICON, 2 * ICON)
        place.moveCenter(frame.center())
        pixmap = self._theme.icon(sign, colours.error if is_broken else colours.muted).pixmap(
            QSize(ICON, ICON), 3.0
        )
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(QRectF(place), pixmap, QRectF(pixmap.rect()))

    def _tint(self, name: str, frame: QRect, *, is_broken: bool) -> QLinearGradient:
        """Return a quiet gradient that is always the same for a name."""
        colours = self._theme.colours
        base = QColor(colours.window)
        gradient = QLinearGradient(frame.topLeft(), frame.bottomRight())
        if is_broken:
            tint = QColor(colours.error_surface)
        else:
            hue = crc32(name.encode("utf-8", "replace")) % _HUES
            tint = QColor.fromHsl(hue, 70, 58 if base.lightness() < 128 else 214)
        gradient.setColorAt(0, tint)
        gradient.setColorAt(1, base)
        return gradient

    def _draw_badge(self, painter: QPainter, frame: QRect, kind: ModelKind) -> None:
        """Draw the name of the kind over the picture's lower corner."""
        colours = self._theme.colours
        font = _fonts(painter.font())[1]
        painter.setFont(font)
        words = kind_label(kind)
        size = QSize(
            painter.fontMetrics().horizontalAdvance(words) + S + XS,
            painter.fontMetrics().height() + XS,
        )
        place = QRect(frame.left() + XS, frame.bottom() - size.height() - XS + 1, 0, 0)
        place.setSize(size)
        fill = QColor(colours.canvas)
        fill.setAlpha(225)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawRoundedRect(QRectF(place), XS, XS)
        painter.setPen(QColor(colours.text))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), words)

    def _draw_words(
        self,
        painter: QPainter,
        frame: QRect,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        colours = self._theme.colours
        fonts = _fonts(option.font)  # pyright: ignore[reportAttributeAccessIssue]
        top = frame.bottom() + S
        lines = (
            (index.data(Qt.ItemDataRole.DisplayRole), Qt.TextElideMode.ElideMiddle, colours.text),
            (
                index.data(LINE_ROLE),
                Qt.TextElideMode.ElideRight,
                colours.error if index.data(BROKEN_ROLE) else colours.muted,
            ),
        )
        for (text, elide, shade), font in zip(lines, fonts, strict=True):
            painter.setFont(font)
            metrics = painter.fontMetrics()
            place = QRect(frame.left() + XS, top, frame.width() - S, metrics.height())
            words = metrics.elidedText(str(text or "")[:300], elide, place.width())
            painter.setPen(QColor(shade))
            painter.drawText(place, int(Qt.AlignmentFlag.AlignLeading), words)
            top += metrics.height()


def _fonts(font: QFont) -> tuple[QFont, QFont]:
    """Return the fonts of a card's name and of the line below it."""
    name, small = QFont(font), QFont(font)
    name.setWeight(QFont.Weight.DemiBold)
    small.setPointSizeF(small.pointSizeF() * SCALES["caption"])
    return name, small
