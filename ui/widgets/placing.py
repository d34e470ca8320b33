"""The places of pictures and widgets in rooms of other shapes."""

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtWidgets import QStyle, QWidget


def fitted(size: QSize, room: QRect) -> QRect:
    """Return the largest centred rectangle of this shape inside a room."""
    target = QRect(QPoint(), size.scaled(room.size(), Qt.AspectRatioMode.KeepAspectRatio))
    target.moveCenter(room.center())
    return target


def covering(size: QSize, frame: QRectF) -> QRectF:
    """Return the smallest centred rectangle of this shape that covers a frame."""
    expanding = Qt.AspectRatioMode.KeepAspectRatioByExpanding
    target = QRectF(QPointF(), QSizeF(size).scaled(frame.size(), expanding))
    target.moveCenter(frame.center())
    return target


def put_in_corner(widget: QWidget, room: QRect, margin: int) -> None:
    """Place a widget in its own size into the lower corner at the end of a line.

    The margin at its sides is smaller where a narrow room would cut it.
    """
    corner = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
    size = widget.sizeHint()
    beside = min(margin, max(0, (room.width() - size.width()) // 2))
    inner = room.adjusted(beside, margin, -beside, -margin)
    widget.setGeometry(QStyle.alignedRect(widget.layoutDirection(), corner, size, inner))
