"""The main window: the places, with what is shown over all of them."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import (
    QCloseEvent,
    QGuiApplication,
    QMoveEvent,
    QResizeEvent,
    QScreen,
    QShowEvent,
)
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from app.commands.updates import UpdateStage
from app.paths import nearest_folder
from app.session import Session
from ui.actions import REUSING, STEERING, ActionName, Actions
from ui.composing import take_composed_word
from ui.create.page import CreatePage
from ui.create.queue_place import QueuePlace
from ui.dock.dock import Dock
from ui.dock.queue_drawer import QueueDrawer
from ui.drops import Drops
from ui.enter_key import EnterKey
from ui.field_keys import FieldKeys
from ui.files.chooser import FileChooser
from ui.files.kinds import MODEL_PATTERNS, PICTURE_PATTERNS
from ui.keys import keys
from ui.menus import MenuBar
from ui.message_overlay import MessageOverlay
from ui.panels.notice_panel import NoticePanel
from ui.panels.offer_bar import OfferBar
from ui.pasting import Pasting
from ui.places import Place, Places
from ui.read_ahead import read_ahead
from ui.side_windows import SideWindows
from ui.theme.app_icon import app_icon
from ui.theme.theme import Theme
from ui.widgets.labels import rule
from ui.window_place import fit, place_of

# A screen of 1920 x 1080 at 225 % has room for it, and so has half of one at 100 %.
_LEAST = QSize(800, 440)
# The delay after which a window manager has put its frame around the window.
_FRAMED_MS = 200
# The delay after which a window that was opened has drawn itself and started the engine.
_SETTLED_MS = 1500
# Actions that change the form, which the user then sees.
_OF_THE_FORM = (ActionName.EDIT_PROMPT, ActionName.OPEN_START, *STEERING, *REUSING)


class MainWindow(QMainWindow):
    """The main window, which shows a `Session`. Closing it ends the application."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self.session, self._theme = session, theme
        self._is_built = False
        self.setWindowTitle("Safelight")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(_LEAST)
        # With their own keys at once: hints beside buttons name them.
        self.actions_by_name = actions = Actions(self, session.settings.now.shortcuts)
        self._use_settings()
        for name in _OF_THE_FORM:
            # Before the page's own connections, so that a field it focuses is visible.
            actions[name].triggered.connect(self._go_to_form)
        column = self._column()
        self.places, self.create_page = self._make_places(column)
        page = self.create_page
        self.form, self.canvas = page.form, page.canvas
        self.info, self.strip = page.info, page.strip
        self.dock = Dock(session, theme, actions)
        self.queue = QueueDrawer(session, theme, actions, page.thumbnails, self.places)
        self.windows = SideWindows(session, theme, self)
        self.notices = NoticePanel(session, theme, actions, self.windows.show_runtimes)
        self.notices.start_wanted.connect(self.form.inputs.start_from)
        self.notices.start_wanted.connect(self._show_form)
        self.notices.pictures_wanted.connect(self._show_pictures)
        self.offer = OfferBar(session, theme, self.windows.show_runtimes)
        self.messages = MessageOverlay(self.places, self.offer, self.notices, self.queue)
        self._framed = QTimer(self, singleShot=True, interval=_FRAMED_MS)
        self._framed.timeout.connect(lambda: fit(self))
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(lambda: read_ahead(session.background, self))
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addWidget(self.dock)
        self.drops = Drops(session, theme, self, page, self.places, self._show_form)
        self.pasting = Pasting(session, self.drops, self)
        self.setMenuBar(MenuBar(actions, self.pasting.action, self))
        self._connect()
        # The rail comes first in the order of Tab, but not for the first key.
        page.entry.setFocus()
        self._is_built = True

    def _column(self) -> QVBoxLayout:
        """Make the central widget; return its column."""
        whole = QWidget()
        self.setCentralWidget(whole)
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        return column

    def _make_places(self, column: QVBoxLayout) -> tuple[Places, CreatePage]:
        """Make the places with the page of Create, from the outside in.

        A widget that moves into another takes on the style sheet anew, with everything in it.
        """
        given = self.session, self._theme, self.actions_by_name
        places = Places(*given, self.centralWidget())
        column.addWidget(places, 1)
        page = CreatePage(*given, places.room)
        places.begin(page)
        return places, page

    def _connect(self) -> None:
        session, actions = self.session, self.actions_by_name

        def on(name: ActionName, slot: object) -> None:
            actions[name].triggered.connect(slot)

        on(ActionName.GENERATE, lambda: self._generate())
        on(ActionName.GENERATE_FIRST, lambda: self._generate(front=True))
        on(ActionName.CANCEL, session.jobs.cancel)
        on(ActionName.CANCEL_ALL, session.jobs.cancel_all)
        on(ActionName.QUEUE, lambda: self._show_queue(shown=self.queue.isHidden()))
        self.canvas.empty.model_wanted.connect(self._get_model)
        QueuePlace(self.queue, self.places, self.create_page)
        self.queue.closed.connect(lambda: self._show_queue(shown=False))
        on(ActionName.UNDO_LATEST, session.remedies.undo_latest)
        on(ActionName.UNDO_IN_FORM, session.changes.step_back)
        on(ActionName.REDO_IN_FORM, session.changes.step_forward)
        on(ActionName.OPEN, self._open)
        on(ActionName.RUNTIMES, lambda: self.windows.show_runtimes())
        on(ActionName.DEVICES, self.windows.show_devices)
        on(ActionName.DOWNLOADS, self.windows.show_downloads)
        on(ActionName.MESSAGES, self.windows.show_messages)
        on(ActionName.UPDATES, self._check_for_updates)
        for part in (self.create_page, self.dock):
            part.addActions([actions[ActionName.OLDER_PROMPT], actions[ActionName.NEWER_PROMPT]])
        for part in (self.create_page.form, self.dock):
            part.addActions([actions[ActionName.UNDO_IN_FORM], actions[ActionName.REDO_IN_FORM]])
        on(ActionName.SHORTCUTS, self._show_shortcuts)
        on(ActionName.QUIT, self.close)
        session.settings.changed.connect(self._use_settings)
        session.model.used.connect(self._show_form)
        session.upscales.original_found.connect(self._show_picture)
        FieldKeys(self)
        EnterKey(self)
        self._follow_screens()
        # All that it contains is there now.
        self._theme.dress(self)

    def _generate(self, *, front: bool = False) -> None:
        take_composed_word()
        self.session.jobs.generate(front=front)

    def _follow_screens(self) -> None:
        """Keep the window in sight when a laptop leaves its desk."""
        screens = QGuiApplication.instance()
        if isinstance(screens, QGuiApplication):
            screens.screenRemoved.connect(self._on_screens_changed)
            screens.screenAdded.connect(self._follow_screen)
            for screen in screens.screens():
                self._follow_screen(screen)
            screens.primaryScreenChanged.connect(self._on_screens_changed)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 (Qt's name)
        """Close without a question: the queue continues at the next start."""
        self.hide()
        super().closeEvent(event)

    def close_background(self) -> None:
        """Wait for the pages' threads; called when the application ends."""
        self.places.close_background()

    def come_forward(self) -> None:
        """Bring the window to the front, because the user started the application again."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Fit the window into its screen, once the window manager has made its frame."""
        super().showEvent(event)
        self._framed.start()
        self._settled.start()

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
        """Look for new files when the window becomes active; save its state."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.WindowStateChange:
            self._keep_place()
        if event.type() is QEvent.Type.ActivationChange and self.isActiveWindow():
            self.session.look_again()

    def _follow_screen(self, screen: QScreen) -> None:
        # A screen that is given another mode or scale may become smaller than the window.
        screen.availableGeometryChanged.connect(self._on_screens_changed)

    def _on_screens_changed(self, _change: object) -> None:
        self._framed.start()

    def _show_queue(self, *, shown: bool) -> None:
        had_focus = self.queue.isAncestorOf(self.focusWidget() or self)
        self.queue.setVisible(shown)
        self.dock.queue.setChecked(shown)
        if had_focus and not shown:
            self.dock.queue.setFocus()

    def _open(self) -> None:
        name = FileChooser.open_file(
            self,
            self.tr("Open a model or a picture"),
            nearest_folder(self.session.checkpoints.models),
            self.tr("Models and pictures ({models} {pictures});;All files (*)").format(
                models=MODEL_PATTERNS, pictures=PICTURE_PATTERNS
            ),
        )
        if name:
            self.session.open_file(Path(name))

    def _use_settings(self, *_: object) -> None:
        now = self.session.settings.now
        self._theme.use_look(now.look)
        self._theme.reduce_motion(now.reduce_motion)
        keys().use(now.shortcuts)

    def _show_shortcuts(self) -> None:
        # Here, as the window starts sooner without the page's code.
        from ui.settings.page import SettingsPage

        self.places.open(Place.SETTINGS)
        for page in self.findChildren(SettingsPage):
            page.show_shortcuts()

    def _get_model(self, link: str) -> None:
        """Show what a link leads to, or with an empty one where to get models."""
        # Here, as the window starts sooner without the page's code.
        from ui.models.page import ModelsPage

        self.places.open(Place.MODELS)
        for page in self.findChildren(ModelsPage):
            page.look_up(link)

    def _show_form(self) -> None:
        self._open_create()
        self.create_page.details_place.show_form()

    def _open_create(self) -> None:
        # Where it is open already, the focus stays: a key was pressed in a field of the dock.
        if self.places.place is not Place.CREATE:
            self.places.open(Place.CREATE)

    def _show_picture(self, path: str) -> None:
        """Show a picture where the user is, else in Create."""
        if self.places.open_picture(path):
            return
        self.session.view.choose(path)
        self._open_create()

    def _show_pictures(self, paths: Sequence[str]) -> None:
        self.places.open(Place.GALLERY)
        self.places.choose_pictures(paths)

    def _go_to_form(self) -> None:
        """Open the form, with the picture that the page before was about."""
        picture = self.places.picture
        if picture is not None:
            self.session.view.choose(picture)
        self._show_form()

    def _check_for_updates(self) -> None:
        """Show the versions, and look for a newer one, as the menu says."""
        self.windows.show_updates()
        updates = self.session.updates
        if updates.available and updates.state.stage in (UpdateStage.IDLE, UpdateStage.UP_TO_DATE):
            updates.check()
