"""The item model of the checkpoints to choose from."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.library.checkpoints import ListedCheckpoint
from app.session import Session
from ui.checkpoint_labels import model_about
from ui.labels import checkpoint_label
from ui.widgets.choice_rows import ABOUT_ROLE

Index = QModelIndex | QPersistentModelIndex


class CheckpointItemModel(QAbstractListModel):
    """An item model with one row for each checkpoint in the store."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._store = session.checkpoints
        self._entries = self._store.entries
        self._store.changed.connect(self._on_changed)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 (Qt's own)
        """Return the number of checkpoints."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a checkpoint's name, a line about it, or its path for screen readers."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._name(entry)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return str(entry.path)
        if role == ABOUT_ROLE:
            return model_about(self._session, entry)
        return None

    def searched_texts(self) -> list[str]:
        """Return the name and the path of each checkpoint."""
        return [f"{self._name(entry)}\n{entry.path}" for entry in self._entries]

    def path_at(self, row: int) -> Path:
        """Return the path of the checkpoint in a row."""
        return self._entries[row].path

    def row_of(self, path: Path) -> int:
        """Return the row of a checkpoint, -1 if it is not in the list."""
        rows = (row for row, entry in enumerate(self._entries) if entry.path == path)
        return next(rows, -1)

    def _name(self, entry: ListedCheckpoint) -> str:
        label = checkpoint_label(entry)
        if self._store.is_gone(entry.path):
            return self.tr("{name} (missing)").format(name=label)
        return label

    def _on_changed(self) -> None:
        self.beginResetModel()
        self._entries = self._store.entries
        self.endResetModel()
