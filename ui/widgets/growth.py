"""Growing a canvas by dragging its edges: where its handles are, and what a drag makes of it."""

import msgspec
from PySide6.QtCore import QPointF, QRectF, QSize, Qt

from app.form.sizes import CELL
from engine.api.limits import MAX_SIDE
from engine.api.masks import Margins

# The reach of an edge and of a corner, in device-independent pixels.
_EDGE, _CORNER = 10, 18


class Handle(msgspec.Struct, frozen=True):
    """An edge or a corner: -1 is left or top, 1 right or bottom, 0 the middle of an edge."""

    across: int
    down: int

    def place(self, canvas: QRectF) -> QPointF:
        """Return the handle's place on the edge of the canvas."""
        centre = canvas.center()
        return centre + QPointF(self.across * canvas.width() / 2, self.down * canvas.height() / 2)

    @property
    def cursor(self) -> Qt.CursorShape:
        """The pointer that says how the handle moves."""
        if not self.down:
            return Qt.CursorShape.SizeHorCursor
        if not self.across:
            return Qt.CursorShape.SizeVerCursor
        is_falling = self.across == self.down
        return Qt.CursorShape.SizeFDiagCursor if is_falling else Qt.CursorShape.SizeBDiagCursor

    def dragged(
        self, margins: Margins, by: QPointF, picture: QSize, multiple: int = CELL
    ) -> Margins:
        """Return the margins after a drag by pixels of the picture, as `whole_margin` does."""
        left, top, right, bottom = margins
        if self.across < 0:
            left = whole_margin(left - by.x(), right, picture.width(), multiple)
        elif self.across > 0:
            right = whole_margin(right + by.x(), left, picture.width(), multiple)
        if self.down < 0:
            top = whole_margin(top - by.y(), bottom, picture.height(), multiple)
        elif self.down > 0:
            bottom = whole_margin(bottom + by.y(), top, picture.height(), multiple)
        return left, top, right, bottom


HANDLES = tuple(
    Handle(across, down) for across in (-1, 0, 1) for down in (-1, 0, 1) if across or down
)


def whole_margin(wanted: float, opposite: int, side: int, multiple: int = CELL) -> int:
    """Return the margin nearest to the wanted one with which a canvas's side is possible.

    Possible are multiples of `multiple` pixels.
    """
    if wanted < multiple / 2:
        return 0
    most = max(MAX_SIDE - side - opposite, 0)
    whole = round((side + opposite + wanted) / multiple) * multiple
    return min(max(whole - side - opposite, 0), most)


def grown_size(picture: QSize, margins: Margins) -> QSize:
    """Return the size of a canvas with these margins around a picture."""
    left, top, right, bottom = margins
    return picture + QSize(left + right, top + bottom)


def handle_at(place: QPointF, canvas: QRectF) -> Handle | None:
    """Return the handle that is reached at a place; a corner before an edge."""
    for handle in HANDLES:
        away = place - handle.place(canvas)
        if handle.across and handle.down and max(abs(away.x()), abs(away.y())) <= _CORNER:
            return handle
    near = canvas.adjusted(-_EDGE, -_EDGE, _EDGE, _EDGE)
    if not near.contains(place):
        return None
    across = _side(place.x(), canvas.left(), canvas.right())
    down = _side(place.y(), canvas.top(), canvas.bottom())
    return Handle(across, 0) if across else Handle(0, down) if down else None


def _side(place: float, low: float, high: float) -> int:
    if abs(place - low) <= _EDGE:
        return -1
    return 1 if abs(place - high) <= _EDGE else 0
