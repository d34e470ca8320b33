"""The list of watched folders: choose one to see only its pictures, add, remove."""

from pathlib import Path

from PySide6.QtCore import QLocale, QPoint, Qt, Signal
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.gallery.index import GalleryIndex
from app.gallery.rows import Facets, FolderState, Root, WatchedFolder
from app.notices.notices import NoticeState
from app.paths import nearest_folder
from ui.delegates.folder_delegate import NOTE_ROLE, FolderDelegate
from ui.files.chooser import FileChooser
from ui.gallery.labels import count_label, folder_label
from ui.picture_actions import reveal
from ui.theme.metrics import M, S
from ui.theme.theme import Theme
from ui.widgets.labels import plain_label, plain_tooltip
from ui.widgets.tick_box import TickBox

_PATH = Qt.ItemDataRole.UserRole
_WIDTH = 200


class FoldersPane(QWidget):
    """The watched folders with their numbers of pictures; the first entry is all of them."""

    # Emits the folder that the user chose, None for all, and True if its subfolders belong to it.
    chosen = Signal(object, bool)

    def __init__(self, index: GalleryIndex, notices: NoticeState, theme: Theme) -> None:
        super().__init__()
        self._index, self._notices = index, notices
        self._theme = theme
        self._facets = Facets()
        # The numbers of pictures in folders, by what is looked into.
        self._counts: dict[Root, int] = {}
        self.setProperty("role", "panel")
        self.setFixedWidth(_WIDTH)
        self.list = QListWidget()
        self.list.setProperty("role", "places")
        self.list.setAccessibleName(self.tr("Folders of pictures"))
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.setItemDelegate(FolderDelegate(theme, self.list))
        self.list.setWordWrap(False)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.add = QPushButton(self.tr("Add folder…"))
        self.add.setToolTip(self.tr("Show the pictures of another folder, with its subfolders"))
        self.subfolders = TickBox(self.tr("With subfolders"))
        self.subfolders.setToolTip(
            self.tr("Show the pictures in the folders below the chosen one, too")
        )
        self.remove = QPushButton(self.tr("Remove"))
        self.remove.setToolTip(self.tr("Show them no more; the files stay where they are"))
        column = QVBoxLayout(self)
        column.setContentsMargins(S, M, S, S)
        column.setSpacing(S)
        column.addWidget(plain_label(self.tr("Folders"), "heading"))
        column.addWidget(self.list, 1)
        column.addWidget(self.subfolders)
        column.addWidget(self.add)
        column.addWidget(self.remove)
        self.add.clicked.connect(self.add_folder)
        self.subfolders.clicked.connect(self._use_subfolders)
        self.remove.clicked.connect(self._remove)
        self.list.currentItemChanged.connect(self._on_current)
        self.list.customContextMenuRequested.connect(self._show_menu)
        index.folders_changed.connect(self._fill)
        theme.changed.connect(self._fill)
        self._fill()

    def show_counts(self, facets: Facets) -> None:
        """Show the numbers of pictures in the folders, with those below them."""
        self._facets = facets
        self._counts.clear()
        self._fill()

    @property
    def folder(self) -> Path | None:
        """The chosen folder, None for all."""
        # The current one: a click selects it only after it has been told.
        row = self.list.currentRow()
        return self.list.item(row).data(_PATH) if row >= 0 else None

    def _fill(self) -> None:
        current = self.folder
        self.list.blockSignals(True)
        self.list.clear()
        colour = self._theme.colours.muted
        everything = QListWidgetItem(self._theme.icon("tiles", colour), self.tr("All pictures"))
        total = self._facets.total
        everything.setToolTip(count_label(total))
        everything.setData(NOTE_ROLE, QLocale().toString(total) if total else "")
        self.list.addItem(everything)
        self.list.setCurrentItem(everything)
        for folder in self._index.folders:
            item = self._item(folder)
            self.list.addItem(item)
            if folder.path == current:
                self.list.setCurrentItem(item)
        self.list.blockSignals(False)
        self._refresh()
        if self.folder != current:
            self._tell()

    def _item(self, folder: WatchedFolder) -> QListWidgetItem:
        root = Root(folder.path, folder.with_subfolders)
        count = self._count(root)
        # The folder of new pictures is made with the first one.
        is_there = folder.state is not FolderState.MISSING or not (folder.removable or count)
        colour = self._theme.colours.muted
        icon = self._theme.icon("folder" if is_there else "warning", colour)
        is_fresh = is_there and folder.state is FolderState.MISSING
        state = "" if is_fresh else folder_label(folder.state)
        name = folder.path.name or str(folder.path)
        item = QListWidgetItem(icon, name)
        item.setData(_PATH, folder.path)
        item.setData(NOTE_ROLE, QLocale().toString(count) if count else "")
        words = (name, count_label(count), state, str(folder.path))
        item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(filter(None, words)))
        item.setToolTip(plain_tooltip(str(folder.path), count_label(count), state))
        return item

    def _count(self, root: Root) -> int:
        # Kept: a scan that begins or ends fills the list, too, and folders may be thousands.
        if root not in self._counts:
            folders = self._facets.folders
            self._counts[root] = sum(
                folder.count for folder in folders if root.has(Path(folder.name))
            )
        return self._counts[root]

    def _on_current(self) -> None:
        self._refresh()
        self._tell()

    def _tell(self) -> None:
        watched = self._watched
        self.chosen.emit(self.folder, watched is None or watched.with_subfolders)

    @property
    def _watched(self) -> WatchedFolder | None:
        """The chosen folder with what is known of it, None for all."""
        return next((folder for folder in self._index.folders if folder.path == self.folder), None)

    def _refresh(self) -> None:
        watched = self._watched
        self.remove.setVisible(watched is not None and watched.removable)
        self.subfolders.setVisible(watched is not None)
        self.subfolders.setChecked(watched is not None and watched.with_subfolders)

    def _use_subfolders(self, wanted: bool) -> None:
        if self.folder is not None:
            self._index.use_subfolders(self.folder, wanted=wanted)
            self._tell()

    def add_folder(self) -> None:
        """Ask for a folder, and watch it."""
        title = self.tr("Add a folder of pictures")
        start = nearest_folder(self._index.folders[0].path.parent)
        if path := FileChooser.open_folder(self, title, start):
            self._index.add_folder(Path(path))

    def _remove(self) -> None:
        if self.folder is not None:
            self._index.remove_folder(self.folder)

    def _show_menu(self, place: QPoint) -> None:
        folder = self.folder
        if folder is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Show in file manager"), lambda: reveal(str(folder), self._notices))
        if self.remove.isVisible():
            menu.addAction(self.tr("Remove from the Gallery"), self._remove)
        menu.popup(self.list.viewport().mapToGlobal(place))
