"""The canvas: the picture being made, the one that was chosen, or an invitation."""

from pathlib import Path

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QImage, QResizeEvent
from PySide6.QtWidgets import QMenu, QStackedLayout, QWidget

from app.background import Background
from app.queue.progress import Preview
from app.session import Session
from ui.actions import Actions
from ui.panels.strip_panel import picture_menu
from ui.pictures import ReadPicture, enlarge, preview_image, read_picture
from ui.theme.theme import Theme
from ui.widgets.empty_state import EmptyState
from ui.widgets.picture_view import PictureView

# The delay that merges the many resize events of dragging into one new picture.
_RESIZE_MS = 120


class CanvasPanel(QWidget):
    """The canvas; a background thread decodes and scales, and outdated results are dropped.

    `shown` emits each `ReadPicture` that was read, also one that cannot be shown.
    """

    shown = Signal(object)
    # Emits the ErrorInfo of an internal error.
    failed = Signal(object)

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session = session
        self._actions = actions
        # One thread keeps the order: an older preview must not replace a newer one.
        self._background = Background(1, self)
        self._background.failed.connect(self.failed)
        self._wanted = 0
        self.view = PictureView(theme)
        self.empty = EmptyState(
            theme,
            self.tr("Your first picture appears here"),
            self.tr(
                "Press Generate, or say what you would rather see. The starter knows houses, "
                "trees, boats, balloons, flowers and castles; your own models know more: "
                "drop one on this window."
            ),
        )
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.view)
        self._resized = QTimer(self, singleShot=True, interval=_RESIZE_MS)
        self._resized.timeout.connect(self.refresh)
        self.view.resized.connect(self._resized.start)
        session.view.path_changed.connect(self.refresh)
        session.view.live_changed.connect(self.refresh)
        session.progress.preview_changed.connect(self._on_preview)
        session.progress.began.connect(self.refresh)
        session.progress.ended.connect(self.refresh)

    def close_background(self) -> None:
        """Wait for the decoding thread."""
        self._background.close()

    def refresh(self) -> None:
        """Draw the preview, the picture, the empty sheet or the invitation, by the state."""
        preview = self._session.progress.preview
        if self._session.pictures.is_live and preview is not None:
            self._enlarge_preview(preview)
        elif self._session.view.path is not None:
            # Before a job's first preview, the previous picture stays.
            self._read(self._session.view.path)
        elif self._session.pictures.is_live:
            self._show_sheet()
        else:
            self._wanted += 1
            self._stack.setCurrentWidget(self.empty)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Resize the view even while it is hidden: pictures are made for its size beforehand."""
        super().resizeEvent(event)
        self.view.resize(self.size())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 (Qt's name)
        """Open the menu of the picture's actions."""
        if self._session.view.path is not None and not self._session.pictures.is_live:
            menu: QMenu = picture_menu(self._actions, self)
            menu.popup(event.globalPos())

    def _on_preview(self, preview: Preview | None) -> None:
        if preview is not None and self._session.pictures.is_live:
            self._enlarge_preview(preview)

    def _show_sheet(self) -> None:
        job = self._session.queue.running
        self._wanted += 1
        effective = self._session.generation.effective
        width = (job and job.request.width) or effective.width
        height = (job and job.request.height) or effective.height
        self.view.show_sheet(QSize(width, height))
        self._stack.setCurrentWidget(self.view)

    def _enlarge_preview(self, preview: Preview) -> None:
        number, room = self._next(), self.view.room()

        def enlarge_preview() -> QImage:
            return preview_image(preview.pixels, preview.width, preview.height, room)

        def show(image: QImage) -> None:
            if number == self._wanted and self._session.pictures.is_live:
                self.view.show_image(image, QSize(preview.width, preview.height))
                self._stack.setCurrentWidget(self.view)

        self._background.run(enlarge_preview, show)

    def _read(self, path: str) -> None:
        number, room = self._next(), self.view.room()

        def read() -> ReadPicture:
            picture = read_picture(path, room)
            if picture.image.isNull():
                return picture
            enlarged = enlarge(picture.image, room)
            return ReadPicture(path, enlarged, picture.width, picture.height, picture.request)

        def show(picture: ReadPicture) -> None:
            if number != self._wanted:
                return
            if not picture.image.isNull():
                self.view.show_image(picture.image, QSize(picture.width, picture.height))
                name = picture.request.prompt[:200] if picture.request else Path(path).name
                self.view.setAccessibleDescription(name)
            else:
                self.view.show_sheet(QSize(1, 1))
            self._stack.setCurrentWidget(self.view)
            self.shown.emit(picture)

        self._background.run(read, show)

    def _next(self) -> int:
        self._wanted += 1
        return self._wanted
