"""The rectangle for a picture in a room of another shape."""

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, QSizeF, Qt


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
