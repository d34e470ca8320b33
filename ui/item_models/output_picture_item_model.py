"""The item model of the output folder's pictures."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt

from app.library.output_pictures import OutputPictures
from ui.item_models.dragged_pictures import DraggedPictures, Index
from ui.labels import when
from ui.thumbnails import ThumbnailStore
from ui.widgets.labels import plain_tooltip

PATH_ROLE = Qt.ItemDataRole.UserRole + 1
# An item role: True if the file was read and is not a picture.
BROKEN_ROLE = Qt.ItemDataRole.UserRole + 2


class OutputPictureItemModel(DraggedPictures):
    """An item model with one row per picture, newest first; `ThumbnailStore` reads the files."""

    def __init__(
        self, store: OutputPictures, thumbnails: ThumbnailStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._thumbnails = thumbnails
        store.inserting.connect(self._on_inserting)
        store.inserted.connect(self._on_inserted)
        store.removing.connect(self._on_removing)
        store.removed.connect(self._on_removed)
        store.resetting.connect(self.beginResetModel)
        store.was_reset.connect(self.endResetModel)
        thumbnails.ready.connect(self._on_thumbnail)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 (Qt's own)
        """Return the number of pictures."""
        return 0 if parent.isValid() else len(self._store)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a picture's thumbnail (None until it is read), path, tooltip or description."""
        if not index.isValid() or index.row() >= len(self._store):
            return None
        picture = self._store[index.row()]
        if role == PATH_ROLE:
            return picture.path
        if role == Qt.ItemDataRole.DisplayRole:
            return Path(picture.path).name
        if role == Qt.ItemDataRole.DecorationRole:
            thumbnail = self._thumbnails.get(picture)
            return thumbnail.pixmap if thumbnail else None
        if role == BROKEN_ROLE:
            thumbnail = self._thumbnails.get(picture)
            return thumbnail is not None and thumbnail.pixmap is None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._words(index.row())
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(self._words(index.row()))
        return None

    def path_at(self, row: int) -> str:
        """Return the path of a picture's file."""
        return self._store[row].path

    def index_of(self, path: str) -> QModelIndex:
        """Return the index of a picture, invalid if it is not in the list."""
        row = self._store.row_of(path)
        return QModelIndex() if row is None else self.index(row)

    def _words(self, row: int) -> str:
        picture = self._store[row]
        thumbnail = self._thumbnails.get(picture)
        name = Path(picture.path).name
        if thumbnail is not None and thumbnail.pixmap is None:
            name = self.tr("{name}: not a picture that can be shown").format(name=name)
        prompt = thumbnail.prompt if thumbnail else ""
        return f"{prompt or name}, {when(picture.modified_ns)}"

    def _on_inserting(self, first: int, last: int) -> None:
        self.beginInsertRows(QModelIndex(), first, last)

    def _on_inserted(self) -> None:
        self.endInsertRows()

    def _on_removing(self, first: int, last: int) -> None:
        self.beginRemoveRows(QModelIndex(), first, last)

    def _on_removed(self) -> None:
        self.endRemoveRows()

    def _on_thumbnail(self, path: str) -> None:
        index = self.index_of(path)
        if index.isValid():
            self.dataChanged.emit(index, index)
