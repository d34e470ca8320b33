"""The drawing of a job in the queue: its picture so far, its prompt, its settings, its state."""

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.queue.jobs import JobState
from ui.item_models.queue_item_model import ROW_ROLE, QueueRow
from ui.theme.fonts import scaled
from ui.theme.metrics import ICON, QUEUE_PICTURE, RADIUS, XS, S
from ui.theme.theme import Theme
from ui.widgets.placing import covering

# Places a rectangle as the direction of the text asks.
Placed = Callable[[QRect], QRect]
# The most that a remark takes beside the first line, in pixels.
_REMARK_WIDTH = 72
_BAR = 3
_GRIP = 12


class QueueDelegate(QStyledItemDelegate):
    """A delegate that draws rows of one height."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(  # noqa: N802 (Qt's name)
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the size that all rows have."""
        return QSize(0, QUEUE_PICTURE + 2 * S)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw one row, mirrored where the text goes from right to left."""
        row = index.data(ROW_ROLE)
        if not isinstance(row, QueueRow):
            return
        room: QRect = option.rect.adjusted(XS, 2, -XS, -2)  # pyright: ignore[reportAttributeAccessIssue]
        direction: Qt.LayoutDirection = option.direction  # pyright: ignore[reportAttributeAccessIssue]
        state: QStyle.StateFlag = option.state  # pyright: ignore[reportAttributeAccessIssue]
        font: QFont = option.font  # pyright: ignore[reportAttributeAccessIssue]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_ground(painter, room, state)

        def placed(rect: QRect) -> QRect:
            return QStyle.visualRect(direction, room, rect)

        left = room.left() + XS
        if row.job.state is JobState.WAITING:
            self._draw_grip(painter, placed(QRect(left, room.top(), _GRIP, room.height())))
        left += _GRIP
        frame = QRect(left, 0, QUEUE_PICTURE, QUEUE_PICTURE)
        frame.moveCenter(QRect(left, room.top(), QUEUE_PICTURE, room.height()).center())
        self._draw_picture(painter, placed(frame), row)
        left += QUEUE_PICTURE + S
        words = QRect(left, room.top() + XS, room.right() - left - S, room.height() - 2 * XS)
        self._draw_words(painter, words, placed, font, row)
        painter.restore()

    def _draw_ground(self, painter: QPainter, room: QRect, state: QStyle.StateFlag) -> None:
        colours = self._theme.colours
        if state & QStyle.StateFlag.State_Selected:
            painter.setBrush(QColor(colours.hover))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(QColor(colours.surface))
        else:
            painter.setBrush(Qt.BrushStyle.NoBrush)
        focused = state & QStyle.StateFlag.State_HasFocus
        painter.setPen(QPen(QColor(colours.focus), 2) if focused else Qt.PenStyle.NoPen)
        painter.drawRoundedRect(QRectF(room).adjusted(1, 1, -1, -1), RADIUS, RADIUS)

    def _draw_grip(self, painter: QPainter, room: QRect) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.colours.outline))
        middle = QPointF(room.center())
        for across in (-2.5, 2.5):
            for down in (-5, 0, 5):
                painter.drawEllipse(middle + QPointF(across, down), 1.3, 1.3)

    def _draw_picture(self, painter: QPainter, frame: QRect, row: QueueRow) -> None:
        colours = self._theme.colours
        if row.picture is not None:
            shape = QPainterPath()
            shape.addRoundedRect(QRectF(frame), RADIUS, RADIUS)
            painter.save()
            painter.setClipPath(shape)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            place = covering(row.picture.size(), QRectF(frame))
            painter.drawPixmap(place, row.picture, QRectF(row.picture.rect()))
            painter.restore()
            return
        # Until there is a picture, an empty sheet of its shape.
        width, height = row.shape
        scale = (QUEUE_PICTURE - XS) / max(width, height, 1)
        sheet = QRectF(0, 0, max(width * scale, 8), max(height * scale, 8))
        sheet.moveCenter(QRectF(frame).center())
        failed = row.job.state is JobState.FAILED
        painter.setPen(QPen(QColor(colours.error if failed else colours.outline), 1))
        painter.setBrush(QColor(colours.error_surface if failed else colours.surface))
        painter.drawRoundedRect(sheet, XS, XS)
        if failed:
            icon = QRect(0, 0, ICON, ICON)
            icon.moveCenter(frame.center())
            self._theme.icon("warning", colours.error).paint(painter, icon)

    def _draw_words(
        self, painter: QPainter, room: QRect, placed: Placed, font: QFont, row: QueueRow
    ) -> None:
        colours = self._theme.colours
        small = scaled(font, "caption")
        failed = row.job.state is JobState.FAILED
        remark = QFontMetrics(small).horizontalAdvance(row.remark)
        beside = 0 if failed or not row.remark else min(remark + S, _REMARK_WIDTH)
        half = room.height() // 2
        lines = [
            (QRect(room.left(), room.top(), room.width() - beside, half), font, colours.text),
            (QRect(room.left(), room.top() + half, room.width(), half), small, ""),
        ]
        texts = (row.title, row.remark if failed else row.about)
        for (place, used, colour), text in zip(lines, texts, strict=True):
            shade = colour or (colours.error if failed else colours.muted)
            self._write(painter, placed(place), used, shade, text)
        if not failed:
            place = QRect(room.right() + 1 - beside, room.top(), beside, half)
            shade = colours.accent if row.fraction is not None else colours.muted
            self._write(painter, placed(place), small, shade, row.remark, at_end=True)
        if row.fraction is not None:
            self._draw_bar(painter, placed, room, row.fraction)

    def _draw_bar(self, painter: QPainter, placed: Placed, room: QRect, done: float) -> None:
        colours = self._theme.colours
        bar = QRect(room.left(), room.bottom() - 1, room.width(), _BAR)
        painter.fillRect(placed(bar), QColor(colours.border))
        bar.setWidth(round(room.width() * done))
        painter.fillRect(placed(bar), QColor(colours.accent))

    def _write(
        self,
        painter: QPainter,
        place: QRect,
        font: QFont,
        colour: str,
        text: str,
        *,
        at_end: bool = False,
    ) -> None:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        # A prompt may have line breaks; only the beginning is visible.
        line = " ".join(text[:400].split())
        shown = painter.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, place.width())
        mirrored = painter.layoutDirection() is Qt.LayoutDirection.RightToLeft
        side = Qt.AlignmentFlag.AlignRight if at_end is not mirrored else Qt.AlignmentFlag.AlignLeft
        painter.drawText(
            place, int(side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter), shown
        )
