"""Progress of the running job: phase, step, speed, time left, and the picture so far."""

from collections.abc import Callable, Sequence

import msgspec
from PySide6.QtCore import QObject, Signal

from app.queue.time_left import PassSteps, TimeLeft
from engine.api.messages import JobPhase, JobPreview, JobProgress
from engine.api.values import Phase
from engine.awake_clock import awake_seconds

# Each phase's part of the bar, for a job without estimates from earlier ones.
_PARTS = {
    Phase.LOAD: (0.0, 0.02),
    Phase.COMPILE: (0.02, 0.1),
    Phase.ENCODE: (0.1, 0.12),
    Phase.DENOISE: (0.12, 0.9),
    Phase.ENLARGE: (0.5, 0.55),
    Phase.DECODE: (0.9, 0.98),
    Phase.SAVE: (0.98, 0.99),
}


class Preview(msgspec.Struct, frozen=True):
    """The picture so far, small: RGB, 3 * width * height bytes."""

    job: str
    width: int
    height: int
    pixels: bytes


class ProgressState(QObject):
    """The running job's progress; without one, `job` is None."""

    changed = Signal()
    began = Signal()
    ended = Signal()
    # Preview, or None where a job begins or ends.
    preview_changed = Signal(object)

    def __init__(
        self, clock: Callable[[], float] = awake_seconds, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._time = TimeLeft(clock)
        self.job: str | None = None
        self.phase: Phase | None = None
        # True if the phase does work that is done once, such as compiling for this device.
        self.once = False
        self.done = 0
        self.total: int | None = None
        # True from the request to cancel until the job has ended.
        self.stopping = False
        self.preview: Preview | None = None
        self._furthest = self._phase_began_at = 0.0

    @property
    def passes(self) -> tuple[PassSteps, ...]:
        """The steps of the passes of the job's picture, where they are known."""
        return self._time.passes

    @property
    def seconds_per_step(self) -> float | None:
        """The seconds that a step takes, None before two steps are done."""
        return self._time.seconds_per_step

    @property
    def seconds_left(self) -> float | None:
        """The estimated seconds until the picture is saved; None if unknown."""
        return self._time.seconds_left

    @property
    def phase_seconds_left(self) -> float | None:
        """The estimated seconds until the phase is over; None if unknown."""
        return self._time.phase_seconds_left

    @property
    def is_overdue(self) -> bool:
        """True if the phase takes much longer than in earlier jobs."""
        return self._time.is_overdue

    @property
    def fraction(self) -> float:
        """The done fraction of the job, in [0, 1); it never falls, and stays while stopping."""
        if not self.stopping:
            known = self._time.fraction
            if known is None and self.phase is not None:
                known = self._by_phase(self.phase, self._time.phase_fraction or 0.0)
            self._furthest = max(self._furthest, known or 0.0)
        return self._furthest

    def _by_phase(self, phase: Phase, done: float) -> float:
        """Return the job's fraction by the phases' parts of the bar, skipped phases left out."""
        begin, end = _PARTS[phase]
        beyond = (end - begin) * done / (1 - begin)
        return self._phase_began_at + (1 - self._phase_began_at) * beyond

    def begin(self, job: str, passes: Sequence[PassSteps] = ()) -> None:
        """Start the progress of a job that was handed to the engine, of a picture's `passes`."""
        self._clear(job, passes)
        self.began.emit()

    def end(self, job: str) -> None:
        """Clear the progress of a job that is over, however it ended."""
        if job == self.job:
            self._clear(None)
            self.ended.emit()

    def stop(self) -> None:
        """Show at once that the job is to stop, whatever the engine is doing."""
        if self.job is not None and not self.stopping:
            self.stopping = True
            self.changed.emit()

    def on_phase(self, event: JobPhase) -> None:
        """Start a phase, with the engine's estimates for it."""
        if event.job == self.job:
            if event.phase is not self.phase:
                over = 0.0 if self.phase is None else self._by_phase(self.phase, 1.0)
                self._phase_began_at = max(self.fraction, over)
            self.phase, self.done, self.total = event.phase, 0, None
            self.once = event.once
            self._time.on_phase(event.phase, event.expected_s, event.after_s)
            self.changed.emit()

    def on_progress(self, event: JobProgress) -> None:
        """Note how much of the phase is done."""
        if event.job == self.job:
            self._time.on_progress(event.done, event.total)
            self.done, self.total = event.done, event.total
            self.changed.emit()

    def on_preview(self, event: JobPreview, pixels: bytes) -> None:
        """Keep and emit a preview; ignore one whose pixels do not match its size."""
        fits = min(event.width, event.height) > 0 and (
            len(pixels) == 3 * event.width * event.height
        )
        if event.job != self.job or not fits:
            return
        self.preview = Preview(event.job, event.width, event.height, pixels)
        self.preview_changed.emit(self.preview)

    def _clear(self, job: str | None, passes: Sequence[PassSteps] = ()) -> None:
        self.job, self.phase, self.done, self.total = job, None, 0, None
        self.stopping = self.once = False
        self._furthest = self._phase_began_at = 0.0
        self._time.begin(passes)
        if self.preview is not None:
            self.preview = None
            self.preview_changed.emit(None)
        self.changed.emit()
