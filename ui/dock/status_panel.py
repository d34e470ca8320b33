"""The progress of the running picture and its batch, or the state of the engine."""

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app.engine.process import EngineState
from app.notices.wording import worded
from app.queue.jobs import Job, JobState
from app.session import Session
from engine.api.values import Phase
from ui.job_labels import job_title
from ui.labels import duration, phase_label, step_duration
from ui.queue_changes import on_queue_changes
from ui.spoken import say
from ui.theme.metrics import XS
from ui.widgets.labels import ElidedLabel, plain_tooltip

# The interval of updates between steps, in which the time left decreases too.
_TICK_MS = 500
_BAR_PARTS = 1000
# "Almost done" replaces a shorter time left, if this fraction of the job is done.
_ALMOST_S, _ALMOST = 1.5, 0.85


class StatusPanel(QWidget):
    """Two lines of text, and a bar for the whole batch while it is made."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        # The pictures of the batch that are over, and the size of the batch.
        self._number, self._together = 0, 1
        self.title = ElidedLabel()
        self.detail = ElidedLabel("caption")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, _BAR_PARTS)
        self.bar.setAccessibleName(self.tr("Progress"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, XS, 0, XS)
        column.setSpacing(2)
        column.addStretch(1)
        for widget in (self.title, self.detail, self.bar):
            column.addWidget(widget)
        column.addStretch(1)
        self._tick = QTimer(self, interval=_TICK_MS)
        self._tick.timeout.connect(self._refresh)
        on_queue_changes(session.queue, self, self._on_queue)
        for signal in (
            session.progress.changed,
            session.engine.state_changed,
            session.engine.problem_changed,
            session.obstacle.found_changed,
        ):
            signal.connect(self._refresh)
        session.queue.job_changed.connect(self._say)
        self._refresh()

    def _say(self, job: Job) -> None:
        """Say that a picture is finished, or that it will not be; notices tell of failures."""
        if job.state is JobState.CANCELLED:
            say(self, self.tr("The picture was cancelled."))
        if job.state is not JobState.DONE:
            return
        number, together = self._place(job)
        if together == 1:
            say(self, self.tr("The picture is finished."))
            return
        words = self.tr("Picture {n} of {all} is finished.")
        say(self, words.format(n=number, all=together))

    def _on_queue(self) -> None:
        running = self._session.queue.running
        self._number, self._together = 0, 1
        if running is not None:
            self._number, self._together = self._place(running)
        self._refresh()

    def _place(self, job: Job) -> tuple[int, int]:
        """Return how many pictures of a job's batch are over, and the number of all.

        Those that left the queue's list count: they are made.
        """
        batch = self._session.batch
        if not batch.number(job.id):
            return int(job.state.is_over), 1
        return sum(other.state.is_over for other in batch.jobs), batch.count

    def _refresh(self, *_: object) -> None:
        runs = self._session.progress.job is not None
        if runs and not self._tick.isActive():
            self._tick.start()
        elif not runs:
            self._tick.stop()
        title = self._progress_title() if runs else self._state_title()
        detail = self._progress_detail() if runs else self._state_detail()
        self.title.setText(title)
        self.detail.setText(detail)
        self.setToolTip(plain_tooltip(title, detail))
        self.detail.setVisible(bool(detail))
        self.bar.setVisible(runs)
        self.bar.setAccessibleDescription(f"{title} {detail}"[:200])
        # The fraction of the whole batch; an animation would take time from the engine.
        done = self._number + self._session.progress.fraction
        self.bar.setValue(round(_BAR_PARTS * done / self._together) if runs else 0)

    def _progress_title(self) -> str:
        progress = self._session.progress
        if progress.stopping:
            return self.tr("Stopping…")
        if self._session.engine.state is EngineState.NOT_ANSWERING:
            return self.tr("The engine is not answering")
        if progress.phase is None:
            doing = self.tr("Waiting for the engine…")
        elif progress.phase is Phase.DENOISE and progress.total is not None and progress.done:
            doing = self._step_words(progress.done, progress.total)
        else:
            doing = self._phase_words(progress.phase)
        if self._together == 1:
            return doing
        picture = self.tr("Picture {n} of {all}").format(n=self._number + 1, all=self._together)
        return f"{picture} · {doing}"

    def _step_words(self, done: int, total: int) -> str:
        if self._together > 1:
            return self.tr("step {done} of {total}").format(done=done, total=total)
        return self.tr("{phase} · step {done} of {total}").format(
            phase=phase_label(Phase.DENOISE), done=done, total=total
        )

    def _phase_words(self, phase: Phase) -> str:
        progress = self._session.progress
        label = phase_label(phase, once=progress.once)
        left = progress.phase_seconds_left
        if progress.once and left is not None and left >= _ALMOST_S:
            # Shown even if the duration of the rest of the job is unknown.
            return self.tr("{phase}, about {time}").format(phase=label, time=duration(left))
        return self.tr("{phase}…").format(phase=label)

    def _progress_detail(self) -> str:
        progress = self._session.progress
        if progress.stopping:
            loads = progress.phase is Phase.COMPILE
            return self.tr("A network that is being loaded may be finished first") if loads else ""
        job = self._session.queue.job(progress.job or "")
        parts: list[str] = []
        left = progress.seconds_left
        if left is not None:
            left += self._seconds_after(job)
        if left is not None and left < _ALMOST_S:
            if progress.fraction >= _ALMOST:
                parts.append(self.tr("almost done"))
        elif left is not None:
            parts.append(self.tr("about {time} left").format(time=duration(left)))
        elif progress.is_overdue:
            parts.append(self.tr("this takes longer than it did before"))
        if progress.seconds_per_step is not None:
            parts.append(step_duration(progress.seconds_per_step))
        if not parts and job is not None:
            parts.append(job_title(job))
        return " · ".join(parts)

    def _seconds_after(self, job: Job | None) -> float:
        """Return the expected seconds for the pictures of the batch after the running one."""
        after = self._together - self._number - 1
        if job is None or after <= 0:
            return 0.0
        return after * (self._session.jobs_in_queue.seconds(job.request) or 0.0)

    def _state_title(self) -> str:
        obstacle = self._session.obstacle.found
        if obstacle is not None:
            return worded(obstacle.text)
        match self._session.engine.state:
            case EngineState.STARTING:
                return self.tr("Starting the engine…")
            case EngineState.RESTARTING:
                return self.tr("Starting the engine again…")
            case EngineState.NOT_ANSWERING:
                return self.tr("The engine is not answering")
            case EngineState.STOPPED:
                stopped = self._session.engine.problem is not None
                return self.tr("The engine is stopped") if stopped else self.tr("Starting…")
            case EngineState.READY:
                return self.tr("Paused") if self._session.queue.paused else self.tr("Ready")

    def _state_detail(self) -> str:
        if self._session.queue.paused:
            return self.tr("The queue starts no further picture until it is resumed.")
        return ""
