"""The places of the marks that a tile offers under the pointer: a heart, then five stars."""

from PySide6.QtCore import QPoint, QRect

from app.gallery.rows import MOST_STARS
from ui.theme.metrics import XS

# The heart; stars are 1 to 5.
HEART = 0
HEIGHT = 26
_MOST_PITCH = 20


def marks_place(picture: QRect, room: QRect, *, mirrored: bool) -> QRect:
    """Return where the marks lie: at the picture's lower edge, where lines begin.

    `room` is what the tile has for its picture; of a narrow picture the marks go beyond it.
    """
    pitch = min((room.width() - 2 * XS) // (MOST_STARS + 1), _MOST_PITCH)
    width = (MOST_STARS + 1) * pitch + 2 * XS
    place = QRect(picture.left(), picture.bottom() + 1 - HEIGHT, width, HEIGHT)
    if mirrored:
        place.moveRight(picture.right())
    place.moveLeft(min(max(place.left(), room.left()), room.right() + 1 - width))
    return place


def mark_place(marks: QRect, mark: int, *, mirrored: bool) -> QRect:
    """Return the place of a mark among all of them; it is as high as they are."""
    pitch = (marks.width() - 2 * XS) // (MOST_STARS + 1)
    number = MOST_STARS - mark if mirrored else mark
    return QRect(marks.left() + XS + number * pitch, marks.top(), pitch, marks.height())


def mark_at(marks: QRect, point: QPoint, *, mirrored: bool) -> int | None:
    """Return the mark at a point, the nearest within their badge; None elsewhere."""
    if not marks.contains(point):
        return None
    every = range(MOST_STARS + 1)
    away = [abs(mark_place(marks, n, mirrored=mirrored).center().x() - point.x()) for n in every]
    return away.index(min(away))
