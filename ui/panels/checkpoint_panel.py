"""The choice of the checkpoint: one from the list, or any file in its own place."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QWidget

from app.notices.remedies import advice
from app.notices.wording import worded
from app.session import Session
from engine.api.checkpoints import CheckpointInfo
from engine.api.values import ErrorCode, ErrorInfo
from ui.actions import ActionName, Actions
from ui.item_models.checkpoint_item_model import CheckpointItemModel
from ui.key_tips import show_key
from ui.labels import checkpoint_summary
from ui.model_folder import ask_where
from ui.panels.gap_panel import GapPanel
from ui.theme.metrics import XS, S
from ui.theme.theme import Theme
from ui.widgets.choice_box import ChoiceBox
from ui.widgets.icon_button import IconButton
from ui.widgets.labels import breakable, buddy_label, plain_label

if TYPE_CHECKING:
    from ui.dialogs.checkpoint_dialog import CheckpointDialog


class CheckpointPanel(QWidget):
    """A list, a button to open a file, and the engine's description of the chosen checkpoint."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self.model = CheckpointItemModel(session, self)
        self.box = ChoiceBox(theme, of_files=True)
        self.box.setModel(self.model)
        self.open = IconButton(theme, "folder", self.tr("Open a file…"), outlined=True)
        show_key(self.open, ActionName.OPEN)
        self.details = IconButton(theme, "note", self.tr("About the model…"), outlined=True)
        self.about = plain_label("", "caption", wrap=True)
        self.gaps = GapPanel(session, theme)
        self.problem = plain_label("", "error", wrap=True)
        self.find_it = QPushButton(self.tr("Find it…"))
        self.use_starter = QPushButton(self.tr("Use the starter"))
        self._lay_out()
        self.box.activated.connect(self._on_chosen)
        self.open.clicked.connect(actions[ActionName.OPEN].trigger)
        self.details.clicked.connect(self.show_details)
        self.find_it.clicked.connect(self._find)
        self.use_starter.clicked.connect(self._use_starter)
        self.model.modelReset.connect(self._show_chosen)
        session.generation.checkpoint_changed.connect(self._on_checkpoint)
        session.checkpoints.looked.connect(self._on_looked)
        session.checkpoints.hashing.connect(self._on_hashing)
        self._on_checkpoint(session.generation.checkpoint)

    def _lay_out(self) -> None:
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(S)
        layout.setVerticalSpacing(XS)
        layout.addWidget(buddy_label(self.tr("Model"), self.box), 0, 0)
        layout.addWidget(self.box, 1, 0)
        layout.addWidget(self.open, 1, 1)
        layout.addWidget(self.details, 1, 2)
        layout.addWidget(self.about, 2, 0, 1, 3)
        layout.addWidget(self.problem, 3, 0, 1, 3)
        remedies = QHBoxLayout()
        remedies.setSpacing(S)
        remedies.addWidget(self.find_it)
        remedies.addWidget(self.use_starter)
        remedies.addStretch()
        layout.addLayout(remedies, 4, 0, 1, 3)
        layout.addWidget(self.gaps, 5, 0, 1, 3)
        self.gaps.setContentsMargins(0, XS, 0, 0)

    def show_details(self) -> "CheckpointDialog":
        """Open the dialog about the chosen checkpoint."""
        # Here, as the window starts sooner without its dialogs.
        from ui.dialogs.checkpoint_dialog import CheckpointDialog

        dialog = CheckpointDialog(self._session, self._theme, self.window())
        dialog.open()
        return dialog

    def _find(self) -> None:
        """Ask for the new place of a checkpoint whose file is gone."""
        found = ask_where(self._session, self, self._session.generation.checkpoint)
        if found:
            self._session.checkpoint.open(Path(found))

    def _use_starter(self) -> None:
        self._session.checkpoint.choose(self._session.checkpoints.starter)

    def _on_chosen(self, row: int) -> None:
        self._session.checkpoint.choose(self.model.path_at(row))

    def _on_checkpoint(self, path: Path) -> None:
        self._show_chosen()
        self._show_answer(self._session.checkpoints.answer(path))

    def _show_chosen(self) -> None:
        path = self._session.generation.checkpoint
        self.box.setCurrentIndex(self.model.row_of(path))
        self.box.setToolTip("")
        self.box.setAccessibleDescription(str(path))

    def _on_looked(self, path: Path, answer: CheckpointInfo | ErrorInfo) -> None:
        if path == self._session.generation.checkpoint:
            self._show_answer(answer)

    def _on_hashing(self, path: Path, percent: int) -> None:
        answer = self._session.checkpoints.answer(path)
        if path == self._session.generation.checkpoint and isinstance(answer, CheckpointInfo):
            self.about.setText(self._summary(answer, percent))

    def _summary(self, info: CheckpointInfo, hashed: int | None = None) -> str:
        family = self._session.checkpoints.family_title(info.family)
        return checkpoint_summary(info, family, hashed)

    def _show_answer(self, answer: CheckpointInfo | ErrorInfo | None) -> None:
        match answer:
            case CheckpointInfo():
                self.about.setText(self._summary(answer))
                self.problem.setText("")
            case ErrorInfo():
                self.about.setText("")
                self.problem.setText(breakable(f"{worded(answer.text)} {advice(answer)}"))
            case None:
                self.about.setText(self.tr("Reading the model…"))
                self.problem.setText("")
        is_gone = isinstance(answer, ErrorInfo) and answer.code is ErrorCode.CHECKPOINT_NOT_FOUND
        self.find_it.setVisible(is_gone)
        self.use_starter.setVisible(is_gone)
        self.gaps.show_gaps(answer if isinstance(answer, CheckpointInfo) else None)
        self.about.setVisible(bool(self.about.text()))
        self.problem.setVisible(bool(self.problem.text()))
