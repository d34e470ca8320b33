"""The item model of the user's models: searched, filtered by kind and family, sorted."""

from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.library.picture_files import Picture
from app.session import Session
from engine.api.folded import folded
from engine.api.model_files import ModelInfo, ModelKind
from ui.model_labels import (
    families_label,
    kind_label,
    model_line,
    name_label,
    preview_of,
    problem_line,
)
from ui.thumbnails import ThumbnailStore
from ui.widgets.labels import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
# Item roles: the line below the name, the kind, and True for a file that nothing here can use.
LINE_ROLE = Qt.ItemDataRole.UserRole + 1
KIND_ROLE = Qt.ItemDataRole.UserRole + 2
BROKEN_ROLE = Qt.ItemDataRole.UserRole + 3


# A list is sorted anew whenever one of its files changes.
_MOST_NAMES = 20_000


class ModelOrder(StrEnum):
    """The orders of the list."""

    NAME = "name"
    NEWEST = "newest"
    LARGEST = "largest"


class ModelItemModel(QAbstractListModel):
    """An item model with one row for each model that search and filters find."""

    def __init__(
        self, session: Session, pictures: ThumbnailStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._pictures = session, pictures
        self._models: list[ModelInfo] = []
        self._rows_of: dict[str, int] = {}
        # The rows that show a picture, by its path.
        self._rows_with: dict[str, list[int]] = {}
        self._search, self._order = "", ModelOrder.NAME
        self._kind: ModelKind | None = None
        self._family = ""
        self._broken = False
        # What is searched, by path; made once for each state of a file.
        self._texts: dict[str, tuple[ModelInfo, str]] = {}
        session.models.store.changed.connect(self._fill)
        session.checkpoints.families_changed.connect(self._fill)
        pictures.ready.connect(self._on_picture)
        self._fill()

    def search(self, text: str) -> None:
        """Show the models that have every word of a text in what is known of them."""
        self._search = text
        self._fill()

    def sort_by(self, order: ModelOrder) -> None:
        """Show the models in an order."""
        self._order = order
        self._fill()

    def filter_by(self, kind: ModelKind | None, family: str, *, broken: bool) -> None:
        """Show the models of a kind and a family; None and empty for all.

        Those that cannot be used are a group of their own: `broken` shows it alone.
        """
        if (kind, family, broken) == (self._kind, self._family, self._broken):
            return
        self._kind, self._family, self._broken = kind, family, broken
        self._fill()

    @property
    def group_size(self) -> int:
        """The number of models in the group that is shown, before search and filters."""
        return sum(
            bool(model.problem) == self._broken for model in self._session.models.store.models
        )

    def info_at(self, row: int) -> ModelInfo:
        """Return the model in a row."""
        return self._models[row]

    def row_of(self, path: str) -> int | None:
        """Return the row of a model; None if it is not shown."""
        return self._rows_of.get(path)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 (Qt's own)
        """Return the number of models."""
        return 0 if parent.isValid() else len(self._models)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a model's name, picture (None until it is read), line, tooltip or state."""
        if not index.isValid() or index.row() >= len(self._models):
            return None
        read = _ROLES.get(role)
        return None if read is None else read(self, self._models[index.row()])

    def name(self, model: ModelInfo) -> str:
        """Return a model's name."""
        return name_label(self._session, model)

    def line(self, model: ModelInfo) -> str:
        """Return the line below a model's name; of one that cannot be used, why."""
        return problem_line(model) or model_line(model, self._family_of(model))

    def picture(self, model: ModelInfo) -> Any:
        """Return a model's picture as a pixmap; None without one, or until it is read."""
        preview = preview_of(self._session, model)
        if not preview:
            return None
        thumbnail = self._pictures.get(Picture(preview, model.preview_modified_ns, 0))
        return thumbnail.pixmap if thumbnail is not None else None

    def words(self, model: ModelInfo) -> str:
        """Return everything about a model in a sentence."""
        parts = (self.name(model), kind_label(model.kind), self.line(model))
        return ", ".join(filter(None, parts))

    def tooltip(self, model: ModelInfo) -> str:
        """Return the tooltip."""
        return plain_tooltip(self.words(model), model.path)

    def _family_of(self, model: ModelInfo) -> str:
        return families_label(model, self._session.checkpoints.family_title)

    def _fill(self, *_: object) -> None:
        words = folded(self._search).split()
        found = [
            model for model in self._session.models.store.models if self._is_wanted(model, words)
        ]
        found.sort(key=_KEYS[self._order])
        if found == self._models:
            return
        self.beginResetModel()
        self._models = found
        self._rows_of = {model.path: row for row, model in enumerate(found)}
        self._rows_with = {}
        for row, model in enumerate(found):
            if preview := preview_of(self._session, model):
                self._rows_with.setdefault(preview, []).append(row)
        self.endResetModel()

    def _is_wanted(self, model: ModelInfo, words: list[str]) -> bool:
        if bool(model.problem) != self._broken:
            return False
        if self._kind is not None and model.kind is not self._kind:
            return False
        if self._family and self._family not in model.families:
            return False
        if not words:
            return True
        text = self._text(model)
        return all(word in text for word in words)

    def _text(self, model: ModelInfo) -> str:
        known = self._texts.get(model.path)
        if known is not None and known[0] is model:
            return known[1]
        texts = (model.name, self.name(model), model.title, model.purpose, *model.trigger_words)
        text = folded("\n".join((*texts, self._family_of(model), model.base_model)))
        self._texts[model.path] = model, text
        return text

    def _on_picture(self, path: str) -> None:
        for row in self._rows_with.get(path, ()):
            self.dataChanged.emit(self.index(row), self.index(row))


def _by_name(model: ModelInfo) -> tuple[int, str]:
    return 0, _in_order(model.name)


@lru_cache(_MOST_NAMES)
def _in_order(name: str) -> str:
    """Return what a name is sorted by: that of the file, then the folders."""
    return f"{name.rpartition('/')[2]}\n{name}".casefold()


_KEYS: dict[ModelOrder, Callable[[ModelInfo], tuple[int, str]]] = {
    ModelOrder.NAME: _by_name,
    ModelOrder.NEWEST: lambda model: (-model.modified_ns, model.name),
    ModelOrder.LARGEST: lambda model: (-model.size, model.name),
}
_ROLES: dict[int, Callable[[ModelItemModel, ModelInfo], Any]] = {
    Qt.ItemDataRole.DisplayRole: lambda item_model, model: item_model.name(model),
    Qt.ItemDataRole.DecorationRole: lambda item_model, model: item_model.picture(model),
    Qt.ItemDataRole.AccessibleTextRole: lambda item_model, model: item_model.words(model),
    Qt.ItemDataRole.ToolTipRole: lambda item_model, model: item_model.tooltip(model),
    LINE_ROLE: lambda item_model, model: item_model.line(model),
    KIND_ROLE: lambda _item_model, model: model.kind,
    BROKEN_ROLE: lambda _item_model, model: bool(model.problem),
}
