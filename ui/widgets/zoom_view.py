"""A view of a picture that is zoomed by the wheel and by keys, and panned or taken by dragging."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QImage,
    QInputDevice,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from ui.action_names import ActionName
from ui.keys import bind_key
from ui.picture_levels import PictureLevels
from ui.theme.metrics import L
from ui.theme.theme import Theme
from ui.widgets.viewport import ViewPoint, Viewport

if TYPE_CHECKING:
    from ui.widgets.map_veil import MapVeil

# The factor of a notch of the wheel, which is an angle of 120.
_NOTCH, _NOTCH_ANGLE = 1.25, 120
# The part of the view that an arrow key moves by, in device-independent pixels.
_ARROW = 64
# From this scale on pixels are drawn as squares, so that each can be seen.
_SQUARES = 4.0
_ARROWS = {
    Qt.Key.Key_Left: QPointF(_ARROW, 0),
    Qt.Key.Key_Right: QPointF(-_ARROW, 0),
    Qt.Key.Key_Up: QPointF(0, _ARROW),
    Qt.Key.Key_Down: QPointF(0, -_ARROW),
}
_NO_KEYS_HELD = Qt.KeyboardModifier.NoModifier
_KEYPAD = Qt.KeyboardModifier.KeypadModifier
_PANNING = (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton)


class ZoomView(QWidget):
    """A picture, or an empty sheet of its shape, fitted or zoomed.

    100 % is a device pixel for each pixel of the picture, so that it is sharp on any screen. The
    wheel zooms at the pointer, keys in steps, a touchpad's scrolling and arrow keys pan, a double
    click goes from fitted to 100 % and back. The mouse pans a picture that is larger than
    the view, and takes hold of any other.
    """

    # The `ViewPoint` that the user went to; other views may `go_to` it.
    view_changed = Signal(object)
    # The scale, in device pixels for each pixel of the picture, may have changed for any reason.
    scale_changed = Signal()
    # The mouse drags the picture as such. Emits it as a small QPixmap.
    taken = Signal(object)

    def __init__(self, theme: Theme, margin: int = L, parent: QWidget | None = None) -> None:
        """`margin` is kept free around a fitted picture, in device-independent pixels."""
        super().__init__(parent)
        self._theme = theme
        self._levels: PictureLevels | None = None
        self._viewport = Viewport(margin)
        # The pointer's last place while it drags the picture.
        self._dragged: QPointF | None = None
        # The place where the mouse took hold of the picture, until it moves away with it.
        self._held: QPointF | None = None
        self._over: MapVeil | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(128, 128)
        # Not by the wheel: what is typed next would go here.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Picture"))
        bind_key(self, ActionName.CLOSER, self.zoom_in)
        bind_key(self, ActionName.FARTHER, self.zoom_out)
        theme.changed.connect(self.update)

    # --- what is shown ---

    @property
    def image(self) -> QImage | None:
        """The picture that is drawn, None for an empty sheet."""
        return self._levels and self._levels.image

    @property
    def room(self) -> QSize:
        """The view's size in device pixels."""
        return self.size() * self.devicePixelRatioF()

    def show_picture(self, levels: PictureLevels, shape: QSize) -> None:
        """Draw a picture; `shape` is its size in full, which `levels` may fall short of."""
        self._show(levels, shape)

    def lay_over(self, over: "MapVeil | None") -> None:
        """Draw a control layer's map over the picture from now on; None for none."""
        self._over = over
        self.update()

    def show_sheet(self, shape: QSize) -> None:
        """Draw an empty sheet of this shape, for a picture that is not there yet."""
        self._show(None, shape)

    def _show(self, levels: PictureLevels | None, shape: QSize) -> None:
        self._levels = levels
        self._viewport.take_picture(shape)
        self._on_scale()

    # --- the part that is shown ---

    @property
    def scale(self) -> float:
        """The device pixels that a pixel of the picture takes: 1 is 100 %."""
        return self._viewport.scale

    @property
    def is_fitted(self) -> bool:
        """True while the whole picture is fitted into the view."""
        return self._viewport.is_fitted

    @property
    def point(self) -> ViewPoint:
        """The part of the picture that is shown."""
        return self._viewport.point

    def go_to(self, point: ViewPoint) -> None:
        """Show a part of the picture, without emitting `view_changed`."""
        self._viewport.go_to(point)
        self._on_scale()

    def fit(self) -> None:
        """Fit the picture into the view."""
        self._viewport.fit()
        self._on_moved()

    def show_actual_size(self, at: QPointF | None = None) -> None:
        """Zoom to 100 %, around a place of the view."""
        self._zoom_to(1.0, at)

    def toggle_fit(self, at: QPointF | None = None) -> None:
        """Go from the fitted picture to 100 %, and from any other zoom to the fitted picture."""
        if self.is_fitted:
            self.show_actual_size(at)
        else:
            self.fit()

    def zoom_in(self) -> None:
        """Zoom to the next larger step."""
        self._zoom_to(self._viewport.next_scale(larger=True))

    def zoom_out(self) -> None:
        """Zoom to the next smaller step."""
        self._zoom_to(self._viewport.next_scale(larger=False))

    def to_picture(self, place: QPointF) -> QPointF:
        """Return the point of the picture, in its pixels, at a place of the view."""
        return self._viewport.to_picture(place * self.devicePixelRatioF())

    @property
    def target(self) -> QRectF:
        """The place of the whole picture, in device-independent pixels."""
        target, ratio = self._viewport.target, self.devicePixelRatioF()
        return QRectF(target.topLeft() / ratio, target.size() / ratio)

    def _zoom_to(self, scale: float, at: QPointF | None = None) -> None:
        ratio = self.devicePixelRatioF()
        self._viewport.zoom_to(scale, None if at is None else at * ratio)
        self._on_moved()

    def _pan(self, by: QPointF) -> None:
        self._viewport.pan(by * self.devicePixelRatioF())
        self._on_moved()

    def _on_moved(self) -> None:
        self._on_scale()
        self.view_changed.emit(self.point)

    def _on_scale(self) -> None:
        self._show_cursor()
        self.update()
        self.scale_changed.emit()

    def _show_cursor(self) -> None:
        """Show what the left mouse button would do; subclasses override it."""
        if self._dragged is not None:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        elif self._viewport.can_pan:
            self.setCursor(Qt.CursorShape.OpenHandCursor)
        else:
            self.unsetCursor()

    # --- events ---

    def event(self, event: QEvent) -> bool:
        """Zoom by a pinch on a touchpad; follow the screen; keep the arrows that pan."""
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() is Qt.NativeGestureType.ZoomNativeGesture:
                self._zoom_to(self.scale * (1 + event.value()), event.position())
                return True
        elif event.type() is QEvent.Type.DevicePixelRatioChange:
            self._take_size()
        elif event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_plain = event.modifiers() in (_NO_KEYS_HELD, _KEYPAD)
            if is_plain and event.key() in _ARROWS and self._viewport.can_pan:
                event.accept()
                return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Keep the picture fitted, or its scale and the point in the middle."""
        super().resizeEvent(event)
        self._take_size()

    def _take_size(self) -> None:
        self._viewport.resize(self.size(), self.devicePixelRatioF())
        self._on_scale()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 (Qt's name)
        """Zoom at the pointer by a wheel, pan by a touchpad's scrolling or with Shift held."""
        angle = event.angleDelta()
        modifiers = event.modifiers()
        if modifiers & Qt.KeyboardModifier.ShiftModifier:
            # Some systems turn the direction themselves while Shift is held.
            self._pan(QPointF(angle.x() or angle.y(), 0))
        elif _is_scrolling(event) and not modifiers & Qt.KeyboardModifier.ControlModifier:
            self._pan(QPointF(_moved(event)))
        else:
            self._zoom_to(self.scale * _NOTCH ** (angle.y() / _NOTCH_ANGLE), event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Begin to drag a picture that is larger than the view, or take hold of another."""
        is_left = event.button() is Qt.MouseButton.LeftButton
        if event.button() in _PANNING and self._viewport.can_pan:
            self._dragged = event.position()
            self._show_cursor()
        elif is_left and self._levels is not None and self.target.contains(event.position()):
            self._held = event.position()
        else:
            event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Move the picture with the pointer."""
        if self._held is not None:
            self._take_away(event.position())
            return
        if self._dragged is None:
            event.ignore()
            return
        by, self._dragged = event.position() - self._dragged, event.position()
        self._pan(by)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """End the dragging."""
        if self._dragged is None:
            event.ignore()
        self._dragged = self._held = None
        self._show_cursor()

    def _take_away(self, place: QPointF) -> None:
        """Emit `taken` once the pointer has left the place where it took hold."""
        assert self._held is not None
        way = (place - self._held).manhattanLength()
        if way >= QApplication.startDragDistance() and self._levels is not None:
            self._held = None
            self.taken.emit(QPixmap.fromImage(self._levels.images[-1]))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Go from the fitted picture to 100 % at the pointer, or back."""
        if event.button() is Qt.MouseButton.LeftButton:
            self.toggle_fit(event.position())
        else:
            self.mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Pan a picture that is larger than the view by arrows."""
        key = Qt.Key(event.key())
        if key in _ARROWS and self._viewport.can_pan:
            self._pan(_ARROWS[key])
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 (Qt's name)
        """End what the keyboard or the mouse held."""
        super().focusOutEvent(event)
        self._dragged = self._held = None
        self._show_cursor()

    # --- drawing ---

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the picture, and over it what a subclass draws."""
        colours, ratio = self._theme.colours, self.devicePixelRatioF()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(colours.canvas))
            painter.save()
            # Device pixels, so that at 100 % each pixel of the picture is one of the screen.
            painter.scale(1 / ratio, 1 / ratio)
            self.draw_picture(painter, self._viewport.target)
            if self._over is not None:
                self._over.draw(painter, self._viewport.target)
            painter.restore()
            painter.save()
            self.draw_over(painter)
            painter.restore()
            if self.hasFocus():
                painter.setPen(QPen(QColor(colours.focus), 2))
                painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))

    def draw_over(self, painter: QPainter) -> None:
        """Draw over the picture, in device-independent pixels; subclasses override it."""

    def draw_picture(self, painter: QPainter, target: QRectF) -> None:
        """Draw the picture into its place, in device pixels; subclasses draw more."""
        colours = self._theme.colours
        if self._levels is None:
            painter.fillRect(target, QColor(colours.window))
        else:
            draw_levels(painter, self._levels, target)
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.drawRect(target.adjusted(-0.5, -0.5, 0.5, 0.5))


def draw_levels(painter: QPainter, levels: PictureLevels, target: QRectF) -> None:
    """Draw a picture into a place in device pixels, smoothly unless it is much enlarged."""
    is_smooth = target.width() < _SQUARES * levels.image.width()
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, is_smooth)
    painter.drawImage(target, levels.for_width(target.width()))


def _is_scrolling(event: QWheelEvent) -> bool:
    """Return True for a touchpad, whose fingers move the picture itself."""
    is_touchpad = event.pointingDevice().type() is QInputDevice.DeviceType.TouchPad
    return is_touchpad or event.phase() is not Qt.ScrollPhase.NoScrollPhase


def _moved(event: QWheelEvent) -> QPoint:
    pixels = event.pixelDelta()
    return event.angleDelta() / 2 if pixels.isNull() else pixels
