"""Painting on the start picture, in the place of the canvas."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QImage, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gallery.rows import Trouble
from app.session import Session
from engine.api.conventions import convention_of
from engine.api.masks import Margins, blur_reach, default_blur, part_around
from engine.api.values import InputRole
from ui.actions import ActionName, Actions
from ui.escape_key import is_escape_wanted
from ui.gallery.labels import unreadable_picture
from ui.masks import as_png, empty_mask, inverted, is_empty, read_mask
from ui.panels.paint_bar import PaintBar
from ui.panels.picture_question import ask_for_picture
from ui.picture_levels import PictureLevels, make_levels
from ui.pictures import ReadPicture, read_chosen, read_whole
from ui.theme.theme import Theme
from ui.widgets.growth import whole_margin
from ui.widgets.mask_layer import NO_MARGINS, MaskLayer
from ui.widgets.paint_view import PaintView, Tool
from ui.widgets.zoom_bar import ZoomBar

# The longest side of a mask while it is painted: on a larger one the brush would lag.
_LONGEST = 2048
# Colours of the mask over the picture: one of them is visible on any.
VEIL_COLOURS = ("#ff5a36", "#2fd07c", "#3fa9ff", "#e152e0", "#ffd23f")


# The path of a picture, and how often another program has changed it.
_Edition = tuple[str, int]
# A mask's edition, and True if it is read with painted and kept parts exchanged.
_Mask = tuple[_Edition, bool]
# The fields of the form that are shown.
_SHOWN = frozenset({"inputs", "mask_options", "convention", "suggestions"})


class _Start(msgspec.Struct, frozen=True):
    """A start picture as it is painted on, and its mask."""

    picture: ReadPicture
    levels: PictureLevels
    mask: QImage


class PaintPanel(QWidget):
    """The start picture with tools to paint on it; each stroke is in force as soon as it ends."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session, self._form, self._actions = session, session.generation, actions
        self.layer = MaskLayer(self)
        self.view = PaintView(theme, self.layer)
        self.bar = PaintBar(theme, actions)
        self.zoom = ZoomBar(self.view, theme)
        # The path and the size of the picture that the strokes are on.
        self._painted_on = ""
        self._size = QSize()
        # Picture and mask that are shown, or are read.
        self._start: _Edition | None = None
        self._mask: _Mask | None = None
        # Of the mask that the form has, or gets next.
        self._told = -1
        self._colour = session.memory.layout.veil % len(VEIL_COLOURS)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(self.view, 1)
        self._connect()
        self.choose(Tool.BRUSH)
        self._follow()

    def _connect(self) -> None:
        bar, view, layer = self.bar, self.view, self.layer
        layer.edited.connect(self._on_edited)
        view.brush_changed.connect(bar.brush.show_value)
        bar.brush.edited.connect(self._on_brush)
        bar.feather.edited.connect(self._on_feather)
        bar.feather.reset.connect(lambda: self._on_feather(None))
        bar.margins_edited.connect(self._on_margins)
        bar.open_file.clicked.connect(self._choose_mask)
        bar.done.clicked.connect(self._end)
        self._session.painting.kept.connect(self._on_kept)
        self._session.view.painting_changed.connect(self._follow)
        self._session.edited.changed.connect(self._follow)
        self._form.changed.connect(self._on_form)
        self._form.effective_changed.connect(self._frame_part)

    # --- commands ---

    def choose(self, tool: Tool) -> None:
        """Use a tool."""
        self.view.tool = tool
        self.bar.show_tool(tool)

    def next_colour(self) -> None:
        """Show the mask in the next colour."""
        self._colour = (self._colour + 1) % len(VEIL_COLOURS)
        self._session.memory.keep_layout(veil=self._colour)
        self._show_options()

    def act(self, name: ActionName) -> None:
        """Do what an action of painting says."""
        _ACTS[name](self)

    def _end(self) -> None:
        self._session.view.painting = False

    # --- from the form ---

    def _on_form(self, names: frozenset[str]) -> None:
        if names & _SHOWN:
            self._follow()

    def _follow(self, *_: object) -> None:
        """Show what the form says, if it is shown: start picture, mask and margins."""
        start, painted = (self._edition(role) for role in (InputRole.INIT, InputRole.MASK))
        mask = None if painted is None else (painted, self._form.mask_options.inverted)
        if start is None:
            self._forget()
        if start is None or not self._session.view.painting:
            return
        if self._start is None or start[0] != self._start[0]:
            self._read_start(start, mask)
        else:
            if start != self._start:
                self._read_edited(start)
            if mask != self._mask:
                self._read_other_mask(mask)
        self._show_options()

    def _edition(self, role: InputRole) -> _Edition | None:
        path = self._form.input_path(role)
        return None if path is None else (path, self._session.edited.edition(path))

    def _forget(self) -> None:
        """Let go of a start picture that is removed, with the strokes on it."""
        self._start = self._mask = None
        self._end()
        if self.view.image is not None:
            self.layer.load(QImage(), NO_MARGINS)
            self.view.show_sheet(QSize(1, 1))

    def _show_options(self) -> None:
        options, blur = self._form.mask_options, self._blur
        self.layer.multiple = self._form.suggestions.features.size_multiple
        self.bar.use_multiple(self.layer.multiple)
        self.bar.feather.show_value(blur)
        self.bar.colour.show_colour(VEIL_COLOURS[self._colour])
        self.view.show_veil(VEIL_COLOURS[self._colour], blur)
        self._frame_part()
        if options.expand != self.layer.margins and not self.layer.mask.isNull():
            self.layer.grow(options.expand)

    @property
    def _blur(self) -> int:
        options = self._form.mask_options
        usual = default_blur(convention_of(self._form.convention).name, options)
        return usual if options.blur is None else options.blur

    def _frame_part(self) -> None:
        """Show the part of the picture that is drawn where only the mask's part is."""
        options, form = self._form.mask_options, self._form.effective
        if not self._session.view.painting:
            return
        is_part = options.only_masked and not options.expands
        box = self.layer.painted if is_part else QRect()
        if box.isEmpty():
            self.view.show_part(box)
            return
        scale = self._size.width() / self.layer.mask.width()
        reach = blur_reach(self._blur)
        ends = (box.left(), box.top(), box.right() + 1, box.bottom() + 1)
        left, top, right, bottom = (round(end * scale) for end in ends)
        painted = left - reach, top - reach, right + reach, bottom + reach
        size = form.width, form.height
        part = part_around(painted, options.padding, self._size.toTuple(), size)
        self.view.show_part(QRect(QPoint(*part[:2]), QSize(part[2] - part[0], part[3] - part[1])))

    def _read_start(self, start: _Edition, mask: _Mask | None) -> None:
        self._start, self._mask = start, mask

        def read() -> _Start:
            picture = read_whole(start[0])
            size = picture.image.size()
            if max(size.toTuple()) > _LONGEST:
                size.scale(_LONGEST, _LONGEST, Qt.AspectRatioMode.KeepAspectRatio)
            return _Start(picture, make_levels(picture.image), _read_mask(mask, size))

        def show(read: _Start) -> None:
            if start == self._start:
                self._show_start(read)

        self._session.background.run(read, show)

    def _read_edited(self, start: _Edition) -> None:
        """Show a start picture anew; strokes stay if it has its size still."""
        self._start = start

        def read() -> tuple[ReadPicture, PictureLevels]:
            picture = read_whole(start[0])
            return picture, make_levels(picture.image)

        def show(read: tuple[ReadPicture, PictureLevels]) -> None:
            picture, levels = read
            # What cannot be read may be written just now, and is looked at again.
            if start != self._start or picture.image.isNull():
                return
            if self._painted_on == start[0] and picture.size == self._size:
                self.view.show_start(levels, self._size)
            else:
                self._read_start(start, self._mask)

        self._session.background.run(read, show)

    def _show_start(self, read: _Start) -> None:
        if read.picture.image.isNull():
            self._start = None
            self._end()
            return
        self._size = read.picture.size
        self._painted_on = read.picture.path
        self._told = read.mask.cacheKey()
        self.layer.load(read.mask, self._form.mask_options.expand)
        self.view.brush = max(8.0, min(self._size.toTuple()) / 8)
        self.bar.brush.show_value(self.view.brush)
        self.view.show_start(read.levels, self._size)
        self.refresh_actions()

    def _read_other_mask(self, mask: _Mask | None) -> None:
        """Show a mask that came from elsewhere; it can be undone like any stroke."""
        self._mask, size = mask, self.layer.mask.size()

        def show(read: QImage) -> None:
            if mask == self._mask and read.size() == self.layer.mask.size():
                self._told = read.cacheKey()
                self.layer.replace(read)

        self._session.background.run(lambda: _read_mask(mask, size), show)

    # --- into the form ---

    def _on_edited(self) -> None:
        """Put the latest stroke, or the growth, into the form."""
        mask, painting = self.layer.mask, self._session.painting
        if self.layer.margins != self._form.mask_options.expand:
            painting.grow(self.layer.margins, *self._size.toTuple())
        if mask.cacheKey() != self._told:
            self._told = mask.cacheKey()
            if is_empty(mask):
                self._mask = None
                painting.keep(None)
            else:
                painting.keep(partial(as_png, mask.copy(), self._size))
            self._frame_part()
        self.refresh_actions()

    def _on_kept(self, path: str) -> None:
        self._mask = (path, self._session.edited.edition(path)), False

    def refresh_actions(self) -> None:
        """Offer to undo, redo and clear where there is something to."""
        actions, layer = self._actions, self.layer
        actions[ActionName.UNDO_STROKE].setEnabled(layer.can_undo)
        actions[ActionName.REDO_STROKE].setEnabled(layer.can_redo)
        for button in (self.bar.undo, self.bar.redo):
            button.setEnabled(layer.can_undo if button is self.bar.undo else layer.can_redo)
        has_any = any(layer.margins) or not is_empty(layer.mask)
        self.bar.clear.setEnabled(has_any)
        self.bar.show_margins(layer.margins)

    def _on_brush(self, size: int) -> None:
        self.view.brush = float(size)
        self.view.update()

    def _on_feather(self, blur: int | None) -> None:
        self._form.change_mask_options(blur=blur)

    def _on_margins(self, wanted: Margins) -> None:
        left, top, right, bottom = wanted
        (width, height), multiple = self._size.toTuple(), self.layer.multiple
        self.layer.grow(
            (
                whole_margin(left, right, width, multiple),
                whole_margin(top, bottom, height, multiple),
                whole_margin(right, left, width, multiple),
                whole_margin(bottom, top, height, multiple),
            )
        )
        self.bar.show_margins(self.layer.margins)

    def _choose_mask(self) -> None:
        def take(path: Path) -> None:
            self.open_mask(str(path))

        ask_for_picture(self, self._session, self.tr("Open a mask"), take)

    def open_mask(self, name: str) -> None:
        """Paint with a mask from a file, on the start picture that is shown now."""
        start, size = self._start, self.layer.mask.size()

        def read() -> tuple[QImage | None, Trouble | None]:
            mask = read_mask(name, size)
            return mask, read_chosen(name, size)[1] if mask is None else None

        def show(read: tuple[QImage | None, Trouble | None]) -> None:
            mask, trouble = read
            if mask is None:
                error = unreadable_picture(name, trouble or Trouble.DAMAGED)
                self._session.notices.tell_error(error)
            elif start == self._start and size == self.layer.mask.size():
                self.layer.replace(mask)

        self._session.background.look(read, show, self)

    # --- events ---

    def event(self, event: QEvent) -> bool:
        """Keep Esc, which cancels a job elsewhere."""
        if is_escape_wanted(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Take back the stroke that is being made by Esc; else go back to the picture."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif not self.view.cancel_stroke():
            self._end()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Take the keys for the tools."""
        super().showEvent(event)
        self.view.setFocus()


_ACTS: dict[ActionName, Callable[[PaintPanel], None]] = {
    ActionName.BRUSH: lambda paint: paint.choose(Tool.BRUSH),
    ActionName.ERASER: lambda paint: paint.choose(Tool.ERASER),
    ActionName.LASSO: lambda paint: paint.choose(Tool.LASSO),
    ActionName.GROW: lambda paint: paint.choose(Tool.GROW),
    ActionName.SMALLER_BRUSH: lambda paint: paint.view.grow_brush(larger=False),
    ActionName.LARGER_BRUSH: lambda paint: paint.view.grow_brush(larger=True),
    ActionName.UNDO_STROKE: lambda paint: paint.layer.undo(),
    ActionName.REDO_STROKE: lambda paint: paint.layer.redo(),
    ActionName.INVERT_MASK: lambda paint: paint.layer.invert(),
    ActionName.CLEAR_MASK: lambda paint: paint.layer.clear(),
    ActionName.VEIL_COLOUR: lambda paint: paint.next_colour(),
}


def _read_mask(wanted: _Mask | None, size: QSize) -> QImage:
    """Read a mask in a size; one that keeps everything if there is none, or it cannot be read."""
    nothing = empty_mask(size.expandedTo(QSize(1, 1)))
    if wanted is None or size.isEmpty():
        return nothing
    (path, _), is_inverted = wanted
    mask = read_mask(path, size)
    if mask is None:
        return nothing
    return inverted(mask) if is_inverted else mask
