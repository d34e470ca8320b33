"""The item model of the LoRA files to choose from: searched, sorted, the suited ones first."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.library.picture_files import Picture
from app.session import Session
from engine.api.folded import folded
from engine.api.lora_files import LoraInfo
from ui.lora_labels import (
    card_words,
    lora_name,
    lora_summary,
    place_words,
    refusal_words,
)
from ui.thumbnails import ThumbnailStore
from ui.widgets.labels import plain_tooltip

Index = QModelIndex | QPersistentModelIndex
PATH_ROLE = Qt.ItemDataRole.UserRole + 1
# Item roles: the line below the name, True for a file in the form's list, and True for one that
# the checkpoint can use.
ABOUT_ROLE = Qt.ItemDataRole.UserRole + 2
CHOSEN_ROLE = Qt.ItemDataRole.UserRole + 3
SUITED_ROLE = Qt.ItemDataRole.UserRole + 4


class LoraOrder(StrEnum):
    """The orders of the list; suited files always come before the others."""

    NAME = "name"
    NEWEST = "newest"
    LAST_USED = "last_used"


class LoraItemModel(QAbstractListModel):
    """An item model with one row for each LoRA file that the search finds."""

    def __init__(
        self, session: Session, pictures: ThumbnailStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._pictures = session, pictures
        self._loras: list[LoraInfo] = []
        self._rows_of: dict[str, int] = {}
        self._search, self._order = "", LoraOrder.NAME
        session.loras.changed.connect(self._fill)
        session.generation.checkpoint_changed.connect(self._fill)
        session.checkpoints.looked.connect(self._fill)
        session.generation.loras_changed.connect(self._show_all_anew)
        pictures.ready.connect(self._on_picture)
        self._fill()

    def search(self, text: str) -> None:
        """Show the files that have every word of a text in their names, words or base model."""
        self._search = text
        self._fill()

    def sort_by(self, order: LoraOrder) -> None:
        """Show the files in an order."""
        self._order = order
        self._fill()

    def info_at(self, row: int) -> LoraInfo:
        """Return the file in a row."""
        return self._loras[row]

    def row_of(self, path: str) -> int | None:
        """Return the row of a file; None if it is not shown."""
        return self._rows_of.get(path)

    def is_chosen(self, info: LoraInfo) -> bool:
        """Return True if a file is in the form's list."""
        return bool(self._session.lora_list.places_of(info.path))

    def is_suited(self, info: LoraInfo) -> bool:
        """Return True if the checkpoint can use a file, as far as is known."""
        return not info.problem and self._session.lora_list.suits(info)

    def refusal(self, info: LoraInfo) -> str:
        """Return a sentence on why the checkpoint cannot use a file; empty if it can."""
        if self.is_suited(info):
            return ""
        session = self._session
        checkpoint = session.checkpoints.family_title(session.lora_list.family or "")
        return refusal_words(info, self.family(info), checkpoint)

    def family(self, info: LoraInfo) -> str:
        """Return the titles of the families that a file is for; empty if they are not known."""
        return " / ".join(map(self._session.checkpoints.family_title, info.families))

    def about(self, info: LoraInfo) -> str:
        """Return the line below a file's name."""
        about = card_words(info, self.family(info), is_suited=self.is_suited(info))
        return " · ".join(filter(None, (self._place(info), about)))

    def _place(self, info: LoraInfo) -> str:
        """Return the folder of a file whose name others have, too; empty for other files."""
        alike = self._session.loras.names.same_name(info)
        return place_words(info, alike) if alike else ""

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 (Qt's own)
        """Return the number of files."""
        return 0 if parent.isValid() else len(self._loras)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a file's name, picture (None until it is read), line, tooltip or state."""
        if not index.isValid() or index.row() >= len(self._loras):
            return None
        info = self._loras[index.row()]
        read = _ROLES.get(role)
        return None if read is None else read(self, info)

    def picture(self, info: LoraInfo) -> Any:
        """Return a file's picture as a pixmap; None without one, or until it is read."""
        if not info.preview:
            return None
        thumbnail = self._pictures.get(Picture(info.preview, info.preview_modified_ns, 0))
        return thumbnail.pixmap if thumbnail is not None else None

    def words(self, info: LoraInfo) -> str:
        """Return everything about a file in a sentence."""
        if refusal := self.refusal(info):
            return refusal
        parts = [lora_name(info), self._place(info), lora_summary(info, self.family(info))]
        if self.is_chosen(info):
            parts.append(self.tr("in use"))
        if info.trigger_words:
            words = ", ".join(info.trigger_words)
            parts.append(self.tr("trigger words: {words}").format(words=words))
        return ", ".join(filter(None, parts))

    def tooltip(self, info: LoraInfo) -> str:
        """Return the tooltip."""
        return plain_tooltip(self.words(info), info.path)

    def _fill(self, *_: object) -> None:
        words = folded(self._search).split()
        found = [info for info in self._session.loras.loras if _matches(info, words)]
        found.sort(key=self._sort_key())
        if found == self._loras:
            # Another checkpoint may suit others of them.
            self._show_all_anew()
            return
        self.beginResetModel()
        self._loras = found
        self._rows_of = {info.path: row for row, info in enumerate(found)}
        self.endResetModel()

    def _sort_key(self) -> Callable[[LoraInfo], tuple[bool, int, str, str]]:
        used_ns = self._session.loras.memory.used_ns

        def key(info: LoraInfo) -> tuple[bool, int, str, str]:
            times = {
                LoraOrder.NAME: 0,
                LoraOrder.NEWEST: info.modified_ns,
                LoraOrder.LAST_USED: used_ns(info.path),
            }
            name = lora_name(info).casefold()
            return not self.is_suited(info), -times[self._order], name, info.name.casefold()

        return key

    def _show_all_anew(self) -> None:
        if self._loras:
            self.dataChanged.emit(self.index(0), self.index(len(self._loras) - 1))

    def _on_picture(self, path: str) -> None:
        for row, info in enumerate(self._loras):
            if info.preview == path:
                self.dataChanged.emit(self.index(row), self.index(row))


def _matches(info: LoraInfo, words: list[str]) -> bool:
    """Return True if each of the words is somewhere in what is known about a file."""
    if not words:
        return True
    texts = (info.name, info.title, info.base_model, info.purpose, *info.trigger_words)
    known = folded("\n".join(texts))
    return all(word in known for word in words)


_ROLES: dict[int, Callable[[LoraItemModel, LoraInfo], Any]] = {
    Qt.ItemDataRole.DisplayRole: lambda _model, info: lora_name(info),
    Qt.ItemDataRole.DecorationRole: lambda model, info: model.picture(info),
    Qt.ItemDataRole.AccessibleTextRole: lambda model, info: model.words(info),
    Qt.ItemDataRole.ToolTipRole: lambda model, info: model.tooltip(info),
    PATH_ROLE: lambda _model, info: info.path,
    ABOUT_ROLE: lambda model, info: model.about(info),
    CHOSEN_ROLE: lambda model, info: model.is_chosen(info),
    SUITED_ROLE: lambda model, info: model.is_suited(info),
}
