"""A mask that is painted, and the growth of the canvas around it, with undo and redo."""

from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPen, QPolygonF

from app.form.sizes import CELL
from engine.api.masks import Margins
from ui.masks import empty_mask, inverted, painted_box

# The memory for earlier and undone edits, in bytes.
_UNDO_BYTES = 128 << 20
NO_MARGINS: Margins = (0, 0, 0, 0)


class _Edit(msgspec.Struct, frozen=True):
    """A part of the mask, or the margins, before and after an edit."""

    part: QRect
    before: QImage
    after: QImage
    margins: tuple[Margins, Margins]

    @property
    def size(self) -> int:
        return self.before.sizeInBytes() + self.after.sizeInBytes()


class MaskLayer(QObject):
    """A mask, white where it is painted, and the margins of the canvas in the picture's pixels."""

    # This part of the mask was drawn on.
    drawn = Signal(QRect)
    # An edit is finished, undone or redone.
    edited = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.mask = QImage()
        self.margins = NO_MARGINS
        # Sides of the canvas are multiples of so many pixels.
        self.multiple = CELL
        self._done: list[_Edit] = []
        self._undone: list[_Edit] = []
        # The mask before the edit that is being made, and the part that it has touched.
        self._before: QImage | None = None
        self._touched = QRect()
        # The rectangle around the paint, and the key of the mask that it is of.
        self._painted: tuple[int, QRect] = (0, QRect())

    @property
    def painted(self) -> QRect:
        """The rectangle around all that is painted; empty if nothing is."""
        key = self.mask.cacheKey()
        if self._painted[0] != key:
            self._painted = key, painted_box(self.mask)
        return self._painted[1]

    @property
    def can_undo(self) -> bool:
        """True if there is an edit to undo."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """True if there is an undone edit."""
        return bool(self._undone)

    def load(self, mask: QImage, margins: Margins) -> None:
        """Begin with a mask of any size, and forget all edits."""
        self.mask, self.margins, self._before = mask, margins, None
        self._done.clear()
        self._undone.clear()
        self.drawn.emit(mask.rect())

    # --- drawing ---

    def line(self, start: QPointF, end: QPointF, width: float, *, erases: bool) -> None:
        """Draw a line with a round brush of this width; `finish` ends the edit."""
        colour = Qt.GlobalColor.black if erases else Qt.GlobalColor.white
        pen = QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)

        def draw(painter: QPainter) -> None:
            painter.setPen(pen)
            # Qt does not draw a line without length.
            painter.drawLine(start, end) if start != end else painter.drawPoint(end)

        around = width / 2 + 2
        self._draw(draw, QRectF(start, end).normalized().adjusted(-around, -around, around, around))

    def fill(self, outline: QPolygonF, *, erases: bool) -> None:
        """Fill an outline; `finish` ends the edit."""

        def draw(painter: QPainter) -> None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(Qt.GlobalColor.black if erases else Qt.GlobalColor.white)
            painter.drawPolygon(outline, Qt.FillRule.WindingFill)

        self._draw(draw, outline.boundingRect().adjusted(-2, -2, 2, 2))

    def _draw(self, draw: Callable[[QPainter], None], around: QRectF) -> None:
        if self._before is None:
            # Shares its memory until the mask is drawn on.
            self._before, self._touched = QImage(self.mask), QRect()
        with QPainter(self.mask) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw(painter)
        part = around.toAlignedRect() & self.mask.rect()
        if not part.isEmpty():
            self._touched |= part
            self.drawn.emit(part)

    def finish(self) -> None:
        """End the edit that was drawn; it can be undone."""
        before, part = self._before, self._touched
        self._before = None
        if before is None or part.isEmpty():
            return
        edit = _Edit(part, before.copy(part), self.mask.copy(part), (self.margins, self.margins))
        if edit.before != edit.after:
            self._add(edit)

    def abandon(self) -> None:
        """Take back what was drawn since the last finished edit."""
        if self._before is not None:
            self.mask, self._before = self._before, None
            self.drawn.emit(self._touched)

    # --- whole edits ---

    def replace(self, mask: QImage) -> None:
        """Replace the whole mask by one of its size."""
        self._change(mask, self.margins)

    def clear(self) -> None:
        """Keep all of the picture, in its own size."""
        self._change(empty_mask(self.mask.size()), NO_MARGINS)

    def invert(self) -> None:
        """Swap the painted and the kept part."""
        self.replace(inverted(self.mask))

    def grow(self, margins: Margins) -> None:
        """Grow the canvas by margins, in pixels of the picture."""
        self._change(self.mask, margins)

    def _change(self, mask: QImage, margins: Margins) -> None:
        """Put another mask of the same size, or other margins, or both in one edit."""
        both, before = (self.margins, margins), self.mask
        self.margins = margins
        if mask != before:
            self.mask = QImage(mask)
            self.drawn.emit(mask.rect())
            self._add(_Edit(mask.rect(), before, mask, both))
        elif both[0] != both[1]:
            self._add(_Edit(QRect(), QImage(), QImage(), both))

    def undo(self) -> None:
        """Undo the latest edit, if there is one."""
        if self._done:
            edit = self._done.pop()
            self._undone.append(edit)
            self._put(edit.part, edit.before, edit.margins[0])

    def redo(self) -> None:
        """Redo the edit that was undone last, if there is one."""
        if self._undone:
            edit = self._undone.pop()
            self._done.append(edit)
            self._put(edit.part, edit.after, edit.margins[1])

    def _put(self, part: QRect, patch: QImage, margins: Margins) -> None:
        self.margins = margins
        if not part.isEmpty():
            with QPainter(self.mask) as painter:
                painter.drawImage(part.topLeft(), patch)
            self.drawn.emit(part)
        self.edited.emit()

    def _add(self, edit: _Edit) -> None:
        self._done.append(edit)
        self._undone.clear()
        while len(self._done) > 1 and sum(change.size for change in self._done) > _UNDO_BYTES:
            del self._done[0]
        self.edited.emit()
