"""The drawing of a name that completes a prompt: the name, and its kind at the other end."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ui.theme.fonts import scaled
from ui.theme.metrics import S
from ui.theme.theme import Theme

# The kind of a name, in words.
KIND_ROLE = Qt.ItemDataRole.UserRole
AnyIndex = QModelIndex | QPersistentModelIndex


class CompletionDelegate(QStyledItemDelegate):
    """A delegate that leaves a name less room, and writes its kind after it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._font = theme, scaled(parent.font(), "caption")

    def initStyleOption(  # noqa: N802 (Qt's name)
        self, option: QStyleOptionViewItem, index: AnyIndex
    ) -> None:
        """Cut the name where its kind begins."""
        super().initStyleOption(option, index)
        room: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        metrics: QFontMetrics = option.fontMetrics  # pyright: ignore[reportAttributeAccessIssue]
        left = room.width() - self._kind_width(index) - 4 * S
        cut = metrics.elidedText(index.data(), Qt.TextElideMode.ElideMiddle, left)
        option.text = cut  # pyright: ignore[reportAttributeAccessIssue]

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one name."""
        super().paint(painter, option, index)
        room: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        colours = self._theme.colours
        is_chosen = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setFont(self._font)
        painter.setPen(QColor(colours.on_accent if is_chosen else colours.muted))
        aligned = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing
        painter.drawText(room.adjusted(S, 0, -S, 0), int(aligned), index.data(KIND_ROLE))
        painter.restore()

    def _kind_width(self, index: AnyIndex) -> int:
        return QFontMetrics(self._font).horizontalAdvance(index.data(KIND_ROLE))
