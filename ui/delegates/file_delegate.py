"""The drawing of a folder's entries: pictures as cards, other files as rows."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QWidget

from ui.delegates.card_delegate import AnyIndex, CardDelegate, Line, rounded
from ui.files.item_model import ABOUT_ROLE, FOLDER_ROLE
from ui.theme.metrics import ICON, LORA_PICTURE, XS, M, S
from ui.theme.theme import Theme

_ROW_WIDTH = 260


class FileDelegate(CardDelegate):
    """A delegate of entries; the chosen one lies on a ground of its own."""

    def draw(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one entry."""
        room: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue]
        font: QFont = option.font  # pyright: ignore[reportAttributeAccessIssue]
        self._draw_ground(painter, room.adjusted(2, 2, -2, -2), option)
        colours = self.theme.colours
        lines = (
            Line(str(index.data() or ""), Qt.TextElideMode.ElideMiddle, colours.text),
            Line(str(index.data(ABOUT_ROLE) or ""), Qt.TextElideMode.ElideRight, colours.muted),
        )
        sign, words = self.places(room)
        direction: Qt.LayoutDirection = option.direction  # pyright: ignore[reportAttributeAccessIssue]
        self.draw_sign_of(painter, QStyle.visualRect(direction, room, sign), index)
        self.draw_words(painter, QStyle.visualRect(direction, room, words), font, lines)

    def places(self, room: QRect) -> tuple[QRect, QRect]:
        """Return the places of an entry's sign and of its words, for words from left to right."""
        raise NotImplementedError

    def draw_sign_of(self, painter: QPainter, place: QRect, index: AnyIndex) -> None:
        """Draw an entry's picture or icon."""
        raise NotImplementedError

    def _draw_ground(self, painter: QPainter, place: QRect, option: QStyleOptionViewItem) -> None:
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        colours = self.theme.colours
        is_chosen = bool(state & QStyle.StateFlag.State_Selected)
        if is_chosen or state & QStyle.StateFlag.State_MouseOver:
            ground = colours.hover if is_chosen else colours.surface
            painter.fillPath(rounded(place), QColor(ground))
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(colours.focus), 2))
            painter.drawPath(rounded(place.adjusted(1, 1, -1, -1)))


class PictureFileDelegate(FileDelegate):
    """A delegate that draws cards with thumbnails."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(LORA_PICTURE + 2 * S, LORA_PICTURE + 3 * S))

    def places(self, room: QRect) -> tuple[QRect, QRect]:
        """Return the places of a square, and of the words below it."""
        frame = QRect(0, room.top() + S, LORA_PICTURE, LORA_PICTURE)
        frame.moveLeft(room.center().x() - LORA_PICTURE // 2)
        words = QRect(frame.left(), frame.bottom() + S, frame.width() + S, room.height())
        return frame, words

    def draw_sign_of(self, painter: QPainter, place: QRect, index: AnyIndex) -> None:
        """Draw an entry's thumbnail, or a large icon."""
        pixmap = index.data(Qt.ItemDataRole.DecorationRole)
        if isinstance(pixmap, QPixmap):
            self.draw_pixmap(painter, place, pixmap)
        else:
            icon = "folder" if index.data(FOLDER_ROLE) else "picture"
            self.draw_sign(painter, place, str(index.data() or ""), icon)


class RowFileDelegate(FileDelegate):
    """A delegate that draws rows in columns, for files without a picture."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, QSize(_ROW_WIDTH, M))

    def places(self, room: QRect) -> tuple[QRect, QRect]:
        """Return the places of an icon, and of the words after it."""
        sign = QRect(room.left() + S, 0, ICON + XS, ICON + XS)
        sign.moveTop(room.center().y() - sign.height() // 2)
        words = room.adjusted(0, S, -S, 0)
        words.setLeft(sign.right() + S)
        return sign, words

    def draw_sign_of(self, painter: QPainter, place: QRect, index: AnyIndex) -> None:
        """Draw an entry's icon."""
        icon = "folder" if index.data(FOLDER_ROLE) else "file"
        self.theme.icon(icon, self.theme.colours.muted).paint(painter, place)
