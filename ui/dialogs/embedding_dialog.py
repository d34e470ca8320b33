"""The list of the user's embeddings: search, pictures, and what each file is for."""

from PySide6.QtCore import QItemSelectionModel, QSize, Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.session import Session
from ui.action_names import ActionName
from ui.delegates.lora_delegate import LoraDelegate
from ui.item_models.embedding_item_model import EmbeddingItemModel
from ui.keys import bind_key
from ui.theme.metrics import CONTROL_HEIGHT, L, M, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.card_view import CardView
from ui.widgets.labels import breakable, buddy_label, plain_label
from ui.widgets.line_field import MOST_SEARCHED, LineField
from ui.window_place import room_for

_SIZE = QSize(800, 640)


class EmbeddingDialog(QDialog):
    """A dialog that writes the names of embeddings into the prompts; it stays open between."""

    def __init__(
        self, session: Session, theme: Theme, pictures: ThumbnailStore, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._session = session
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Embeddings"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.model = EmbeddingItemModel(session, pictures, self)
        self.search = LineField(MOST_SEARCHED)
        self.list = CardView(theme, self.model, self.tr("Embeddings"))
        self.list.draw_by(LoraDelegate(theme, self.list))
        self.about = plain_label("", "caption", wrap=True)
        self.use, self.avoid = QPushButton(), QPushButton()
        self.close_button = QPushButton(self.tr("Close"))
        self._kept = ""
        self._lay_out()
        self.search.textChanged.connect(self.model.search)
        self.search.returnPressed.connect(self.toggle)
        self.list.activated.connect(lambda: self.toggle())
        bind_key(self.list, ActionName.USE_CARD, self.toggle)
        self.list.selectionModel().currentChanged.connect(self._show_current)
        self.model.modelAboutToBeReset.connect(self._keep_current)
        self.model.modelReset.connect(self._on_reset)
        self.model.dataChanged.connect(self._show_current)
        self.use.clicked.connect(lambda: self.toggle())
        self.avoid.clicked.connect(lambda: self.toggle(negative=True))
        self.close_button.clicked.connect(self.accept)
        self._on_reset()

    def current(self) -> str:
        """Return the name of the current embedding; empty without one."""
        index = self.list.currentIndex()
        return self.model.name_at(index.row()) if index.isValid() else ""

    def toggle(self, *, negative: bool = False) -> None:
        """Write the current name into a prompt, or remove it; an unsuited one is not written."""
        name, commands = self.current(), self._session.embedding
        if name and self.model.is_named(name, negative=negative):
            commands.remove(name, negative=negative)
        elif name and self.model.is_suited(name):
            commands.add(name, negative=negative)

    def _lay_out(self) -> None:
        self.search.setPlaceholderText(self.tr("Name or model"))
        self.search.setClearButtonEnabled(True)
        self.search.setFixedHeight(CONTROL_HEIGHT)
        for button in (self.use, self.avoid, self.close_button):
            button.setAutoDefault(False)
        top, words, row, buttons = (QHBoxLayout() for _ in range(4))
        top.setContentsMargins(L, 0, L, 0)
        top.setSpacing(S)
        top.addWidget(buddy_label(self.tr("Search"), self.search))
        top.addWidget(self.search, 1)
        words.setContentsMargins(L, 0, L, 0)
        words.addWidget(self.about, 1)
        row.setContentsMargins(L - S, 0, S, 0)
        row.addWidget(self.list)
        buttons.setContentsMargins(L, S, L, M)
        buttons.setSpacing(S)
        buttons.addStretch()
        for button in (self.use, self.avoid, self.close_button):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, L, 0, 0)
        column.setSpacing(S)
        column.addLayout(top)
        column.addLayout(row, 1)
        column.addLayout(words)
        column.addLayout(buttons)
        self.search.setFocus()

    def _keep_current(self) -> None:
        self._kept = self.current() or self._kept

    def _on_reset(self) -> None:
        """Select the embedding that was current, or the first."""
        index = self.model.index(self.model.row_of(self._kept) or 0)
        if index.isValid():
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.list.selectionModel().setCurrentIndex(index, flags)
            self.list.scrollTo(index)
        empty = self.tr("No embedding has these words.")
        self.list.tell("" if self.model.rowCount() else empty)
        self._show_current()

    def _show_current(self, *_: object) -> None:
        name = self.current()
        self.about.setText(breakable(self.model.words(name)) if name else "")
        texts = (
            (self.use, False, self.tr("Into the prompt"), self.tr("Out of the prompt")),
            (self.avoid, True, self.tr("Into the negative"), self.tr("Out of the negative")),
        )
        for button, negative, into, out in texts:
            is_named = bool(name) and self.model.is_named(name, negative=negative)
            button.setText(out if is_named else into)
            button.setEnabled(is_named or (bool(name) and self.model.is_suited(name)))
        self.avoid.setVisible(self._session.generation.sees_negative)
