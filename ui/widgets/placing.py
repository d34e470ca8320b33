"""The rectangle for a picture in a room of another shape."""

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, QSizeF, Qt


def fitted(size: QSize, room: QRect) -> QRect:
    """The largest place of this shape in the middle of a room: all of it is seen."""
    target = QRect(QPoint(), size.scaled(room.size(), Qt.AspectRatioMode.KeepAspectRatio))
    target.moveCenter(room.center())
    return target


def covering(size: QSize, frame: QRectF) -> QRectF:
    """The least place of this shape that hides a frame: the middle of it is seen."""
    expanding = Qt.AspectRatioMode.KeepAspectRatioByExpanding
    target = QRectF(QPointF(), QSizeF(size).scaled(frame.size(), expanding))
    target.moveCenter(frame.center())
    return target
