"""The embeddings of the form: a card for each that a prompt names, and a button to add more."""

from typing import TYPE_CHECKING

from PySide6.QtGui import QImage

from app.form.embedding_list import EmbeddingRow
from app.library.picture_files import Picture
from app.session import Session
from engine.api.embeddings import EmbeddingInfo
from ui.panels.card_list import CardList
from ui.panels.embedding_row import EmbeddingRowPanel
from ui.theme.metrics import M
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore

if TYPE_CHECKING:
    from ui.dialogs.embedding_dialog import EmbeddingDialog


class EmbeddingPanel(CardList[EmbeddingRowPanel]):
    """A card for each embedding that a prompt names."""

    def __init__(self, session: Session, theme: Theme, pictures: ThumbnailStore) -> None:
        super().__init__(M)
        self.heading.setText(self.tr("Embeddings"))
        self._session, self._theme, self._pictures = session, theme, pictures
        self.add.clicked.connect(self.browse)
        session.embedding_list.rows_changed.connect(self._refresh)
        session.embeddings.changed.connect(self._refresh)
        session.generation.convention_changed.connect(self._refresh)
        session.generation.suggestions_changed.connect(self._refresh)
        session.generation.guidance_options_changed.connect(self._refresh)
        pictures.ready.connect(self._on_picture)
        self._refresh()

    def browse(self) -> "EmbeddingDialog":
        """Open the list of all embeddings."""
        # Here, as the window starts sooner without its dialogs.
        from ui.dialogs.embedding_dialog import EmbeddingDialog

        dialog = EmbeddingDialog(self._session, self._theme, self._pictures, self.window())
        dialog.open()
        return dialog

    def _refresh(self, *_: object) -> None:
        listed, store = self._session.embedding_list, self._session.embeddings
        rows = listed.rows
        self.show_count(len(rows))
        for row, panel in zip(rows, self.cards, strict=False):
            panel.show_row(row)
            # Into the negative prompt only where there is one; out of it always.
            sees_negative = self._session.generation.sees_negative
            panel.move_it.setVisible(row.is_negative or sees_negative)
            panel.show_picture(self._picture(row.info))
        self.heading.setVisible(bool(rows))
        self.add.setText(
            self.tr("Add an embedding…") if rows else self.tr("Embedding: add a learned word…")
        )
        # Whoever has no embeddings needs no button for them: a file that is dropped is explained.
        can_add = bool(store.names) and listed.can_be_named
        self.add.setVisible(can_add)
        self.setVisible(can_add or bool(rows))
        self.order_controls()

    def make_card(self, at: int) -> EmbeddingRowPanel:
        """Return a card that changes the embedding at a place."""
        panel, commands = EmbeddingRowPanel(self._theme), self._session.embedding

        def row() -> EmbeddingRow:
            return self._session.embedding_list.rows[at]

        def weigh(weight: float) -> None:
            commands.weigh(row().name, weight, negative=row().is_negative)

        panel.weighed.connect(weigh)
        panel.moved.connect(lambda: commands.move(row().name, negative=not row().is_negative))
        panel.removed.connect(lambda: commands.remove(row().name, negative=row().is_negative))
        return panel

    def _picture(self, info: EmbeddingInfo | None) -> QImage | None:
        if info is None or not info.preview:
            return None
        thumbnail = self._pictures.get(Picture(info.preview, info.preview_modified_ns, 0))
        pixmap = thumbnail.pixmap if thumbnail is not None else None
        return pixmap.toImage() if pixmap is not None else None

    def _on_picture(self, path: str) -> None:
        rows = self._session.embedding_list.rows
        for row, panel in zip(rows, self.cards, strict=False):
            if row.info is not None and row.info.preview == path:
                panel.show_picture(self._picture(row.info))
