"""The folders that are looked into for models, and those of other programs that were found."""

from contextlib import suppress

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.commands.model_folders import WatchedFolder
from app.library.tool_folders import ToolFolder
from app.session import Session
from ui.labels import files_label
from ui.model_folder import ask_for_folder
from ui.model_labels import tool_label
from ui.picture_actions import open_folder
from ui.theme.metrics import XS, L, M, S
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, plain_label
from ui.widgets.scroll_area import scroll_area

_WIDTH = 760


class FoldersView(QWidget):
    """A list of folders that are added and removed in place; every change applies at once."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self.add = QPushButton(self.tr("Add a folder…"))
        self.watched: list[FolderRow] = []
        self.offers: list[OfferRow] = []
        self._rows, self._offers = QVBoxLayout(), QVBoxLayout()
        self._found = plain_label(self.tr("Found on this computer"), "heading")
        self._lay_out()
        self.add.clicked.connect(self._choose)
        session.models.folders.changed.connect(self._on_changed)
        self._refresh()

    def _lay_out(self) -> None:
        words = plain_label(
            self.tr(
                "Models stay where they are: nothing is copied or changed. Folders below these are "
                "looked into, too, and new files appear by themselves."
            ),
            "label",
            wrap=True,
        )
        content = QWidget()
        content.setMaximumWidth(_WIDTH)
        column = QVBoxLayout(content)
        column.setContentsMargins(L, M, L, L)
        column.setSpacing(S)
        column.addWidget(plain_label(self.tr("Your folders"), "heading"))
        column.addWidget(words)
        for rows in (self._rows, self._offers):
            rows.setSpacing(S)
        column.addLayout(self._rows)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeading)
        column.addSpacing(L)
        column.addWidget(self._found)
        column.addLayout(self._offers)
        column.addStretch()
        area = scroll_area(self.tr("Folders of models"))
        area.setWidget(content)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Show the folders as they are now: changes are not followed while nobody looks."""
        super().showEvent(event)
        self._session.models.folders.look()
        self._refresh()

    def _on_changed(self) -> None:
        if self.isVisible():
            self._refresh()

    def _choose(self) -> None:
        folder = ask_for_folder(self._session, self)
        if folder is not None:
            self._session.models.folders.add(folder)

    def _refresh(self) -> None:
        """Show the folders; rows are made anew only if other folders, or kinds of rows, are there.

        Numbers of files change often, and many rows take longer to make than a frame lasts.
        """
        folders = self._session.models.folders
        watched, found = folders.watched, folders.found
        shown = [row.kind for row in self.watched], [row.offer for row in self.offers]
        if shown == (list(map(_kind, watched)), list(found)):
            for row, files in zip(self.watched, watched, strict=True):
                row.show_files(files)
            return
        for row in (*self.watched, *self.offers):
            row.hide()
            row.deleteLater()
        self.watched = [FolderRow(self._session, self._theme, folder) for folder in watched]
        self.offers = [OfferRow(self._session, offer) for offer in found]
        for row in self.watched:
            self._rows.addWidget(row)
        for row in self.offers:
            self._offers.addWidget(row)
        self._found.setVisible(bool(self.offers))


def _kind(folder: WatchedFolder) -> WatchedFolder:
    """Return a folder as its row is made for, whatever the number of its files."""
    return msgspec.structs.replace(folder, files=0)


class FolderRow(QFrame):
    """A folder that is looked into; one that is not there now is said to be missing."""

    def __init__(self, session: Session, theme: Theme, folder: WatchedFolder) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._session, self.kind = session, _kind(folder)
        path = str(folder.path)
        name = plain_label(breakable(path), wrap=True)
        self.state = plain_label(self._words(folder), "caption", wrap=True)
        if folder.is_missing and not self._is_to_come(folder):
            self.state.setProperty("role", "error")
        self.open = IconButton(theme, "reveal", self.tr("Show {folder}").format(folder=path))
        self.remove = IconButton(
            theme, "close", self.tr("Look into {folder} no longer").format(folder=path)
        )
        self.open.setEnabled(not folder.is_missing or self._is_to_come(folder))
        self.open.clicked.connect(lambda: self._open(folder))
        self.remove.clicked.connect(lambda: session.models.folders.remove(folder.path))
        words = QVBoxLayout()
        words.setSpacing(XS)
        words.addWidget(name)
        words.addWidget(self.state)
        row = QHBoxLayout(self)
        row.setContentsMargins(M, S, S, S)
        row.addLayout(words, 1)
        row.addWidget(self.open)
        row.addWidget(self.remove)
        if not folder.is_removable:
            self.remove.hide()

    def show_files(self, folder: WatchedFolder) -> None:
        """Show the same folder with another number of files."""
        self.state.setText(self._words(folder))

    def _open(self, folder: WatchedFolder) -> None:
        if self._is_to_come(folder):
            with suppress(OSError):
                folder.path.mkdir(parents=True)
            self._session.models.folders.look()
        open_folder(str(folder.path), self._session.notices)

    def _is_to_come(self, folder: WatchedFolder) -> bool:
        """Return True for the usual folder of models before anybody made it."""
        is_usual = not folder.is_removable and not self._session.settings.now.models_folder
        return folder.is_missing and is_usual

    def _words(self, folder: WatchedFolder) -> str:
        if self._is_to_come(folder):
            return self.tr("Always looked into. It is made when you open it.")
        if folder.is_missing:
            return self.tr("Not there now. It is looked into again when it is back.")
        count = files_label(folder.files)
        return count if folder.is_removable else self.tr("Always looked into · {n}").format(n=count)


class OfferRow(QFrame):
    """A folder of another program, with a button that has it looked into."""

    def __init__(self, session: Session, offer: ToolFolder) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.offer = offer
        title = plain_label(tool_label(offer))
        place = plain_label(breakable(str(offer.folder)), "caption", wrap=True)
        self.add = QPushButton(self.tr("Look into it"))
        self.add.setAccessibleName(self.tr("Look into {folder}").format(folder=offer.folder))
        self.add.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.add.clicked.connect(lambda: session.models.folders.add(offer.folder))
        words = QVBoxLayout()
        words.setSpacing(XS)
        words.addWidget(title)
        words.addWidget(place)
        row = QHBoxLayout(self)
        row.setContentsMargins(M, S, M, S)
        row.addLayout(words, 1)
        row.addWidget(self.add)
