"""The item model of a folder's entries: listed in the background, searched, with thumbnails."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.background import Background
from app.library.folder_entries import FolderEntry, list_entries
from app.library.picture_files import Picture, is_picture
from engine.api.folded import folded
from ui.labels import file_size, when
from ui.picture_facts import seen
from ui.theme.metrics import LORA_PICTURE
from ui.thumbnails import ThumbnailStore
from ui.widgets.labels import PARTED, plain_tooltip

Index = QModelIndex | QPersistentModelIndex
# Item roles: the line below the name, and True for a folder.
ABOUT_ROLE = Qt.ItemDataRole.UserRole + 1
FOLDER_ROLE = Qt.ItemDataRole.UserRole + 2


class FolderItemModel(QAbstractListModel):
    """An item model with one row for each entry of a folder that the search finds."""

    # The folder's entries are there, or it cannot be read.
    listed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = Background(1, self)
        self._thumbnails = ThumbnailStore(LORA_PICTURE, parent=self)
        self._thumbnails.ready.connect(self._on_picture)
        self._folder, self._wanted = Path(), 0
        self._all: Sequence[FolderEntry] = ()
        self._shown: list[FolderEntry] = []
        self._words: list[str] = []
        self.is_listing = False
        # The reason why the folder cannot be read, as the system says it; empty if it was read.
        self.problem = ""

    def show_folder(self, folder: Path, patterns: Sequence[str]) -> None:
        """List a folder's folders and the files that fit a pattern; `listed` follows."""
        self._wanted += 1
        wanted, self.is_listing, self.problem = self._wanted, True, ""
        if folder != self._folder:
            self._folder, self._all = folder, ()
            self._fill()

        def read() -> Sequence[FolderEntry] | str:
            try:
                return list_entries(folder, patterns)
            except OSError as error:
                return error.strerror or str(error)

        def take(found: Sequence[FolderEntry] | str) -> None:
            if wanted == self._wanted:
                self._take(found)

        self._background.run(read, take)

    def search(self, text: str) -> None:
        """Show the entries that have every word of a text in their names."""
        self._words = folded(text).split()
        self._fill()

    def entry_at(self, row: int) -> FolderEntry:
        """Return the entry in a row."""
        return self._shown[row]

    def row_of(self, path: str) -> int | None:
        """Return the row of an entry; None if it is not shown."""
        return next((row for row, entry in enumerate(self._shown) if entry.path == path), None)

    def use_ratio(self, ratio: float) -> None:
        """Make thumbnails for a screen with this device pixel ratio."""
        self._thumbnails.use_ratio(ratio)

    def close(self) -> None:
        """Read no more; wait for what is being read."""
        self._background.close()
        self._thumbnails.close()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 (Qt's own)
        """Return the number of entries."""
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return an entry's name, thumbnail (None until it is read), line or tooltip."""
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        entry = self._shown[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return seen(entry.name)
            case Qt.ItemDataRole.DecorationRole:
                return self._thumbnail(entry)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tooltip(seen(entry.name), about(entry))
            case _ if role == ABOUT_ROLE:
                return about(entry)
            case _ if role == FOLDER_ROLE:
                return entry.is_folder
            case _:
                return None

    def _take(self, found: Sequence[FolderEntry] | str) -> None:
        self.is_listing = False
        self._all, self.problem = ((), found) if isinstance(found, str) else (found, "")
        self._fill()
        self.listed.emit()

    def _fill(self) -> None:
        self.beginResetModel()
        self._shown = [entry for entry in self._all if self._has_words(folded(entry.name))]
        self.endResetModel()

    def _has_words(self, name: str) -> bool:
        return all(word in name for word in self._words)

    def _thumbnail(self, entry: FolderEntry) -> Any:
        if entry.is_folder or not is_picture(Path(entry.path)):
            return None
        thumbnail = self._thumbnails.get(Picture(entry.path, entry.modified_ns, entry.size))
        return thumbnail.pixmap if thumbnail is not None else None

    def _on_picture(self, path: str) -> None:
        row = self.row_of(path)
        if row is not None:
            place = self.index(row)
            self.dataChanged.emit(place, place, [Qt.ItemDataRole.DecorationRole])


def about(entry: FolderEntry) -> str:
    """Return a line on an entry: its size, unless it is a folder, and when it was changed."""
    changed = when(entry.modified_ns)
    return changed if entry.is_folder else f"{file_size(entry.size)}{PARTED}{changed}"
