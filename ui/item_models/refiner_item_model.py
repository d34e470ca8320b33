"""The item model of the checkpoints that may refine a picture."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.library.checkpoints import ListedCheckpoint
from app.session import Session
from engine.api.checkpoints import CheckpointInfo
from engine.api.values import ErrorInfo
from engine.api.weight_suffixes import weights_name
from ui.checkpoint_labels import model_about
from ui.labels import checkpoint_label
from ui.widgets.choice_rows import ABOUT_ROLE

Index = QModelIndex | QPersistentModelIndex
_NAMED_SO = "refiner"


class RefinerItemModel(QAbstractListModel):
    """An item model with a row for no refiner, then one for each possible refiner.

    The first ones have "refiner" in their names.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._store = store = session.checkpoints
        # (path, name) of all checkpoints: texts, as thousands of paths are slow to compare.
        self._listed: list[tuple[str, str]] = []
        # Paths of those that are known not to be refiners.
        self._others: set[str] = set()
        self._offered: list[tuple[str, str]] = []
        store.changed.connect(self._list)
        store.looked.connect(self._on_looked)
        self._list()

    def offer(self, checkpoint: Path, refiner: str | None) -> None:
        """Offer what may refine the pictures of a checkpoint, and the chosen refiner."""
        left_out = self._others | {str(checkpoint)}
        answer = self._store.answer(checkpoint)
        family = answer.family if isinstance(answer, CheckpointInfo) else ""
        offered = [
            entry
            for entry in self._listed
            if entry[0] not in left_out and self._may_refine(entry[0], family)
        ]
        if refiner is not None and all(path != refiner for path, _ in offered):
            offered.append((refiner, weights_name(refiner)))
        offered.sort(key=lambda entry: _NAMED_SO not in entry[1].lower())
        if offered != self._offered:
            self.beginResetModel()
            self._offered = offered
            self.endResetModel()

    def _may_refine(self, path: str, family: str) -> bool:
        """Return False for a checkpoint that is known to be of a family with other latents.

        The family of refiners for another one is named after that.
        """
        info = self._session.models.store.info(path)
        families = info.families if info is not None else ()
        return not families or any(name.startswith(family) for name in families)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 (Qt's own)
        """Return the number of rows."""
        return 0 if parent.isValid() else 1 + len(self._offered)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a checkpoint's name, a line about it, or its path for screen readers."""
        if not index.isValid():
            return None
        if not index.row():
            return self.tr("None") if role == Qt.ItemDataRole.DisplayRole else None
        path, name = self._offered[index.row() - 1]
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return path
        if role == ABOUT_ROLE:
            return model_about(self._session, ListedCheckpoint(name, Path(path)))
        return None

    def searched_texts(self) -> list[str]:
        """Return the word for none, then the name and the path of each checkpoint."""
        return [self.tr("None"), *(f"{name}\n{path}" for path, name in self._offered)]

    def path_at(self, row: int) -> str | None:
        """Return the path of the checkpoint in a row; None for no refiner."""
        return self._offered[row - 1][0] if row else None

    def row_of(self, path: str | None) -> int:
        """Return the row of a checkpoint; the row of no refiner where it is not offered."""
        rows = (row for row, (own, _) in enumerate(self._offered, 1) if own == path)
        return next(rows, 0)

    def _list(self) -> None:
        entries = self._store.entries
        self._listed = [(str(entry.path), checkpoint_label(entry)) for entry in entries]
        for entry in entries:
            self._on_looked(entry.path, self._store.answer(entry.path))

    def _on_looked(self, path: Path, answer: CheckpointInfo | ErrorInfo | None) -> None:
        if isinstance(answer, CheckpointInfo) and not answer.features.refines:
            self._others.add(str(path))
        else:
            self._others.discard(str(path))
