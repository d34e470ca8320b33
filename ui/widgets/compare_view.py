"""A view of a picture that can be compared with another in the same place."""

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen

from ui.picture_levels import PictureLevels
from ui.theme.metrics import L, S
from ui.theme.theme import Theme
from ui.widgets.zoom_view import ZoomView, draw_levels

# The reach of the divider, in device-independent pixels.
_REACH = 8
_STEP = 0.05
_KEYS = {Qt.Key.Key_Left: -_STEP, Qt.Key.Key_Right: _STEP}


class CompareView(ZoomView):
    """A picture, and another at the left of a divider, which is dragged.

    While that is held only the other one is shown. It is the picture that this one was made from,
    or one that it is compared with.
    """

    # There is another picture to compare with, or none.
    other_changed = Signal()
    # The other picture is shown, or no longer: bool.
    held_changed = Signal(bool)

    def __init__(self, theme: Theme, margin: int = L) -> None:
        super().__init__(theme, margin)
        self._other: PictureLevels | None = None
        # The place of the other picture in this one, as fractions of its sides.
        self._part = QRectF(0, 0, 1, 1)
        self._is_compared = self._is_held = self._drags = False
        # The place of the divider, from 0 at the left to 1.
        self._divider = 0.5

    @property
    def has_other(self) -> bool:
        """True if there is a picture to compare with."""
        return self._other is not None

    @property
    def is_compared(self) -> bool:
        """True while the divider is shown."""
        return self._is_compared and self.has_other

    @property
    def is_held(self) -> bool:
        """True while only the other picture is shown."""
        return self._is_held

    def take_other(self, other: PictureLevels | None, part: QRectF) -> None:
        """Take the picture to compare with; `part` is its place in this one, in fractions."""
        self._other, self._part = other, part
        self.other_changed.emit()
        self.update()

    def compare(self, *, compares: bool) -> None:
        """Show or hide the divider."""
        self._is_compared, self._divider = compares, 0.5
        self.update()

    def hold_other(self, *, holds: bool) -> None:
        """Show only the other picture for as long as this is held."""
        self._is_held = holds and self.has_other
        self.update()
        self.held_changed.emit(self._is_held)

    # --- events ---

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Begin to drag the divider, or the picture."""
        if event.button() is Qt.MouseButton.LeftButton and self._is_near(event.position()):
            self._drags = True
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Move the divider, or the picture, with the pointer."""
        if not self._drags:
            super().mouseMoveEvent(event)
            return
        target = self.target
        self._move_divider((event.position().x() - target.left()) / target.width())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """End the dragging."""
        if not self._drags:
            super().mouseReleaseEvent(event)
        self._drags = False

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Move the divider by arrows."""
        key = Qt.Key(event.key())
        if key in _KEYS and self.is_compared and not self._viewport.can_pan:
            self._move_divider(self._divider + _KEYS[key])
        else:
            super().keyPressEvent(event)

    def _is_near(self, place: QPointF) -> bool:
        target = self.target
        x = target.left() + self._divider * target.width()
        return self.is_compared and abs(place.x() - x) <= _REACH

    def _move_divider(self, to: float) -> None:
        self._divider = min(max(to, 0.0), 1.0)
        self.update()

    # --- drawing ---

    def draw_picture(self, painter: QPainter, target: QRectF) -> None:
        """Draw the picture, and the other one at the left of the divider."""
        super().draw_picture(painter, target)
        if self._other is None or not (self._is_held or self.is_compared):
            return
        shown = QRectF(target)
        if not self._is_held:
            shown.setWidth(target.width() * self._divider)
        part = self._part
        place = QRectF(
            target.x() + part.x() * target.width(),
            target.y() + part.y() * target.height(),
            part.width() * target.width(),
            part.height() * target.height(),
        )
        painter.save()
        painter.setClipRect(shown)
        painter.fillRect(target, QColor(self._theme.colours.window))
        draw_levels(painter, self._other, place)
        painter.restore()

    def draw_over(self, painter: QPainter) -> None:
        """Draw the divider with its grip."""
        if not self.is_compared or self._is_held:
            return
        target = self.target
        x = target.left() + self._divider * target.width()
        top, bottom = max(target.top(), 0.0), min(target.bottom(), float(self.height()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for colour, width in ((Qt.GlobalColor.black, 3.0), (Qt.GlobalColor.white, 1.3)):
            painter.setPen(QPen(colour, width))
            painter.drawLine(QPointF(x, top), QPointF(x, bottom))
        grip = QRectF(x - S / 2, (top + bottom) / 2 - L / 2, S, L)
        painter.setPen(QPen(Qt.GlobalColor.black, 1))
        painter.setBrush(Qt.GlobalColor.white)
        painter.drawRoundedRect(grip, S / 2, S / 2)
