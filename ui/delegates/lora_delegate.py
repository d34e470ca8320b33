"""The drawing of a LoRA file in the list: its picture, its name and a line about it."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QWidget

from engine.api.model_files import ModelKind
from ui.delegates.card_delegate import AnyIndex, CardDelegate, Line
from ui.item_models.lora_item_model import ABOUT_ROLE, CHOSEN_ROLE, SUITED_ROLE
from ui.model_labels import ICONS
from ui.theme.metrics import ICON, LORA_PICTURE, RADIUS, XS, S
from ui.theme.theme import Theme
from ui.widgets.tick_box import draw_tick

_UNSUITED = 0.35


class LoraDelegate(CardDelegate):
    """A delegate that draws a card; one that the checkpoint cannot use is faded."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(LORA_PICTURE + 2 * S, LORA_PICTURE + 3 * S))

    def draw(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one card."""
        room: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        picture = QRect(room.left() + S, room.top() + S, room.width() - 2 * S, LORA_PICTURE)
        is_suited = bool(index.data(SUITED_ROLE))
        self._draw_picture(painter, picture, index)
        if index.data(CHOSEN_ROLE):
            self._draw_mark(painter, picture)
        self._draw_ring(painter, picture, option)
        colours, elide = self.theme.colours, Qt.TextElideMode
        name, about = str(index.data() or ""), str(index.data(ABOUT_ROLE) or "")
        shade = colours.text if is_suited else colours.muted
        lines = (
            Line(name, elide.ElideMiddle, shade),
            Line(about, elide.ElideRight, colours.muted),
        )
        place = picture.translated(0, LORA_PICTURE - 1 + S)
        font: QFont = option.font  # pyright: ignore[reportAttributeAccessIssue]
        self.draw_words(painter, place, font, lines)

    def _draw_picture(self, painter: QPainter, frame: QRect, index: AnyIndex) -> None:
        pixmap = index.data(Qt.ItemDataRole.DecorationRole)
        if isinstance(pixmap, QPixmap):
            opacity = 1.0 if index.data(SUITED_ROLE) else _UNSUITED
            self.draw_pixmap(painter, frame, pixmap, opacity)
        else:
            self.draw_sign(painter, frame, str(index.data() or ""), ICONS[ModelKind.LORA])

    def _draw_mark(self, painter: QPainter, frame: QRect) -> None:
        """Draw a tick in the corner of a card that is in the form's list."""
        colours = self.theme.colours
        side = ICON + XS
        place = QRectF(frame.right() - side - XS, frame.top() + XS + 1, side, side)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent))
        painter.drawEllipse(place)
        draw_tick(painter, place, QColor(colours.on_accent))

    def _draw_ring(self, painter: QPainter, frame: QRect, option: QStyleOptionViewItem) -> None:
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        colours = self.theme.colours
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
