"""How the running job is doing: phase, step, speed, time left, and the picture so far."""

import time
from collections import deque
from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, Signal

from engine.api.messages import JobFinished, JobPhase, JobPreview, JobProgress
from engine.api.values import Phase

# What the speed is taken from: long enough to be calm, short enough to follow a change.
_WINDOW_S = 5.0
_FEWEST_STEPS = 4


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
        self, clock: Callable[[], float] = time.monotonic, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._clock = clock
        self.job: str | None = None
        self.phase: Phase | None = None
        self.done = 0
        self.total: int | None = None
        # Cancel was asked for and is not done yet.
        self.stopping = False
        self.preview: Preview | None = None
        # When each of the latest steps was done. The first is not among them: it does more.
        self._marks: deque[tuple[float, int]] = deque()
        # What comes after the last step, as the previous job showed; seconds.
        self._tail_s = 0.0

    @property
    def seconds_per_step(self) -> float | None:
        """How long a step takes, None before two were seen.

        Over several seconds: steps are told in bursts where this thread or the pipe was busy.
        """
        if len(self._marks) < 2:
            return None
        (begin, first), (end, last) = self._marks[0], self._marks[-1]
        return (end - begin) / (last - first)

    @property
    def seconds_left(self) -> float | None:
        """An estimate until the picture is saved, None where nothing is known."""
        step = self.seconds_per_step
        if self.phase is not Phase.DENOISE or self.total is None or step is None:
            return None
        since = self._clock() - self._marks[-1][0]
        return max(0.0, (self.total - self.done) * step - since) + self._tail_s

    def begin(self, job: str) -> None:
        """A job has been handed to the engine."""
        self._clear(job)
        self.began.emit()

    def end(self, job: str) -> None:
        """A job is over, however it went."""
        if job == self.job:
            self._clear(None)
            self.ended.emit()

    def stop(self) -> None:
        """Cancel was asked for: say so at once, whatever the engine is doing."""
        if self.job is not None and not self.stopping:
            self.stopping = True
            self.changed.emit()

    def on_phase(self, event: JobPhase) -> None:
        """A phase begins."""
        if event.job == self.job:
            self.phase, self.done, self.total = event.phase, 0, None
            self._marks.clear()
            self.changed.emit()

    def on_progress(self, event: JobProgress) -> None:
        """The phase goes on."""
        if event.job == self.job:
            if event.done > self.done:
                self._mark(event.done)
            self.done, self.total = event.done, event.total
            self.changed.emit()

    def on_preview(self, event: JobPreview, pixels: bytes) -> None:
        """Another look at the picture; one of another size than it says is not shown."""
        fits = min(event.width, event.height) > 0 and (
            len(pixels) == 3 * event.width * event.height
        )
        if event.job != self.job or not fits:
            return
        self.preview = Preview(event.job, event.width, event.height, pixels)
        self.preview_changed.emit(self.preview)

    def on_finished(self, event: JobFinished) -> None:
        """Remember how long it takes from the last step to the file."""
        self._tail_s = event.timings.decode_s + event.timings.save_s

    def _mark(self, done: int) -> None:
        now = self._clock()
        self._marks.append((now, done))
        while len(self._marks) > _FEWEST_STEPS and now - self._marks[0][0] > _WINDOW_S:
            self._marks.popleft()

    def _clear(self, job: str | None) -> None:
        self.job, self.phase, self.done, self.total = job, None, 0, None
        self.stopping = False
        self._marks.clear()
        if self.preview is not None:
            self.preview = None
            self.preview_changed.emit(None)
        self.changed.emit()
