"""The drawing of an earlier prompt: two lines of it, what it avoids, and when it was used."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ui.item_models.prompt_item_model import NEGATIVE_ROLE, USED_ROLE
from ui.theme.fonts import scaled
from ui.theme.metrics import RADIUS, XS, S
from ui.theme.theme import Theme

AnyIndex = QModelIndex | QPersistentModelIndex


class PromptDelegate(QStyledItemDelegate):
    """A delegate that draws a prompt in one line and a muted caption below it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines = [
            QFontMetrics(font).height()
            for font in (parent.font(), scaled(parent.font(), "caption"))
        ]

    def sizeHint(  # noqa: N802 (Qt's name)
        self, option: QStyleOptionViewItem, index: AnyIndex
    ) -> QSize:
        """Return the size that all rows have."""
        return QSize(0, sum(self._lines) + 2 * S)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one prompt."""
        room: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        widget: QWidget = option.widget  # pyright: ignore[reportAttributeAccessIssue]
        colours = self._theme.colours
        is_chosen = bool(state & QStyle.StateFlag.State_Selected)
        is_hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_chosen or is_hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent if is_chosen else colours.hover))
            painter.drawRoundedRect(room, RADIUS, RADIUS)
        words = room.adjusted(S, S, -S, -S)
        first = QRect(words.left(), words.top(), words.width(), self._lines[0])
        second = QRect(words.left(), first.bottom() + 1, words.width(), self._lines[1])
        text = colours.on_accent if is_chosen else colours.text
        self._draw_line(painter, first, widget.font(), text, index.data() or "")
        negative = index.data(NEGATIVE_ROLE)
        used = index.data(USED_ROLE)
        caption = self.tr("{time} · without: {words}").format(time=used, words=negative)
        muted = colours.on_accent if is_chosen else colours.muted
        self._draw_line(
            painter, second, scaled(widget.font(), "caption"), muted, caption if negative else used
        )
        painter.restore()

    def _draw_line(
        self, painter: QPainter, room: QRect, font: QFont, colour: str, text: str
    ) -> None:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width() - XS)
        aligned = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
        painter.drawText(room, int(aligned), shown)
