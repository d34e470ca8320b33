"""The dialog about versions: looking for a newer one, installing it, and going back."""

from importlib import metadata

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.commands.updates import UpdateCommands, UpdateStage
from app.notices.wording import worded_both
from ui.theme.metrics import L, M, S
from ui.update_labels import offer_facts, place_sentence, stage_sentence
from ui.widgets.labels import breakable, buddy_label, plain_label, rule
from ui.widgets.tick_box import TickBox
from ui.window_place import room_for

_SIZE = QSize(560, 460)
_STEPS = 1000


class UpdatesDialog(QDialog):
    """A dialog that shows `UpdateState`; closing it stops nothing."""

    def __init__(self, updates: UpdateCommands, parent: QWidget) -> None:
        super().__init__(parent)
        self._updates = updates
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Updates"))
        self.resize(_SIZE.boundedTo(room_for(parent)))
        running = updates.version or metadata.version("safelight")
        version = self.tr("Safelight {version}").format(version=running)
        self.version = plain_label(version, "title", wrap=True)
        self.stage = plain_label("", wrap=True)
        self.facts = plain_label("", "caption", wrap=True)
        self.problem = plain_label("", "error", wrap=True)
        self.notes = QPlainTextEdit()
        self.notes.setReadOnly(True)
        self.notes.setTabChangesFocus(True)
        self.notes.setAccessibleName(self.tr("News in this version"))
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress of the update"))
        self.check = QPushButton(self.tr("Check for updates"))
        self.install = QPushButton()
        self.cancel = QPushButton(self.tr("Cancel"))
        self.restart = QPushButton(self.tr("Restart Safelight now"))
        self.go_back = QPushButton()
        self.automatic = TickBox()
        self.automatic_label = buddy_label(
            self.tr("Check once a day, when Safelight starts"), self.automatic
        )
        self.place = plain_label("", "caption", wrap=True)
        self.close_button = QPushButton(self.tr("Close"))
        self._lay_out()
        self._connect()
        self._refresh()

    def _lay_out(self) -> None:
        actions = QHBoxLayout()
        actions.setSpacing(S)
        for button in (self.check, self.install, self.cancel, self.restart, self.go_back):
            button.setAutoDefault(False)
            actions.addWidget(button)
        actions.addStretch()
        foot = QHBoxLayout()
        foot.setSpacing(S)
        foot.addWidget(self.automatic)
        foot.addWidget(self.automatic_label)
        foot.addStretch()
        foot.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(L, L, L, M)
        column.setSpacing(S)
        for widget in (self.version, self.stage, self.facts, self.bar, self.problem):
            column.addWidget(widget)
        column.addLayout(actions)
        column.addWidget(self.notes, 1)
        column.addStretch()
        column.addWidget(rule(Qt.Orientation.Horizontal))
        column.addWidget(self.place)
        column.addLayout(foot)
        self.close_button.setDefault(True)

    def _connect(self) -> None:
        updates, state = self._updates, self._updates.state
        self.check.clicked.connect(updates.check)
        self.install.clicked.connect(updates.install)
        self.cancel.clicked.connect(updates.cancel)
        self.restart.clicked.connect(updates.restart)
        self.go_back.clicked.connect(updates.go_back)
        self.automatic.clicked.connect(updates.set_automatic)
        self.close_button.clicked.connect(self.accept)
        for signal in (
            state.stage_changed,
            state.offer_changed,
            state.done_bytes_changed,
            state.problem_changed,
            state.next_version_changed,
            state.back_to_changed,
            state.automatic_changed,
        ):
            signal.connect(self._refresh)

    def _refresh(self) -> None:
        updates, state = self._updates, self._updates.state
        offer = state.offer if state.stage is not UpdateStage.UP_TO_DATE else None
        problem = state.problem
        texts = (
            (self.stage, stage_sentence(state) or self._unavailable()),
            (self.facts, offer_facts(offer) if offer else ""),
            (self.problem, worded_both(problem.text, problem.advice) if problem else ""),
            (self.place, place_sentence(updates.place) if updates.place else ""),
        )
        for label, text in texts:
            label.setText(breakable(text))
            label.setVisible(bool(text))
        notes = offer.notes if offer else ""
        if self.notes.toPlainText() != notes:
            self.notes.setPlainText(notes)
        self.notes.setVisible(bool(notes))
        self.automatic.setChecked(state.automatic)
        for widget in (self.automatic, self.automatic_label):
            widget.setVisible(updates.available and bool(updates.place))
        self._show_progress()
        self._show_buttons()

    def _show_progress(self) -> None:
        state = self._updates.state
        counts = state.stage is UpdateStage.DOWNLOADING and state.offer is not None
        # A range of nothing makes a bar that runs to and fro.
        self.bar.setRange(0, _STEPS if counts else 0)
        if counts and state.offer is not None:
            self.bar.setValue(state.done_bytes * _STEPS // max(state.offer.download_bytes, 1))
        self.bar.setVisible(self._updates.is_busy)

    def _show_buttons(self) -> None:
        updates, stage, state = self._updates, self._updates.state.stage, self._updates.state
        waits = stage is UpdateStage.WAITING_FOR_RESTART
        may_check = stage in (UpdateStage.IDLE, UpdateStage.UP_TO_DATE)
        self.check.setVisible(updates.available and may_check)
        self.install.setVisible(stage is UpdateStage.OFFERED)
        self.install.setText(self.tr("Download and install"))
        self.cancel.setVisible(stage is UpdateStage.DOWNLOADING)
        self.restart.setVisible(waits)
        # Before the restart the version to go back to is the present one.
        back = self.tr("Stay with {version}") if waits else self.tr("Go back to {version}")
        self.go_back.setText(back.format(version=state.back_to))
        self.go_back.setVisible(bool(state.back_to) and not updates.is_busy)

    def _unavailable(self) -> str:
        """Return why there are no updates here; empty if there may be."""
        if self._updates.available:
            return ""
        return self.tr(
            "It was not installed by one of its own installers, so it is not updated from here."
        )
