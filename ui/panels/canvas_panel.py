"""The canvas: the picture being made, the one that was chosen, or an invitation."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from app.background import Background
from app.library.picture_files import Picture
from app.queue.progress import Preview
from app.session import Session
from engine.api.request import GenerateRequest
from engine.api.values import InputRole
from ui.actions import PAINTING, ActionName, Actions
from ui.escape_key import is_escape_wanted
from ui.item_models.dragged_pictures import drag_out, files_as_data
from ui.panels.batch_panel import BatchPanel
from ui.panels.canvas_reading import read_shown, read_start
from ui.panels.details_panel import DetailsPanel
from ui.panels.first_run import FirstRun
from ui.panels.strip_panel import picture_menu
from ui.picture_levels import PictureLevels, make_levels
from ui.pictures import ReadPicture, preview_image
from ui.theme.theme import Theme
from ui.widgets.canvas_corner import CanvasCorner
from ui.widgets.compare_view import CompareView
from ui.widgets.stack import Stack
from ui.widgets.zoom_bar import ZoomBar
from ui.widgets.zoom_view import ZoomView

if TYPE_CHECKING:
    from ui.create.map_over import MapOver
    from ui.panels.paint_panel import PaintPanel

_ZOOMING: dict[ActionName, Callable[[ZoomView], None]] = {
    ActionName.ZOOM_IN: lambda view: view.zoom_in(),
    ActionName.ZOOM_OUT: lambda view: view.zoom_out(),
    ActionName.ZOOM_FIT: lambda view: view.fit(),
    ActionName.ZOOM_ACTUAL: lambda view: view.show_actual_size(),
}


class CanvasPanel(QWidget):
    """The canvas; a background thread decodes, and outdated results are dropped.

    `shown` emits each `ReadPicture` that was read, also one that cannot be shown.
    """

    shown = Signal(object)
    # Emits the ErrorInfo of an internal error.
    failed = Signal(object)
    resized = Signal()

    def __init__(
        self, session: Session, theme: Theme, actions: Actions, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._theme, self._actions = session, theme, actions
        self._pictures = session.output_pictures
        # One thread keeps the order: an older preview must not replace a newer one.
        self._background = Background(1, self)
        self._background.failed.connect(self.failed)
        self._wanted = 0
        # The path of the picture in the view, and its size; empty if it cannot be shown.
        self._read_path: str | None = None
        self._listed: Picture | None = None
        self._size = QSize()
        # Made when it is first used.
        self.paint: PaintPanel | None = None
        self._map_over: MapOver | None = None
        self.view = CompareView(theme)
        self.empty = FirstRun(session, theme, actions)
        self.details = DetailsPanel(session, theme)
        # The part of the pictures, beside their details.
        self.pictures = Stack()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._row.addWidget(self.pictures, 1)
        self._row.addWidget(self.details)
        self.batch = BatchPanel(session, theme)
        for page in (self.empty, self.batch, self.view):
            self.pictures.addWidget(page)
        self.zoom = ZoomBar(self.view, theme)
        self.view.addAction(actions[ActionName.TRASH])
        self.corner = CanvasCorner(self.view, theme, actions)
        self.back = self.corner.back
        self._connect()

    def _connect(self) -> None:
        session = self._session
        view, progress = session.view, session.progress
        shown = view.path_changed, view.live_changed, view.alone_changed
        for signal in (*shown, progress.began, progress.ended):
            signal.connect(self.refresh)
        session.batch.changed.connect(self._on_batch)
        self.view.taken.connect(self._drag_out)
        self.back.clicked.connect(session.view.follow)
        self.corner.map.clicked.connect(partial(session.view.show_map, None))
        self._pictures.inserted.connect(self._on_listed)
        self._pictures.was_reset.connect(self._on_listed)
        session.progress.preview_changed.connect(self._on_preview)
        session.view.painting_changed.connect(self._on_painting)
        session.generation.inputs_changed.connect(self._refresh_actions)
        for name, zoom in _ZOOMING.items():
            self._actions[name].triggered.connect(partial(self._zoom, zoom))
        for name in PAINTING:
            self.addAction(self._actions[name])
            self._actions[name].triggered.connect(partial(self._paint, name))
        self._actions[ActionName.PAINT].triggered.connect(self._toggle_painting)
        self._actions[ActionName.COMPARE_START].triggered.connect(self._compare)
        session.view.map_over_changed.connect(self._on_map_over)
        self._refresh_actions()

    def _drag_out(self, pixmap: QPixmap) -> None:
        """Drag the file of the picture that is shown; one that is being made has none."""
        if self._read_path is not None:
            drag_out(self.view, files_as_data([self._read_path]), pixmap)

    def _compare(self) -> None:
        """Compare the picture that is marked in the batch alone."""
        view = self._session.view
        if self._shows_batch and view.path is not None:
            view.choose(view.path)
        self.corner.toggle_comparing()

    def put_beside(self, pane: QWidget) -> None:
        """Have a pane stand beside the pictures."""
        if not self.isAncestorOf(pane):
            self._row.addWidget(pane)

    def _on_map_over(self, layer: int | None) -> None:
        if layer is not None and self._map_over is None:
            # Here, as the window starts sooner without it.
            from ui.create.map_over import MapOver
            from ui.create.map_switch import MapSwitch

            self._map_over = MapOver(self._session, self._views, self)
            switch = MapSwitch(self._session)
            self.corner.put_beside_map(switch)
            switch.show()
        self.corner.map.setVisible(layer is not None)
        self.refresh()

    def _views(self) -> list[ZoomView]:
        """Return the views of the picture, and of the start picture that is painted on."""
        return [self.view, *([self.paint.view] if self.paint is not None else [])]

    # --- painting ---

    def _toggle_painting(self) -> None:
        """Paint on the start picture; without one start from the picture that is shown."""
        view, path = self._session.view, self._session.view.path
        if view.painting:
            view.painting = False
            return
        if not self._has_start and path is not None:
            self._session.pictures.start_from(path, *self._size.toTuple())
        view.painting = self._has_start

    @property
    def _has_start(self) -> bool:
        return self._session.generation.input_path(InputRole.INIT) is not None

    def _on_painting(self, painting: bool) -> None:
        if painting and self.paint is None:
            # Here, as the window starts sooner without it.
            from ui.panels.paint_panel import PaintPanel

            self.paint = PaintPanel(self._session, self._theme, self._actions)
            self.pictures.addWidget(self.paint)
        self._refresh_actions()
        self.refresh()

    def _refresh_actions(self) -> None:
        painting = self._session.view.painting
        for name in PAINTING:
            self._actions[name].setEnabled(painting)
        can_start = self._read_path is not None and not self._size.isEmpty()
        can_start = can_start and not self._session.pictures.is_live
        self._actions[ActionName.PAINT].setEnabled(painting or self._has_start or can_start)
        if painting and self.paint is not None:
            self.paint.refresh_actions()

    def _paint(self, name: ActionName) -> None:
        if self.paint is not None:
            self.paint.act(name)

    def _zoom(self, act: Callable[[ZoomView], None]) -> None:
        """Zoom the view that is shown; other pages have views with the same keys."""
        shown = self.pictures.currentWidget()
        view = self.view if self.paint is None or shown is not self.paint else self.paint.view
        if view.isVisible():
            act(view)

    def close_background(self) -> None:
        """Wait for the decoding thread."""
        self._background.close()

    def refresh(self) -> None:
        """Draw the preview, the picture, the empty sheet or the invitation, by the state."""
        preview = self._session.progress.preview
        if self._session.view.painting or self._shows_batch:
            self._show_view()
        if self._session.pictures.is_live and preview is not None:
            self._enlarge_preview(preview)
        elif self._session.view.path is not None:
            # Before a job's first preview, the previous picture stays.
            self._show(self._session.view.path)
        elif self._session.pictures.is_live:
            self._show_sheet()
        else:
            self._next()
            self._read_path = None
            if self._session.view.map_over is not None:
                self.view.show_sheet(self._live_shape())
            self._show_view()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Tell that the room is another one."""
        super().resizeEvent(event)
        self.resized.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 (Qt's name)
        """Open the menu of the picture's actions."""
        if self._session.view.path is not None and not self._session.pictures.is_live:
            menu: QMenu = picture_menu(self._actions, self)
            menu.popup(event.globalPos())

    def event(self, event: QEvent) -> bool:
        """Keep Esc, which cancels a job elsewhere, to go back to the batch."""
        if is_escape_wanted(event) and self._can_go_back:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 (Qt's name)
        """Go back to the batch by Esc."""
        if event.key() == Qt.Key.Key_Escape and self._can_go_back:
            self._session.view.follow()
        else:
            super().keyPressEvent(event)

    def _on_batch(self) -> None:
        if self._shows_batch != (self.pictures.currentWidget() is self.batch):
            self.refresh()

    def _on_listed(self, *_: object) -> None:
        """Read the picture in the view anew where another program has changed it."""
        before, self._listed = self._listed, self._pictures.find(self._read_path or "")
        if before is not None and self._listed not in (None, before):
            self._read_path = None
            self.refresh()

    def _on_preview(self, preview: Preview | None) -> None:
        if preview is not None and self._session.pictures.is_live:
            self._enlarge_preview(preview)

    def _show_sheet(self) -> None:
        self._next()
        self._read_path = None
        self.view.take_other(None, QRectF())
        self.view.show_sheet(self._live_shape())
        self._show_view()

    def _live_shape(self) -> QSize:
        """Return the size of the picture that is being made."""
        job = self._session.queue.running
        effective = self._session.generation.effective
        width = (job and job.request.width) or effective.width
        height = (job and job.request.height) or effective.height
        return QSize(width, height)

    def _enlarge_preview(self, preview: Preview) -> None:
        number, room = self._next(), self.view.room
        own = QSize(preview.width, preview.height)
        # So that the zoom stays as it is when the picture itself follows.
        shape = self._live_shape()
        if abs(shape.width() * own.height() - shape.height() * own.width()) > max(shape.toTuple()):
            shape = own

        def enlarge_preview() -> PictureLevels:
            return make_levels(preview_image(preview.pixels, *own.toTuple(), room))

        def show(levels: PictureLevels) -> None:
            if number == self._wanted and self._session.pictures.is_live:
                self._read_path = None
                self.view.take_other(None, QRectF())
                self.view.show_picture(levels, shape)
                self._show_view()

        self._background.run(enlarge_preview, show)

    def _show(self, path: str) -> None:
        number = self._next()
        if path == self._read_path:
            self._show_view()
            return

        def show(read: tuple[ReadPicture, PictureLevels]) -> None:
            picture, levels = read
            if number != self._wanted:
                return
            self._read_path, self._listed = path, self._pictures.find(path)
            is_whole = not picture.image.isNull()
            self._size = QSize(picture.width, picture.height) if is_whole else QSize()
            if is_whole:
                self.view.show_picture(levels, self._size)
                name = picture.request.prompt[:200] if picture.request else Path(path).name
                self.view.setAccessibleDescription(name)
            else:
                self.view.show_sheet(QSize(1, 1))
            self._show_view()
            self._read_start(path, picture.request)
            self._session.pictures.take_seed(picture.request.seed if picture.request else None)
            self.shown.emit(picture)

        self._background.run(partial(read_shown, path), show)

    def _read_start(self, path: str, request: GenerateRequest | None) -> None:
        """Read the picture that the shown one was made from, to compare the two."""
        inputs = request.inputs if request is not None else ()
        start = next((image.path for image in inputs if image.role is InputRole.INIT), None)
        self.view.take_other(None, QRectF())
        if request is None or start is None:
            return

        def take(found: tuple[PictureLevels, QRectF] | None) -> None:
            if path == self._read_path and found is not None:
                self.view.take_other(*found)

        self._background.run(partial(read_start, start, request.mask_options.expand), take)

    @property
    def _shows_batch(self) -> bool:
        view = self._session.view
        return view.live and not view.alone and self._session.batch.count > 1

    @property
    def _can_go_back(self) -> bool:
        """True if the picture that is shown alone is of a batch."""
        view, batch = self._session.view, self._session.batch
        if view.painting or self._shows_batch or batch.count < 2:
            return False
        return view.live or (view.path is not None and batch.has_picture(view.path))

    def _show_view(self) -> None:
        """Show the view of the picture, unless there is another one to be shown."""
        view = self._session.view
        shown: QWidget = self.view
        if view.painting and self.paint is not None:
            shown = self.paint
        elif self._shows_batch:
            shown = self.batch
        elif view.path is None and view.map_over is None and not self._session.pictures.is_live:
            shown = self.empty
        had_focus = self.pictures.isAncestorOf(self.focusWidget() or self)
        self.pictures.setCurrentWidget(shown)
        if had_focus and not self.pictures.isAncestorOf(self.focusWidget() or self):
            shown.setFocus()
        self.back.setVisible(self._can_go_back)
        self._refresh_actions()

    def _next(self) -> int:
        self._wanted += 1
        return self._wanted
