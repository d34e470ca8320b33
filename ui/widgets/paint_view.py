"""The view in which a mask is painted on the start picture, and the canvas grown around it."""

from enum import StrEnum

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QEnterEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
)

from ui.action_names import ActionName
from ui.keys import HeldKey
from ui.labels import size_label
from ui.picture_levels import PictureLevels
from ui.theme.metrics import RADIUS, XS, S
from ui.theme.theme import Theme
from ui.widgets.growth import HANDLES, Handle, grown_size, handle_at
from ui.widgets.mask_layer import NO_MARGINS, MaskLayer
from ui.widgets.mask_veil import MaskVeil
from ui.widgets.zoom_view import ZoomView, draw_levels

_LEAST_BRUSH = 2
# The factor by which a key enlarges the brush.
_GROWTH = 1.25
# The opacity, of 255, of the veil over the new area of a canvas that grows.
_NEW_AREA = 90
# The room around the picture: for handles and their numbers.
_MARGIN = 48
_DRAWING = (Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton)


class Tool(StrEnum):
    """The ways to use the mouse on the picture."""

    BRUSH = "brush"
    ERASER = "eraser"
    LASSO = "lasso"
    GROW = "grow"


class PaintView(ZoomView):
    """The start picture with its mask as a coloured veil, painted by brush, eraser and lasso.

    The right button, or Alt held, erases; Space held, or the middle button, pans.
    """

    # The size of the brush was changed by a key: its diameter in pixels of the picture.
    brush_changed = Signal(float)

    def __init__(self, theme: Theme, layer: MaskLayer) -> None:
        super().__init__(theme, _MARGIN)
        self.layer = layer
        self._tool = Tool.BRUSH
        # The diameter of the brush in pixels of the picture.
        self.brush = 64.0
        self._veil = MaskVeil()
        # True until the mask is drawn: then all of its veil is made anew, once.
        self._has_old_veil = False
        self._veil_colour = theme.colours.accent
        self._blur = 0.0
        self._shape = QSize(1, 1)
        # The part of the picture that is drawn, in its pixels; empty for all of it.
        self.part = QRect()
        # The margins for which the view is laid out; during a drag the layer's are other ones.
        self._laid_out = NO_MARGINS
        self._pointer: QPointF | None = None
        self._last: QPointF | None = None
        # True while the mouse moves the picture, instead of painting.
        self._moves = False
        self._erases = False
        self._lasso: list[QPointF] = []
        self._drag: tuple[Handle, QPointF] | None = None
        HeldKey(self, ActionName.HOLD_TO_MOVE, self._hold_to_move)
        self.setMouseTracking(True)
        self.setAccessibleName(self.tr("Start picture to paint on"))
        layer.drawn.connect(self._on_drawn)
        layer.edited.connect(self._lay_out)

    # --- what is shown ---

    @property
    def tool(self) -> Tool:
        """The tool in use."""
        return self._tool

    @tool.setter
    def tool(self, tool: Tool) -> None:
        self._tool = tool
        self._show_cursor()
        self.update()

    def show_start(self, levels: PictureLevels, shape: QSize) -> None:
        """Show the start picture in its size; the layer's mask is over it."""
        self._shape, self._laid_out = shape, self.layer.margins
        self.brush = min(self.brush, min(shape.toTuple()) / 2)
        self.show_picture(levels, grown_size(shape, self._laid_out))
        self._renew()

    def show_veil(self, colour: str, blur: float) -> None:
        """Show the mask in a colour, with a soft edge of `blur` pixels of the picture."""
        if (colour, blur) != (self._veil_colour, self._blur):
            self._veil_colour, self._blur = colour, blur
            self._renew()

    def show_part(self, part: QRect) -> None:
        """Frame the part of the picture that is drawn alone, in its pixels; an empty one is all."""
        if part != self.part:
            self.part = part
            self.update()

    def grow_brush(self, *, larger: bool) -> None:
        """Make the brush larger or smaller by a step."""
        size = self.brush * (_GROWTH if larger else 1 / _GROWTH)
        self.brush = min(max(size, _LEAST_BRUSH), float(max(self._shape.toTuple())))
        self.brush_changed.emit(self.brush)
        self.update()

    def cancel_stroke(self) -> bool:
        """Take back the stroke, or the drag, that is being made; return False without one."""
        if self._last is None and not self._lasso and self._drag is None:
            return False
        if self._drag is not None:
            self.layer.margins = self._laid_out
        self.layer.abandon()
        self._last, self._drag = None, None
        self._lasso.clear()
        self.update()
        return True

    def _renew(self) -> None:
        self._has_old_veil = True
        self.update()

    def _on_drawn(self, part: QRect) -> None:
        if part == self.layer.mask.rect():
            self._has_old_veil = True
        elif not self._has_old_veil:
            self._veil.renew(self.layer.mask, part)
        self.update()

    def _draw_veil(self, painter: QPainter, place: QRectF) -> None:
        mask = self.layer.mask
        if self._has_old_veil:
            self._has_old_veil = False
            scale = mask.width() / self._shape.width()
            self._veil.take(mask, self._veil_colour, self._blur * scale)
        self._veil.draw(painter, place)

    def _lay_out(self) -> None:
        """Show all of a canvas that was grown; the picture stays in its place if zoomed."""
        margins = self.layer.margins
        if margins != self._laid_out and self.image is not None:
            before, scale, was_fitted = self._inner(), self.scale, self.is_fitted
            self._laid_out = margins
            self._viewport.take_picture(grown_size(self._shape, margins))
            if not was_fitted:
                self._viewport.zoom_to(scale)
                self._viewport.pan((before - self._inner()) * self.devicePixelRatioF())
            self._on_scale()
        self.update()

    # --- places ---

    def _per_pixel(self) -> float:
        """Return the device-independent pixels that a pixel of the picture takes."""
        return self.scale / self.devicePixelRatioF()

    def _inner(self) -> QPointF:
        """Return the place of the start picture's corner."""
        left, top, _, _ = self._laid_out
        return self.target.topLeft() + QPointF(left, top) * self._per_pixel()

    def canvas(self) -> QRectF:
        """Return the place of the canvas with its margins, in device-independent pixels."""
        left, top, _, _ = self.layer.margins
        per_pixel = self._per_pixel()
        size = grown_size(self._shape, self.layer.margins).toSizeF() * per_pixel
        return QRectF(self._inner() - QPointF(left, top) * per_pixel, size)

    def _in_mask(self, place: QPointF) -> QPointF:
        scale = self.layer.mask.width() / self._shape.width() / self._per_pixel()
        return (place - self._inner()) * scale

    # --- the mouse ---

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Begin a stroke, an outline, a drag of an edge, or to pan."""
        place, button = event.position(), event.button()
        if self._moves or button not in _DRAWING or self.layer.mask.isNull():
            super().mousePressEvent(event)
            return
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        is_turned = alt or button is Qt.MouseButton.RightButton
        self._erases = (self._tool is Tool.ERASER) != is_turned
        match self._tool:
            case Tool.BRUSH | Tool.ERASER:
                self._last = place
                self._draw_to(place)
            case Tool.LASSO:
                self._lasso = [place]
            case Tool.GROW:
                self._begin_drag(event)

    def _begin_drag(self, event: QMouseEvent) -> None:
        handle = handle_at(event.position(), self.canvas())
        if handle is None or event.button() is not Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
        else:
            self._drag = handle, event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Continue what the mouse began, and show what it would do here."""
        place = self._pointer = event.position()
        if self._last is not None:
            self._draw_to(place)
        elif self._lasso:
            self._lasso.append(place)
        elif self._drag is not None:
            handle, start = self._drag
            by, multiple = (place - start) / self._per_pixel(), self.layer.multiple
            self.layer.margins = handle.dragged(self._laid_out, by, self._shape, multiple)
        elif self._dragged is not None:
            super().mouseMoveEvent(event)
        else:
            self._show_cursor()
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """End what the mouse began: it can be undone."""
        if self._last is not None:
            self._last = None
            self.layer.finish()
        elif self._lasso:
            outline = QPolygonF([self._in_mask(place) for place in self._lasso])
            self._lasso.clear()
            self.layer.fill(outline, erases=self._erases)
            self.layer.finish()
        elif self._drag is not None:
            self._drag = None
            margins, self.layer.margins = self.layer.margins, self._laid_out
            self.layer.grow(margins)
        else:
            super().mouseReleaseEvent(event)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 (Qt's name)
        """Paint with the second click, too."""
        self.mousePressEvent(event)

    def _draw_to(self, place: QPointF) -> None:
        assert self._last is not None
        scale = self.layer.mask.width() / self._shape.width()
        start, end = self._in_mask(self._last), self._in_mask(place)
        self.layer.line(start, end, self.brush * scale, erases=self._erases)
        self._last = place

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802 (Qt's name)
        """Show what the mouse would do here."""
        super().enterEvent(event)
        self._show_cursor()

    def leaveEvent(self, event: object) -> None:  # noqa: N802 (Qt's name)
        """Hide the brush's outline: the pointer left the view."""
        self._pointer = None
        self.update()

    def _hold_to_move(self, held: bool) -> None:
        """Pan by the mouse while a key is held, and paint again when it is let go."""
        self._moves = held
        self._show_cursor()

    def _show_cursor(self) -> None:
        """Show what the left mouse button would do."""
        if self._moves or self._dragged is not None:
            super()._show_cursor()
        elif self._tool is Tool.LASSO:
            self.setCursor(Qt.CursorShape.CrossCursor)
        elif self._tool is not Tool.GROW:
            # The brush's outline replaces the pointer.
            self.setCursor(Qt.CursorShape.BlankCursor)
        elif self._drag is None:
            handle = self._pointer and handle_at(self._pointer, self.canvas())
            if handle is None:
                super()._show_cursor()
            else:
                self.setCursor(handle.cursor)

    # --- drawing ---

    def draw_picture(self, painter: QPainter, target: QRectF) -> None:
        """Draw the start picture with its mask, and the new area around it."""
        ratio = self.devicePixelRatioF()
        canvas = self.canvas()
        whole = QRectF(canvas.topLeft() * ratio, canvas.size() * ratio)
        place = QRectF(self._inner() * ratio, self._shape.toSizeF() * self.scale)
        place.moveTopLeft(place.topLeft().toPoint().toPointF())
        if whole.size() != place.size():
            self._draw_new_area(painter, whole)
        if self._levels is not None:
            draw_levels(painter, self._levels, place)
        if not self.layer.mask.isNull():
            self._draw_veil(painter, place)
        painter.setPen(QPen(QColor(self._theme.colours.border), 1))
        painter.drawRect(whole.adjusted(-0.5, -0.5, 0.5, 0.5))

    def _draw_new_area(self, painter: QPainter, whole: QRectF) -> None:
        colours = self._theme.colours
        painter.fillRect(whole, QColor(colours.surface))
        painter.fillRect(whole, QBrush(QColor(colours.border), Qt.BrushStyle.BDiagPattern))
        new = QColor(self._veil_colour)
        new.setAlpha(_NEW_AREA)
        painter.fillRect(whole, new)

    def draw_over(self, painter: QPainter) -> None:
        """Draw the part's frame, and the brush's outline, the lasso or the canvas's handles."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.part.isEmpty():
            path, per_pixel = QPainterPath(), self._per_pixel()
            corner = self._inner() + self.part.topLeft().toPointF() * per_pixel
            path.addRect(QRectF(corner, self.part.size().toSizeF() * per_pixel))
            _draw_twice(painter, path, Qt.PenStyle.DashLine)
        if self._tool is Tool.GROW:
            self._draw_handles(painter)
        elif self._lasso:
            path = QPainterPath(self._lasso[0])
            for place in self._lasso[1:]:
                path.lineTo(place)
            _draw_twice(painter, path)
        elif self._tool is not Tool.LASSO and self._pointer is not None and not self._moves:
            path = QPainterPath()
            radius = self.brush / 2 * self._per_pixel()
            path.addEllipse(self._pointer, radius, radius)
            _draw_twice(painter, path)

    def _draw_handles(self, painter: QPainter) -> None:
        canvas, colours = self.canvas(), self._theme.colours
        for handle in HANDLES:
            place = handle.place(canvas)
            across, down = (XS, XS) if handle.across and handle.down else (3, 12)
            if not handle.across:
                across, down = down, across
            grip = QRectF(-across, -down, 2 * across, 2 * down).translated(place)
            painter.setPen(QPen(QColor(colours.canvas), 1))
            painter.setBrush(QColor(colours.accent))
            painter.drawRoundedRect(grip, 3, 3)
        sides = (Handle(-1, 0), Handle(0, -1), Handle(1, 0), Handle(0, 1))
        for handle, margin in zip(sides, self.layer.margins, strict=True):
            if margin:
                self._draw_number(painter, f"+{margin}", handle, canvas)
        if any(self.layer.margins):
            size = grown_size(self._shape, self.layer.margins)
            self._draw_number(painter, size_label(*size.toTuple()), Handle(-1, -1), canvas)

    def _draw_number(self, painter: QPainter, text: str, handle: Handle, canvas: QRectF) -> None:
        """Draw a number outside the canvas, or inside where that is out of view."""
        colours, metrics = self._theme.colours, self.fontMetrics()
        box = QRectF(0, 0, metrics.horizontalAdvance(text) + 2 * S, metrics.height() + XS)
        away = QPointF(handle.across * (box.width() / 2 + S), handle.down * (box.height() / 2 + S))
        box.moveCenter(handle.place(canvas) + away)
        room = QRectF(self.rect()).adjusted(XS, XS, -XS, -XS)
        box.moveLeft(min(max(box.left(), room.left()), room.right() - box.width()))
        box.moveTop(min(max(box.top(), room.top()), room.bottom() - box.height()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.window))
        painter.drawRoundedRect(box, RADIUS, RADIUS)
        painter.setPen(QColor(colours.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _draw_twice(
    painter: QPainter, path: QPainterPath, style: Qt.PenStyle = Qt.PenStyle.SolidLine
) -> None:
    """Draw a line in black, and in white in this style: one is visible on any picture."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    solid = Qt.PenStyle.SolidLine
    for colour, width, drawn in (
        (Qt.GlobalColor.black, 3, solid),
        (Qt.GlobalColor.white, 1.3, style),
    ):
        painter.setPen(QPen(colour, width, drawn))
        painter.drawPath(path)
