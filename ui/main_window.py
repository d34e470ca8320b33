"""The window: the form at the side, the canvas in the middle, the strip below."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, Qt
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QIcon,
    QShowEvent,
)
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMainWindow, QVBoxLayout, QWidget

from app.gallery import is_picture
from app.session import Session
from ui.actions import ActionName, Actions
from ui.panels.canvas_panel import CanvasPanel
from ui.panels.device_panel import DevicePanel
from ui.panels.form_panel import FormPanel
from ui.panels.generate_panel import GeneratePanel
from ui.panels.info_panel import InfoPanel
from ui.panels.notice_panel import NoticePanel
from ui.panels.strip_panel import StripPanel
from ui.picture_actions import copy_path, copy_picture, reveal
from ui.theme.icons import draw, icon_source
from ui.theme.metrics import SIDE_PANEL_WIDTH, THUMBNAIL, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.drop_overlay import DropOverlay, Offer
from ui.widgets.labels import rule


class MainWindow(QMainWindow):
    """Draws a Session. Closing it ends the application."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self.session = session
        self._is_built = False
        self.setWindowTitle("Safelight")
        self.setWindowIcon(QIcon(draw(icon_source("lamp"), theme.colours.accent, 64, 1)))
        self.setMinimumSize(800, 560)
        self.setAcceptDrops(True)
        self.actions_by_name = Actions(self)
        self.thumbnails = ThumbnailStore(THUMBNAIL, parent=self)
        self.thumbnails.failed.connect(session.notices.tell_error)
        actions = self.actions_by_name
        self.form = FormPanel(session, theme, actions)
        self.generate = GeneratePanel(session, theme, actions)
        self.devices = DevicePanel(session, theme)
        self.notices = NoticePanel(session, theme, actions)
        self.canvas = CanvasPanel(session, theme, actions)
        self.info = InfoPanel(session, theme, actions)
        self.strip = StripPanel(session, theme, actions, self.thumbnails)
        self._lay_out()
        self.overlay = DropOverlay(theme, self)
        self._connect()
        self._is_built = True

    def _lay_out(self) -> None:
        side = QWidget()
        side.setProperty("role", "panel")
        # Wider where the system's font is large: nothing of the form may be cut off.
        side.setFixedWidth(max(SIDE_PANEL_WIDTH, self.form.needed_width()))
        column = _column(side)
        column.addWidget(self.form, 1)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addWidget(self.generate)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addWidget(self.devices)
        middle = QWidget()
        column = _column(middle)
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

    def _connect(self) -> None:
        session, actions = self.session, self.actions_by_name
        self.canvas.failed.connect(session.notices.tell_error)
        self.canvas.shown.connect(self.info.show_picture)
        self.strip.chosen.connect(session.view.choose)

        def on(name: ActionName, slot: object) -> None:
            actions[name].triggered.connect(slot)

        on(ActionName.GENERATE, lambda: session.generate())
        on(ActionName.GENERATE_FIRST, lambda: session.generate(front=True))
        on(ActionName.CANCEL, session.cancel)
        on(ActionName.CANCEL_ALL, session.cancel_all)
        on(ActionName.OPEN, self._open)
        on(ActionName.EDIT_PROMPT, self.form.prompt.setFocus)
        on(
            ActionName.USE_SETTINGS,
            self._with_picture(lambda path: session.use_settings(Path(path))),
        )
        on(ActionName.OPEN_START, self.form.inputs.choose_picture)
        on(ActionName.START_FROM, self._with_picture(self.form.inputs.start_from))
        on(ActionName.REVEAL, self._with_picture(reveal))
        on(ActionName.COPY_PATH, self._with_picture(copy_path))
        on(
            ActionName.COPY_PICTURE,
            self._with_picture(lambda path: copy_picture(path, session.background)),
        )
        on(ActionName.TRASH, self._with_picture(session.trash))
        on(ActionName.QUIT, self.close)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 (Qt's name)
        """Nothing is lost by closing: the queue goes on at the next start."""
        self.hide()
        super().closeEvent(event)

    def close_background(self) -> None:
        """Wait for what is being decoded. At the application's end."""
        self.thumbnails.close()
        self.canvas.close_background()

    def come_forward(self) -> None:
        """Show the window to a person who started the application again."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 (Qt's name)
        """Files of this computer are welcome."""
        files = dropped_files(event.mimeData())
        if files:
            _accept_copy(event)
            self.overlay.appear(self.offers(files[0]))

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802 (Qt's name)
        """Which of the offers is meant."""
        self.overlay.point_at(event.position().toPoint())
        _accept_copy(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: N802 (Qt's name)
        """They went elsewhere."""
        self.overlay.hide()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 (Qt's name)
        """Use the file."""
        self.overlay.hide()
        files = dropped_files(event.mimeData())
        if not files:
            return
        _accept_copy(event)
        if is_picture(files[0]) and self.overlay.chosen(event.position().toPoint()):
            self.form.inputs.start_from(str(files[0]))
        else:
            self.session.open_path(files[0])

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Thumbnails are made for the screen the window is on."""
        super().showEvent(event)
        self.thumbnails.use_ratio(self.devicePixelRatioF())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 (Qt's name)
        """Coming back, there may be new files."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.ActivationChange and self.isActiveWindow():
            self.session.look_again()

    def event(self, event: QEvent) -> bool:
        """On another screen pictures are made for that one."""
        if event.type() is QEvent.Type.DevicePixelRatioChange and self._is_built:
            self.thumbnails.use_ratio(self.devicePixelRatioF())
            self.canvas.refresh()
        return super().event(event)

    def offers(self, file: Path) -> list[Offer]:
        """What a drop of a file could do."""
        if not is_picture(file):
            return [(self.tr("Use this model"), self.tr("It is used where it lies."))]
        return [
            (
                self.tr("Use its settings"),
                self.tr("How it was made, whichever program made it."),
            ),
            (self.tr("Start from it"), self.tr("It is redrawn, all of it or a part.")),
        ]

    def _open(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self,
            self.tr("Open a model or a picture"),
            str(self.session.checkpoints.models),
            self.tr(
                "Models and pictures (*.safetensors *.ckpt *.png *.jpg *.jpeg *.webp)"
                ";;All files (*)"
            ),
        )
        if name:
            self.session.open_path(Path(name))

    def _with_picture(self, act: Callable[[str], object]) -> Callable[[], None]:
        def triggered() -> None:
            if self.session.view.path is not None:
                act(self.session.view.path)

        return triggered


def dropped_files(data: QMimeData) -> list[Path]:
    """The files of this computer in what is being dropped."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def _accept_copy(event: QDropEvent) -> None:
    """A file stays where it is, whatever its source proposes."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


def _column(widget: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    return column
