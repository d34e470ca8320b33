"""The dialog about the folders in which models of every kind are looked for."""

import os
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.paths import nearest_folder
from app.session import Session
from ui.files.chooser import FileChooser
from ui.lora_labels import folder_words
from ui.theme.metrics import L, M, S
from ui.widgets.labels import buddy_label, plain_label
from ui.window_place import room_for

_SIZE = QSize(560, 420)


class LoraFoldersDialog(QDialog):
    """A dialog that names folders; every change applies at once."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Folders of models"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        self.list = QListWidget()
        self.list.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.add = QPushButton(self.tr("Add a folder…"))
        self.remove = QPushButton(self.tr("Remove"))
        self.close_button = QPushButton(self.tr("Close"))
        self._lay_out()
        self.add.clicked.connect(self._choose)
        self.remove.clicked.connect(self._remove)
        self.list.currentRowChanged.connect(self._on_current)
        self.close_button.clicked.connect(self.accept)
        session.loras.changed.connect(self._refresh)
        self._refresh()

    def add_folder(self, folder: Path) -> None:
        """Look into another folder from now on."""
        self._session.loras.add_folder(folder)
        self._refresh()

    def _lay_out(self) -> None:
        usual = self.tr(
            "Safelight looks into the folders Lora, loras and LyCORIS of {models}, and into the "
            "folders below, for models of every kind. Name the folder of AUTOMATIC1111, ComfyUI or "
            "Easy Diffusion: its LoRA files and embeddings are found in it. Nothing is copied."
        ).format(models=self._session.checkpoints.models)
        words = plain_label(usual, "caption", wrap=True)
        buttons = QHBoxLayout()
        buttons.setSpacing(S)
        buttons.addWidget(self.add)
        buttons.addWidget(self.remove)
        buttons.addStretch()
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(L, L, L, M)
        column.setSpacing(S)
        column.addWidget(words)
        column.addSpacing(S)
        column.addWidget(buddy_label(self.tr("Other folders"), self.list))
        column.addWidget(self.list, 1)
        column.addLayout(buttons)
        self.close_button.setDefault(True)

    def _choose(self) -> None:
        start = nearest_folder(self._session.checkpoints.models)
        folder = FileChooser.open_folder(self, self.tr("A folder of models"), start)
        if folder:
            self.add_folder(Path(folder))

    def _remove(self) -> None:
        item = self.list.currentItem()
        if item is not None:  # pyright: ignore[reportUnnecessaryComparison] (Qt may have none)
            self._session.loras.remove_folder(item.data(Qt.ItemDataRole.UserRole))
            self._refresh()

    def _on_current(self, row: int) -> None:
        self.remove.setEnabled(row >= 0)

    def _refresh(self) -> None:
        row = self.list.currentRow()
        self.list.clear()
        store = self._session.loras
        for folder in store.memory.folders:
            inside = f"{folder.rstrip(os.sep)}{os.sep}"
            count = sum(info.path.startswith(inside) for info in store.loras)
            item = QListWidgetItem(folder_words(folder, count, is_known=store.is_listed))
            item.setData(Qt.ItemDataRole.UserRole, folder)
            self.list.addItem(item)
        self.list.setCurrentRow(min(max(row, 0), self.list.count() - 1))
        self._on_current(self.list.currentRow())
