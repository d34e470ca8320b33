"""The embeddings of the form: a card for each that a prompt names, and a button to add more."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.form.embedding_list import EmbeddingRow
from app.library.gallery import Picture
from app.session import Session
from engine.api.embeddings import EmbeddingInfo
from ui.panels.embedding_row import EmbeddingRowPanel
from ui.theme.metrics import M, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.labels import plain_label

if TYPE_CHECKING:
    from ui.dialogs.embedding_dialog import EmbeddingDialog


class EmbeddingPanel(QWidget):
    """A heading with a card for each embedding; without any, only the button to add one."""

    def __init__(self, session: Session, theme: Theme, pictures: ThumbnailStore) -> None:
        super().__init__()
        self._session, self._theme, self._pictures = session, theme, pictures
        self.rows: list[EmbeddingRowPanel] = []
        self.heading = plain_label(self.tr("Embeddings"), "label")
        self.add = QPushButton()
        self.add.setProperty("role", "link")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addWidget(self.heading)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(M)
        column.addLayout(self._rows)
        column.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeading)
        self.add.clicked.connect(self.browse)
        session.embedding_list.rows_changed.connect(self._refresh)
        session.embeddings.changed.connect(self._refresh)
        session.generation.convention_changed.connect(self._refresh)
        session.generation.suggestions_changed.connect(self._refresh)
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
        self._make_rows(len(rows))
        for row, panel in zip(rows, self.rows, strict=True):
            panel.show_row(row)
            panel.show_picture(self._picture(row.info))
        self.heading.setVisible(bool(rows))
        self.add.setText(
            self.tr("Add an embedding…") if rows else self.tr("Embedding: add a learned word…")
        )
        # Whoever has no embeddings needs no button for them: a file that is dropped is explained.
        can_add = bool(store.names) and listed.can_be_named
        self.add.setVisible(can_add)
        self.setVisible(can_add or bool(rows))

    def _make_rows(self, count: int) -> None:
        focused = self.focusWidget()
        lost = self.rows[count:]
        had_focus = bool(focused) and any(panel.isAncestorOf(focused) for panel in lost)
        while len(self.rows) > count:
            panel = self.rows.pop()
            panel.hide()
            panel.deleteLater()
        while len(self.rows) < count:
            panel = EmbeddingRowPanel(self._theme)
            self._rows.addWidget(panel)
            panel.show()
            self._connect(panel, len(self.rows))
            before = self.rows[-1].controls[-1] if self.rows else None
            self.rows.append(panel)
            for control in (*panel.controls, self.add):
                if before is not None:
                    self.setTabOrder(before, control)
                before = control
        if had_focus:
            (self.rows[-1].remove if self.rows else self.add).setFocus()

    def _connect(self, panel: EmbeddingRowPanel, at: int) -> None:
        commands = self._session.embedding

        def row() -> EmbeddingRow:
            return self._session.embedding_list.rows[at]

        def weigh(weight: float) -> None:
            commands.weigh(row().name, weight, negative=row().is_negative)

        panel.weighed.connect(weigh)
        panel.moved.connect(lambda: commands.move(row().name, negative=not row().is_negative))
        panel.removed.connect(lambda: commands.remove(row().name, negative=row().is_negative))

    def _picture(self, info: EmbeddingInfo | None) -> QImage | None:
        if info is None or not info.preview:
            return None
        thumbnail = self._pictures.get(Picture(info.preview, info.preview_modified_ns, 0))
        pixmap = thumbnail.pixmap if thumbnail is not None else None
        return pixmap.toImage() if pixmap is not None else None

    def _on_picture(self, path: str) -> None:
        rows = self._session.embedding_list.rows
        for row, panel in zip(rows, self.rows, strict=False):
            if row.info is not None and row.info.preview == path:
                panel.show_picture(self._picture(row.info))
