"""The window: the form at the side, the canvas in the middle, the strip below."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QMoveEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMainWindow, QVBoxLayout, QWidget

from app.commands.updates import UpdateStage
from app.form.changes import Reuse
from app.library.file_kind import FileKind
from app.library.gallery import is_picture
from app.paths import nearest_folder
from app.session import Session
from ui.actions import ActionName, Actions
from ui.menus import MenuBar
from ui.panels.canvas_panel import CanvasPanel
from ui.panels.device_panel import DevicePanel
from ui.panels.form_panel import FormPanel
from ui.panels.generate_panel import GeneratePanel
from ui.panels.info_panel import InfoPanel
from ui.panels.notice_panel import NoticePanel
from ui.panels.offer_bar import OfferBar
from ui.panels.strip_panel import StripPanel
from ui.picture_actions import copy_path, copy_picture, reveal
from ui.side_windows import SideWindows
from ui.theme.app_icon import app_icon
from ui.theme.metrics import LORA_PICTURE, SIDE_PANEL_WIDTH, THUMBNAIL, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.drop_overlay import DropOverlay
from ui.widgets.labels import rule
from ui.window_place import fit, place_of

# The delay after which a window manager has put its frame around the window.
_FRAMED_MS = 200
_REUSES = {
    ActionName.USE_SETTINGS: Reuse.ALL_BUT_SEED,
    ActionName.USE_PROMPT: Reuse.PROMPT,
    ActionName.USE_SEED: Reuse.SEED,
    ActionName.USE_EVERYTHING: Reuse.EVERYTHING,
}


class DropOffer(NamedTuple):
    """A card for a dragged file: its texts, and the action of a drop on it."""

    title: str
    sentence: str
    take: Callable[[], None]


class MainWindow(QMainWindow):
    """The main window, which shows a `Session`. Closing it ends the application."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self.session = session
        self._is_built = False
        self.setWindowTitle("Safelight")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(800, 560)
        self.setAcceptDrops(True)
        self.actions_by_name = Actions(self)
        self.thumbnails = ThumbnailStore(THUMBNAIL, parent=self)
        self.lora_pictures = ThumbnailStore(LORA_PICTURE, parent=self)
        for pictures in (self.thumbnails, self.lora_pictures):
            pictures.failed.connect(session.notices.tell_error)
        actions = self.actions_by_name
        self.form = FormPanel(session, theme, actions, self.lora_pictures)
        self.generate = GeneratePanel(session, theme, actions)
        self.devices = DevicePanel(session, theme, actions)
        self.windows = SideWindows(session, theme, self)
        self.notices = NoticePanel(session, theme, actions, self.windows.show_runtimes)
        self.offer = OfferBar(session, theme, self.windows.show_runtimes)
        self.canvas = CanvasPanel(session, theme, actions)
        self.info = InfoPanel(session, theme, actions)
        self.strip = StripPanel(session, theme, actions, self.thumbnails)
        self._framed = QTimer(self, singleShot=True, interval=_FRAMED_MS)
        self._framed.timeout.connect(lambda: fit(self))
        self._lay_out()
        self.overlay = DropOverlay(theme, self)
        self._connect()
        self._is_built = True

    def _lay_out(self) -> None:
        side = QWidget()
        side.setProperty("role", "panel")
        # A large system font makes the form wider: nothing of it may be cut off.
        side.setFixedWidth(max(SIDE_PANEL_WIDTH, self.form.needed_width()))
        column = _column(side)
        column.addWidget(self.form, 1)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addWidget(self.generate)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addWidget(self.devices)
        middle = QWidget()
        column = _column(middle)
        column.addWidget(self.offer)
        column.addWidget(self.notices)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.info)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        strip = QHBoxLayout()
        strip.setContentsMargins(S, S, 0, 0)
        strip.addWidget(self.strip)
        column.addLayout(strip)
        whole = QWidget()
        row = QHBoxLayout(whole)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(side)
        row.addWidget(rule(Qt.Orientation.Vertical))
        row.addWidget(middle, 1)
        self.setCentralWidget(whole)
        self.setMenuBar(MenuBar(self.actions_by_name, self))

    def _connect(self) -> None:
        session, actions = self.session, self.actions_by_name
        self.canvas.failed.connect(session.notices.tell_error)
        self.canvas.shown.connect(self.info.show_picture)
        self.strip.chosen.connect(session.view.choose)

        def on(name: ActionName, slot: object) -> None:
            actions[name].triggered.connect(slot)

        on(ActionName.GENERATE, lambda: session.jobs.generate())
        on(ActionName.GENERATE_FIRST, lambda: session.jobs.generate(front=True))
        on(ActionName.CANCEL, session.jobs.cancel)
        on(ActionName.CANCEL_ALL, session.jobs.cancel_all)
        on(ActionName.OPEN, self._open)
        on(ActionName.EDIT_PROMPT, self.form.prompt.setFocus)
        for name, what in _REUSES.items():
            on(name, self._with_picture(self._reuse(what)))
        on(ActionName.OPEN_START, self.form.inputs.choose_picture)
        on(ActionName.START_FROM, self._with_picture(self.form.inputs.start_from))
        on(ActionName.REVEAL, self._with_picture(reveal))
        on(ActionName.COPY_PATH, self._with_picture(copy_path))
        on(
            ActionName.COPY_PICTURE,
            self._with_picture(lambda path: copy_picture(path, session.background)),
        )
        on(ActionName.TRASH, self._with_picture(session.pictures.trash))
        on(ActionName.RUNTIMES, lambda: self.windows.show_runtimes())
        on(ActionName.DEVICES, self.windows.show_devices)
        on(ActionName.DOWNLOADS, self.windows.show_downloads)
        on(ActionName.UPDATES, self._check_for_updates)
        on(ActionName.QUIT, self.close)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 (Qt's name)
        """Close without a question: the queue continues at the next start."""
        self.hide()
        super().closeEvent(event)

    def close_background(self) -> None:
        """Wait for the decoding threads; called when the application ends."""
        self.thumbnails.close()
        self.lora_pictures.close()
        self.canvas.close_background()

    def come_forward(self) -> None:
        """Bring the window to the front, because the user started the application again."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 (Qt's name)
        """Accept dragged local files, also pictures from the window's own strip."""
        if dropped_files(event.mimeData()):
            _accept_copy(event)
            self._show_offers(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802 (Qt's name)
        """Highlight the card under the pointer; a drop beside the cards does nothing."""
        self._show_offers(event)
        if self.overlay.chosen(event.position().toPoint()) is None:
            event.ignore()
        else:
            _accept_copy(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802 (Qt's name)
        """Hide the cards: the dragged files left the window, or Esc was pressed."""
        self.overlay.hide()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 (Qt's name)
        """Perform the action of the card that the file was dropped on."""
        files = dropped_files(event.mimeData())
        chosen = self.overlay.chosen(event.position().toPoint())
        self.overlay.hide()
        if not files or chosen is None:
            event.ignore()
            return
        _accept_copy(event)
        offers = self.offers(files[0], ours=self._is_ours(event), others=files[1:])
        offers[chosen].take()

    def _show_offers(self, event: QDragMoveEvent) -> None:
        place = event.position().toPoint()
        ours = self._is_ours(event)
        strip = QRect(self.strip.mapTo(self, QPoint(0, 0)), self.strip.size())
        if ours and strip.contains(place):
            # A click with a slight movement must not flash the cards.
            self.overlay.hide()
            return
        offers = self.offers(dropped_files(event.mimeData())[0], ours=ours)
        self.overlay.appear([(offer.title, offer.sentence) for offer in offers])
        self.overlay.point_at(place)

    def _is_ours(self, event: QDropEvent) -> bool:
        return event.source() is self.strip

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Set the thumbnails' resolution to that of the window's screen."""
        super().showEvent(event)
        self._use_ratio()
        # The size of the frame is known only when the window manager has made it.
        self._framed.start()

    def _use_ratio(self) -> None:
        for pictures in (self.thumbnails, self.lora_pictures):
            pictures.use_ratio(self.devicePixelRatioF())

    def moveEvent(self, event: QMoveEvent) -> None:  # noqa: N802 (Qt's name)
        """Save the window's place."""
        super().moveEvent(event)
        self._keep_place()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 (Qt's name)
        """Save the window's size."""
        super().resizeEvent(event)
        self._keep_place()

    def _keep_place(self) -> None:
        if self._is_built and self.isVisible():
            self.session.memory.keep_place(place_of(self))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 (Qt's name)
        """Look for new files when the window becomes active."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.ActivationChange and self.isActiveWindow():
            self.session.look_again()

    def event(self, event: QEvent) -> bool:
        """Redraw pictures at the resolution of a new screen."""
        if event.type() is QEvent.Type.DevicePixelRatioChange and self._is_built:
            self._use_ratio()
            self.canvas.refresh()
        return super().event(event)

    def offers(
        self, file: Path, *, ours: bool = False, others: Sequence[Path] = ()
    ) -> list[DropOffer]:
        """Return the cards for a file; `ours` is True if it comes from this window's strip.

        `others` are dropped with it.
        """
        start = DropOffer(
            self.tr("Start from it"),
            self.tr("It is redrawn, all of it or a part."),
            lambda: self.form.inputs.start_from(str(file)),
        )
        if ours:
            # A button already reuses its settings, and the drag may be accidental.
            return [start]
        if not is_picture(file):
            opening = self.session.opening
            title, sentence = self._offer_words(opening.kind(file))
            return [DropOffer(title, sentence, lambda: opening.open_with(file, others))]
        use = DropOffer(
            self.tr("Use its settings"),
            self.tr("How it was made, whichever program made it."),
            lambda: self.session.open_file(file),
        )
        return [use, start]

    def _offer_words(self, kind: FileKind) -> tuple[str, str]:
        used = self.tr("It is used where it lies.")
        return {
            FileKind.LORA: (self.tr("Add this LoRA"), used),
            FileKind.EMBEDDING: (
                self.tr("An embedding"),
                self.tr("It acts where a prompt names it."),
            ),
            FileKind.OPAQUE: (
                self.tr("Use this file"),
                self.tr("As a model or a LoRA, where it lies."),
            ),
            FileKind.OTHER: (self.tr("Use this model"), used),
        }[kind]

    def _open(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self,
            self.tr("Open a model or a picture"),
            nearest_folder(self.session.checkpoints.models),
            self.tr(
                "Models and pictures (*.safetensors *.sft *.ckpt *.pt *.png *.jpg *.jpeg *.webp)"
                ";;All files (*)"
            ),
        )
        if name:
            self.session.open_file(Path(name))

    def _check_for_updates(self) -> None:
        """Show the versions, and look for a newer one, as the menu says."""
        self.windows.show_updates()
        updates = self.session.updates
        if updates.available and updates.state.stage in (UpdateStage.IDLE, UpdateStage.UP_TO_DATE):
            updates.check()

    def _reuse(self, what: Reuse) -> Callable[[str], None]:
        return lambda path: self.session.pictures.use_settings(Path(path), what)

    def _with_picture(self, act: Callable[[str], object]) -> Callable[[], None]:
        def triggered() -> None:
            if self.session.view.path is not None:
                act(self.session.view.path)

        return triggered


def dropped_files(data: QMimeData) -> list[Path]:
    """Return the local files in dragged data."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def _accept_copy(event: QDropEvent) -> None:
    """Accept a drop as a copy, so that the source never moves the file."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


def _column(widget: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    return column
