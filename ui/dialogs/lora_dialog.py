"""The list of the user's LoRA files: search, pictures, and what each file is for."""

from PySide6.QtCore import QItemSelectionModel, QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.notices.kinds import account
from app.session import Session
from engine.api.lora_files import LoraInfo
from ui.action_names import ActionName
from ui.delegates.lora_delegate import LoraDelegate
from ui.dialogs.lora_folders_dialog import LoraFoldersDialog
from ui.item_models.lora_item_model import LoraItemModel, LoraOrder
from ui.keys import bind_key
from ui.lora_labels import count_words
from ui.theme.metrics import CONTROL_HEIGHT, L, M, S
from ui.theme.theme import Theme
from ui.thumbnails import ThumbnailStore
from ui.widgets.card_view import CardView
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.labels import breakable, buddy_label, plain_label
from ui.widgets.line_field import MOST_SEARCHED, LineField
from ui.window_place import room_for

_SIZE = QSize(800, 640)
_SEARCH_WIDTH = 260


class LoraDialog(QDialog):
    """A dialog that adds LoRAs to the form and removes them; it stays open between."""

    def __init__(
        self, session: Session, theme: Theme, pictures: ThumbnailStore, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._session, self._theme = session, theme
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("LoRA files"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.model = LoraItemModel(session, pictures, self)
        self.search = LineField(MOST_SEARCHED)
        self.order = ChoiceBox(theme)
        self.list = CardView(theme, self.model, self.tr("LoRA files"))
        self.list.draw_by(LoraDelegate(theme, self.list))
        self.about = plain_label("", "caption", wrap=True)
        self.count = plain_label("", "caption")
        # Beneath the reason why there is no list.
        self.again = QPushButton(self.tr("Try again"))
        self.folders = QPushButton(self.tr("LoRA folders…"))
        self.use = QPushButton(self.tr("Add"))
        self.close_button = QPushButton(self.tr("Close"))
        self._fill()
        self._lay_out()
        self._connect()
        self._show_current()
        self._on_changed()
        # A network folder does not tell of its changes.
        session.loras.refresh()

    def show_folders(self) -> LoraFoldersDialog:
        """Open the dialog about the folders that are looked into."""
        dialog = LoraFoldersDialog(self._session, self)
        dialog.open()
        return dialog

    def current(self) -> LoraInfo | None:
        """Return the current file; None if there is none."""
        index = self.list.currentIndex()
        return self.model.info_at(index.row()) if index.isValid() else None

    def toggle(self) -> None:
        """Add the current file to the form, or remove it; an unsuited one is not added."""
        info = self.current()
        if info is None:
            return
        if self.model.is_chosen(info):
            self._session.lora.take_out(info.path)
        elif self.model.is_suited(info):
            self._session.lora.add(info.path)

    def _fill(self) -> None:
        self.search.setPlaceholderText(self.tr("Name, trigger word or base model"))
        self.search.setClearButtonEnabled(True)
        self.search.setFixedHeight(CONTROL_HEIGHT)
        self.search.setMinimumWidth(_SEARCH_WIDTH)
        self.order.addItem(self.tr("By name"), LoraOrder.NAME.value)
        self.order.addItem(self.tr("Newest first"), LoraOrder.NEWEST.value)
        self.order.addItem(self.tr("Last used first"), LoraOrder.LAST_USED.value)
        self.use.setAutoDefault(False)
        self.folders.setAutoDefault(False)
        self.again.setAutoDefault(False)
        self.close_button.setAutoDefault(False)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(L, 0, L, 0)
        top.setSpacing(S)
        top.addWidget(buddy_label(self.tr("Search"), self.search))
        top.addWidget(self.search, 1)
        top.addSpacing(S)
        top.addWidget(buddy_label(self.tr("Sort"), self.order))
        top.addWidget(self.order)
        words = QHBoxLayout()
        words.setContentsMargins(L, 0, L, 0)
        words.addWidget(self.about, 1)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(L, S, L, M)
        buttons.setSpacing(S)
        buttons.addWidget(self.folders)
        buttons.addWidget(self.count)
        buttons.addStretch()
        buttons.addWidget(self.use)
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(0, L, 0, 0)
        column.setSpacing(S)
        column.addLayout(top)
        row = QHBoxLayout()
        row.setContentsMargins(L - S, 0, S, 0)
        row.addWidget(self.list)
        column.addLayout(row, 1)
        column.addWidget(self.again, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addLayout(words)
        column.addLayout(buttons)
        self.search.setFocus()

    def _connect(self) -> None:
        session = self._session
        self.search.textChanged.connect(self.model.search)
        self.search.returnPressed.connect(self.toggle)
        self.order.activated.connect(self._on_order)
        self.list.activated.connect(self.toggle)
        bind_key(self.list, ActionName.USE_CARD, self.toggle)
        self.list.selectionModel().currentChanged.connect(self._show_current)
        self.model.modelAboutToBeReset.connect(self._keep_current)
        self.model.modelReset.connect(self._on_reset)
        session.generation.loras_changed.connect(self._show_current)
        session.loras.listing_changed.connect(self._on_changed)
        session.loras.changed.connect(self._on_changed)
        self.again.clicked.connect(session.loras.refresh)
        self.folders.clicked.connect(self.show_folders)
        self.use.clicked.connect(self.toggle)
        self.close_button.clicked.connect(self.accept)
        before = session.generation.loras
        self.finished.connect(lambda: session.lora.tell_changes(before))
        self._kept: str | None = None
        self._on_reset()

    def _on_order(self, row: int) -> None:
        self.model.sort_by(LoraOrder(self.order.itemData(row)))

    def _keep_current(self) -> None:
        info = self.current()
        self._kept = info.path if info is not None else self._kept

    def _on_reset(self) -> None:
        """Select the file that was current, or the first."""
        row = self.model.row_of(self._kept) if self._kept is not None else None
        index = self.model.index(row or 0)
        if index.isValid():
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.list.selectionModel().setCurrentIndex(index, flags)
            self.list.scrollTo(index)
        self._show_current()
        self._on_changed()

    def _show_current(self, *_: object) -> None:
        info = self.current()
        is_chosen = info is not None and self.model.is_chosen(info)
        can_add = info is not None and self.model.is_suited(info)
        self.use.setText(self.tr("Remove") if is_chosen else self.tr("Add"))
        self.use.setEnabled(is_chosen or can_add)
        self.about.setText(breakable(self.model.words(info)) if info is not None else "")

    def _on_changed(self, *_: object) -> None:
        store = self._session.loras
        unread = sum(not info.is_read for info in store.loras) if store.is_listing else 0
        shown = self.model.rowCount()
        self.count.setText(count_words(shown, len(store.loras), unread))
        self.again.setVisible(store.failure is not None and not store.loras)
        if store.loras:
            empty = self.tr("No LoRA has these words.")
        elif store.failure is not None:
            text = self.tr("The LoRA files could not be listed. {reason}")
            empty = text.format(reason=account(store.failure))
        elif store.is_listed:
            empty = self.tr("There are no LoRA files in these folders: name yours below.")
        else:
            empty = self.tr("Looking for LoRA files…")
        self.list.tell(empty if shown == 0 else "")
