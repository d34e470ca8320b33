"""The drawing of a model in the list: its picture or a sign of its kind, its name and a line."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QWidget

from engine.api.model_files import ModelKind
from ui.delegates.card_delegate import AnyIndex, CardDelegate, Line
from ui.item_models.model_item_model import BROKEN_ROLE, KIND_ROLE, LINE_ROLE
from ui.model_labels import ICONS, OTHER_ICON, kind_label
from ui.theme.fonts import scaled
from ui.theme.metrics import MODEL_PICTURE, RADIUS, XS, L, M, S
from ui.theme.theme import Theme

_HEIGHT = MODEL_PICTURE - L


class ModelDelegate(CardDelegate):
    """A delegate that draws a card."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        room = QSize(MODEL_PICTURE + M, _HEIGHT + M + S + XS)
        super().__init__(theme, parent, room, QFont.Weight.DemiBold)

    def draw(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one card."""
        room: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        card = room.adjusted(XS, XS, -XS, -XS)
        self._draw_card(painter, card, option)
        picture = QRect(card.left() + XS, card.top() + XS, card.width() - S, _HEIGHT)
        self._draw_picture(painter, picture, index)
        self._draw_badge(painter, picture, index.data(KIND_ROLE))
        colours, elide = self.theme.colours, Qt.TextElideMode
        shade = colours.error if index.data(BROKEN_ROLE) else colours.muted
        lines = (
            Line(str(index.data() or ""), elide.ElideMiddle, colours.text),
            Line(str(index.data(LINE_ROLE) or ""), elide.ElideRight, shade),
        )
        place = picture.translated(0, _HEIGHT - 1 + S).adjusted(XS, 0, -XS, 0)
        font: QFont = option.font  # pyright: ignore[reportAttributeAccessIssue]
        self.draw_words(painter, place, font, lines)

    def _draw_card(self, painter: QPainter, card: QRect, option: QStyleOptionViewItem) -> None:
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        colours = self.theme.colours
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

    def _draw_picture(self, painter: QPainter, frame: QRect, index: AnyIndex) -> None:
        pixmap = index.data(Qt.ItemDataRole.DecorationRole)
        if isinstance(pixmap, QPixmap):
            self.draw_pixmap(painter, frame, pixmap)
            return
        is_broken = bool(index.data(BROKEN_ROLE))
        name = str(index.data(Qt.ItemDataRole.DisplayRole))
        sign = "warning" if is_broken else ICONS.get(index.data(KIND_ROLE), OTHER_ICON)
        self.draw_sign(painter, frame, name, sign, is_broken=is_broken)

    def _draw_badge(self, painter: QPainter, frame: QRect, kind: ModelKind) -> None:
        """Draw the name of the kind over the lower corner where lines of text begin."""
        colours = self.theme.colours
        painter.setFont(scaled(painter.font(), "caption"))
        words = kind_label(kind)
        size = QSize(
            painter.fontMetrics().horizontalAdvance(words) + S + XS,
            painter.fontMetrics().height() + XS,
        )
        place = QRect(frame.left() + XS, frame.bottom() - size.height() - XS + 1, 0, 0)
        place.setSize(size)
        place = QStyle.visualRect(painter.layoutDirection(), frame, place)
        fill = QColor(colours.canvas)
        fill.setAlpha(225)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawRoundedRect(QRectF(place), XS, XS)
        painter.setPen(QColor(colours.text))
        painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), words)
