"""The page of models: yours, where to get more, and the folders that are looked into."""

from functools import cached_property
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.library.file_kind import FileKind
from app.library.picture_files import is_picture
from app.session import Session
from engine.file_paths import is_folder
from ui.actions import ActionName, Actions
from ui.models.folders import FoldersView
from ui.models.get import GetModels
from ui.models.yours import YourModels
from ui.theme.metrics import MODEL_PICTURE, L, M, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.labels import plain_label, rule
from ui.widgets.stack import Stack


class ModelsPage(QWidget):
    """A page with three views, chosen at its top. Folders, files and links can be dropped on it."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self.setAcceptDrops(True)
        self.pictures = ThumbnailStore(MODEL_PICTURE, parent=self)
        self.pictures.failed.connect(session.notices.tell_error)
        self.yours = YourModels(session, theme, actions, self.pictures)
        self.stack = Stack()
        self.views = QButtonGroup(self)
        self._lay_out()
        self.views.idClicked.connect(self.show_view)
        self.yours.gone.clicked.connect(self._show_gone)
        invitation = self.yours.invitation
        invitation.get.clicked.connect(lambda: self.show_view(1))
        invitation.folder.clicked.connect(self._add_folder)
        invitation.file.clicked.connect(actions[ActionName.OPEN].trigger)

    @cached_property
    def get(self) -> GetModels:
        """The view of where to get more, which is made when it is first shown."""
        view = GetModels(self._session, self._theme)
        self.stack.addWidget(view)
        return view

    @cached_property
    def folders(self) -> FoldersView:
        """The view of the folders, which is made when it is first shown."""
        view = FoldersView(self._session, self._theme)
        self.stack.addWidget(view)
        return view

    @property
    def entry(self) -> QWidget:
        """The control that a key leads to."""
        return self.yours.list if self.yours.isVisible() else self.views.buttons()[0]

    @property
    def room_for_messages(self) -> QWidget:
        """The part that messages may lie over: not what is done with a model, beside the list."""
        shown = self.stack.currentWidget()
        return self.yours.list if shown is None or shown is self.yours else shown

    def show_view(self, view: int) -> None:
        """Show the user's models (0), where to get more (1), or the folders (2)."""
        self.views.button(view).setChecked(True)
        shown = self.yours if view == 0 else self.get if view == 1 else self.folders
        self.stack.setCurrentWidget(shown)

    def look_up(self, link: str) -> None:
        """Show what a link leads to, to be agreed to; an empty one shows where to get models."""
        if link:
            self.get.look_up(link)
        self.show_view(1)
        self.get.link.setFocus()

    def close_background(self) -> None:
        """Wait for the decoding threads; called when the application ends."""
        self.pictures.close()

    def _show_gone(self) -> None:
        self.show_view(2)
        self.views.button(2).setFocus()

    def _add_folder(self) -> None:
        """Ask for a folder; show those that are looked into, with what other programs have."""
        self.show_view(2)
        self.folders.add.click()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(L, M, L, M)
        top.setSpacing(S)
        top.addWidget(plain_label(self.tr("Models"), "title"))
        top.addSpacing(M)
        names = (self.tr("Yours"), self.tr("Get models"), self.tr("Folders"))
        for view, name in enumerate(names):
            button = QPushButton(name)
            button.setCheckable(True)
            button.setProperty("role", "choice")
            button.setMinimumWidth(button.fontMetrics().horizontalAdvance(name) + 2 * M)
            self.views.addButton(button, view)
            top.addWidget(button)
        self.stack.addWidget(self.yours)
        top.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addWidget(self.stack, 1)
        self.show_view(0)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Read the folders again: a network folder does not tell of its changes."""
        super().showEvent(event)
        self.pictures.use_ratio(self.devicePixelRatioF())
        # Otherwise keys would go on to the place that was left.
        self.yours.list.setFocus()
        self._session.models.store.refresh()
        self._session.models.folders.look()

    def event(self, event: QEvent) -> bool:
        """Draw pictures at the resolution of a new screen."""
        if event.type() is QEvent.Type.DevicePixelRatioChange:
            self.pictures.use_ratio(self.devicePixelRatioF())
        return super().event(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 (Qt's name)
        """Accept folders, files of weights and links."""
        path = _dropped(event.mimeData())
        if self._takes(path) or _link(event.mimeData()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def _takes(self, path: Path | None) -> bool:
        """Return False for what the window has cards for: pictures, and files that are refused."""
        if path is None or is_picture(path):
            return False
        return self._session.opening.kind(path) is not FileKind.FOREIGN

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 (Qt's name)
        """Look into a folder, use a file, or show what a link leads to."""
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        path, link = _dropped(event.mimeData()), _link(event.mimeData())
        if path is None:
            self.look_up(link)
        elif is_folder(path):
            self._session.models.folders.add(path)
            self.show_view(2)
        else:
            self._session.open_file(path)
            self._session.model.used.emit()


def _dropped(data: QMimeData) -> Path | None:
    """Return the first local file or folder in dragged data; None without one."""
    paths = (Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return next(paths, None)


def _link(data: QMimeData) -> str:
    """Return the web address in dragged data; empty without one."""
    found = (url.toString() for url in data.urls() if url.scheme() in ("http", "https"))
    text = data.text().strip() if data.hasText() else ""
    return next(found, text if text.startswith(("http://", "https://")) else "")
