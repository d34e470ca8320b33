"""The item model of the embeddings to choose from: searched, the suited ones first."""

import html
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.form.embedding_list import EmbeddingFit
from app.library.picture_files import Picture
from app.session import Session
from engine.api.conventions import convention_of
from engine.api.embeddings import EmbeddingInfo
from engine.api.folded import folded
from ui.embedding_labels import embedding_reason, embedding_summary, name_reason
from ui.item_models.lora_item_model import ABOUT_ROLE, CHOSEN_ROLE, SUITED_ROLE
from ui.thumbnails import ThumbnailStore

Index = QModelIndex | QPersistentModelIndex


class EmbeddingItemModel(QAbstractListModel):
    """An item model with one row for each embedding that the search finds."""

    def __init__(
        self, session: Session, pictures: ThumbnailStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._pictures = session, pictures
        self._names: list[str] = []
        self._search = ""
        session.embeddings.changed.connect(self._fill)
        session.embedding_list.rows_changed.connect(self._show_all_anew)
        pictures.ready.connect(self._show_all_anew)
        session.embeddings.describe(session.embeddings.names)
        self._fill()

    def search(self, text: str) -> None:
        """Show the embeddings that have every word of a text in their names or purposes."""
        self._search = text
        self._fill()

    def name_at(self, row: int) -> str:
        """Return the embedding in a row."""
        return self._names[row]

    def row_of(self, name: str) -> int | None:
        """Return the row of an embedding; None if it is not shown."""
        return self._names.index(name) if name in self._names else None

    def is_named(self, name: str, *, negative: bool) -> bool:
        """Return True if a prompt names an embedding."""
        rows = self._session.embedding_list.rows
        return any((row.name, row.is_negative) == (name, negative) for row in rows)

    def is_suited(self, name: str) -> bool:
        """Return True if the model can use an embedding, as far as is known."""
        info = self._session.embeddings.info(name)
        is_broken = info is not None and bool(info.problem)
        is_apt = not is_broken and self._fit(info) is not EmbeddingFit.NONE
        return is_apt and self._session.embedding_list.spells(name)

    def _fit(self, info: EmbeddingInfo | None) -> EmbeddingFit:
        return EmbeddingFit.ALL if info is None else self._session.embedding_list.fit(info)

    def words(self, name: str) -> str:
        """Return everything about an embedding in a sentence."""
        info = self._session.embeddings.info(name)
        reason = embedding_reason(info, self._fit(info))
        if not self._session.embedding_list.spells(name):
            convention = convention_of(self._session.generation.convention)
            reason = name_reason(convention.name.label)
        trained = info.trained_on if info is not None else ""
        if trained:
            trained = self.tr("trained on {model}").format(model=trained[:80])
        return ", ".join(filter(None, (name, embedding_summary(info), trained, reason)))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 (Qt's own)
        """Return the number of embeddings."""
        return 0 if parent.isValid() else len(self._names)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return an embedding's name, picture (None until it is read), line, tooltip or state."""
        if not index.isValid() or index.row() >= len(self._names):
            return None
        name = self._names[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return name
            case Qt.ItemDataRole.DecorationRole:
                return self._picture(name)
            case Qt.ItemDataRole.AccessibleTextRole:
                return self.words(name)
            case Qt.ItemDataRole.ToolTipRole:
                return f"<qt>{html.escape(self.words(name))}</qt>"
            case _ if role == ABOUT_ROLE:
                return embedding_summary(self._session.embeddings.info(name))
            case _ if role == CHOSEN_ROLE:
                return any(self.is_named(name, negative=negative) for negative in (False, True))
            case _ if role == SUITED_ROLE:
                return self.is_suited(name)
            case _:
                return None

    def _picture(self, name: str) -> Any:
        info = self._session.embeddings.info(name)
        if info is None or not info.preview:
            return None
        thumbnail = self._pictures.get(Picture(info.preview, info.preview_modified_ns, 0))
        return thumbnail.pixmap if thumbnail is not None else None

    def _fill(self, *_: object) -> None:
        store, wanted = self._session.embeddings, folded(self._search).split()
        # After another listing their files are read again.
        store.describe(store.names)
        found = [
            name for name in store.names if all(word in folded(self.words(name)) for word in wanted)
        ]
        found.sort(key=lambda name: (not self.is_suited(name), name.casefold()))
        if found == self._names:
            self._show_all_anew()
            return
        self.beginResetModel()
        self._names = found
        self.endResetModel()

    def _show_all_anew(self, *_: object) -> None:
        if self._names:
            self.dataChanged.emit(self.index(0), self.index(len(self._names) - 1))
