"""The foot of the form: the Generate button, the state of the queue, the Cancel buttons."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.engine.process import EngineState
from app.queue.job_queue import batch_of
from app.session import Session
from ui.actions import ActionName, Actions
from ui.theme.metrics import M, S
from ui.theme.theme import Theme
from ui.widgets.labels import breakable, plain_label

# The delay that merges the signals of many jobs (up to ten thousand) into one refresh.
_SETTLE_MS = 30


class GenerateButton(QPushButton):
    """The Generate button, with its shortcut written on it."""

    def __init__(self, theme: Theme, text: str, key: str) -> None:
        super().__init__(text)
        self._theme = theme
        self._key = key
        self.setProperty("role", "primary")

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 (Qt's name)
        """Draw the button, then its shortcut at the trailing end."""
        super().paintEvent(event)
        with QPainter(self) as painter:
            font = self.font()
            font.setBold(False)
            font.setPointSizeF(font.pointSizeF() * 0.85)
            painter.setFont(font)
            colours = self._theme.colours
            painter.setPen(QColor(colours.on_accent if self.isEnabled() else colours.muted))
            place = self.rect().adjusted(M, 0, -M, 0)
            painter.drawText(
                place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._key
            )


class GeneratePanel(QWidget):
    """The Generate button, and a line with the state of the queue and the engine."""

    def __init__(self, session: Session, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._session = session
        self._actions = actions
        self.setProperty("role", "panel")
        key = actions.key(ActionName.GENERATE)
        self.generate = GenerateButton(theme, self.tr("Generate"), key)
        self.status = plain_label("", "caption", wrap=True)
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setToolTip(actions.key(ActionName.CANCEL))
        self.cancel_all = QPushButton(self.tr("Cancel all"))
        self.cancel_all.setToolTip(actions.key(ActionName.CANCEL_ALL))
        self._lay_out()
        self._settled = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settled.timeout.connect(self._refresh)
        self._connect()
        self._refresh()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(S)
        row.addWidget(self.status, 1)
        row.addWidget(self.cancel)
        row.addWidget(self.cancel_all)
        column = QVBoxLayout(self)
        column.setContentsMargins(M, M, M, M)
        column.setSpacing(S)
        column.addWidget(self.generate)
        column.addLayout(row)
        # The line keeps its height when its buttons are hidden.
        row.addStrut(self.cancel.sizeHint().height())

    def _connect(self) -> None:
        session, actions = self._session, self._actions
        self.generate.clicked.connect(actions[ActionName.GENERATE].trigger)
        self.cancel.clicked.connect(actions[ActionName.CANCEL].trigger)
        self.cancel_all.clicked.connect(actions[ActionName.CANCEL_ALL].trigger)
        for signal in (
            session.queue.job_added,
            session.queue.job_changed,
            session.queue.job_removed,
            session.engine.state_changed,
        ):
            signal.connect(self._on_change)
        for signal in (
            session.obstacle.found_changed,
            session.generation.seed_changed,
            session.generation.seed_locked_changed,
        ):
            signal.connect(self._refresh)
        session.progress.changed.connect(self._on_progress)

    def _on_change(self) -> None:
        if not self._settled.isActive():
            self._settled.start()

    def _on_progress(self) -> None:
        # The response to Cancel must be visible at once.
        if self._session.progress.stopping:
            self._refresh()

    def _refresh(self) -> None:
        running, waiting = self._session.queue.running, self._session.jobs.waiting
        obstacle = self._session.obstacle.found
        words = self._words(running is not None, waiting)
        self.status.setText(words if obstacle is None else breakable(obstacle.message))
        self.status.setToolTip("" if obstacle is None else words)
        self.generate.setEnabled(obstacle is None)
        self.generate.setText(self._generate_words())
        under_way = waiting + (running is not None)
        self.cancel.setVisible(running is not None or waiting == 1)
        self.cancel_all.setVisible(under_way > 1)

    def _generate_words(self) -> str:
        form = self._session.generation
        if form.seed_locked and form.seed is not None:
            return self.tr("Generate · same seed")
        return self.tr("Generate")

    def _words(self, running: bool, waiting: int) -> str:
        if running and self._session.progress.stopping:
            return self.tr("Stopping…")
        match self._session.engine.state:
            case EngineState.STARTING:
                text = self.tr("Starting the engine…")
            case EngineState.RESTARTING:
                text = self.tr("Starting the engine again…")
            case EngineState.NOT_ANSWERING:
                text = self.tr("The engine is not answering")
            case EngineState.STOPPED:
                stopped = self._session.engine.problem is not None
                text = self.tr("The engine is stopped") if stopped else self.tr("Starting…")
            case EngineState.READY:
                text = self._making() if running else "" if waiting else self.tr("Ready")
        if not waiting:
            return text
        more = self.tr("%n more in queue", "", waiting)
        words = more if running else self.tr("%n in queue", "", waiting)
        return f"{text} · {words}" if text else words

    def _making(self) -> str:
        """Return a sentence with the running picture's number in its batch."""
        queue = self._session.queue
        if queue.running is None:
            return self.tr("Making a picture")
        batch = batch_of(queue.running.id)
        together = [job.id for job in queue.jobs if batch_of(job.id) == batch]
        if len(together) == 1:
            return self.tr("Making a picture")
        number = together.index(queue.running.id) + 1
        return self.tr("Picture {n} of {all}").format(n=number, all=len(together))
