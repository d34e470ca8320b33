"""The folders of a first start: one that the user chooses, and those of other programs."""

from pathlib import Path

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.library.tool_folders import ToolFolder
from app.session import Session
from ui.actions import ActionName, Actions
from ui.model_folder import ask_for_folder
from ui.model_labels import tool_label
from ui.theme.metrics import XS, S
from ui.widgets.labels import breakable, plain_label, plain_tooltip

# The page of models lists the others, too.
_MOST_SHOWN = 3


class FirstFolders(QWidget):
    """A button for a folder, and a row for each program; the models are shown after a choice."""

    def __init__(self, session: Session, actions: Actions) -> None:
        super().__init__()
        self._folders, self._show_models = session.models.folders, actions[ActionName.MODELS]
        self.choose = QPushButton(self.tr("Choose a folder…"))
        self.rows: list[FoundRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(S)
        self._column.addWidget(self.choose)
        self.choose.clicked.connect(lambda: self._take(ask_for_folder(session, self)))
        self._folders.changed.connect(self._on_changed)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 (Qt's name)
        """Look for the folders of other programs while they are offered."""
        super().showEvent(event)
        self._refresh()
        self._folders.look()

    def _on_changed(self) -> None:
        if self.isVisible():
            self._refresh()

    def _refresh(self) -> None:
        found = self._folders.found[:_MOST_SHOWN]
        if found == tuple(row.offer for row in self.rows):
            return
        for row in self.rows:
            row.hide()
            row.deleteLater()
        self.rows = [FoundRow(offer) for offer in found]
        for row in self.rows:
            row.use.clicked.connect(lambda _=False, row=row: self._take(row.offer.folder))
            self._column.addWidget(row)

    def _take(self, folder: Path | None) -> None:
        if folder is not None:
            self._folders.add(folder)
            self._show_models.trigger()


class FoundRow(QWidget):
    """A program with the number of its files, and a button that has them used."""

    def __init__(self, offer: ToolFolder) -> None:
        super().__init__()
        self.offer = offer
        self.words = plain_label(breakable(tool_label(offer)), wrap=True)
        self.use = QPushButton(self.tr("Use"))
        name = self.tr("Use the models in {folder}").format(folder=offer.folder)
        self.use.setAccessibleName(name)
        self.use.setToolTip(plain_tooltip(name))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(XS)
        row.addWidget(self.words, 1)
        row.addWidget(self.use)
