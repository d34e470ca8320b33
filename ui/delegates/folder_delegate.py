"""The drawing of a folder in a list: its sign, its name, and a number at the end of the row."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ui.theme.fonts import scaled
from ui.theme.metrics import CONTROL_HEIGHT, ICON, M, S
from ui.theme.theme import Theme

# An item role: the text at the end of the row.
NOTE_ROLE = Qt.ItemDataRole.UserRole + 1
_AnyIndex = QModelIndex | QPersistentModelIndex


class FolderDelegate(QStyledItemDelegate):
    """A delegate of rows that are all of one height; a long name leaves room for the note."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._font = scaled(parent.font(), "caption")

    def sizeHint(  # noqa: N802 (Qt's name)
        self, option: QStyleOptionViewItem, index: _AnyIndex
    ) -> QSize:
        """Return the size that all rows have."""
        return QSize(0, CONTROL_HEIGHT)

    def initStyleOption(  # noqa: N802 (Qt's name)
        self, option: QStyleOptionViewItem, index: _AnyIndex
    ) -> None:
        """Shorten the name until the note has room."""
        super().initStyleOption(option, index)
        room: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        metrics: QFontMetrics = option.fontMetrics  # pyright: ignore[reportAttributeAccessIssue]
        note = QFontMetrics(self._font).horizontalAdvance(_note(index))
        left = room.width() - ICON - note - M - 2 * S
        option.text = metrics.elidedText(  # pyright: ignore[reportAttributeAccessIssue]
            str(index.data()), Qt.TextElideMode.ElideMiddle, left
        )

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _AnyIndex) -> None:
        """Draw one row."""
        super().paint(painter, option, index)
        room: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        painter.save()
        painter.setFont(self._font)
        painter.setPen(QColor(self._theme.colours.muted))
        trailing = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room.adjusted(S, 0, -S, 0), int(trailing), _note(index))
        painter.restore()


def _note(index: _AnyIndex) -> str:
    return str(index.data(NOTE_ROLE) or "")
