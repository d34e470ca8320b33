"""The pictures that one press of Generate makes."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from app.queue.job_queue import JobQueue, batch_of
from app.queue.jobs import Job, JobState

# The most pictures that are shown together; of a larger batch those around the one being made.
_MOST = 36


class Batch(QObject):
    """The jobs of the batch that runs, or ran last, in order.

    Jobs that were cancelled leave it, and so do pictures that went to the trash.
    """

    changed = Signal()

    def __init__(self, queue: JobQueue, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._name = ""
        self._jobs: dict[str, Job] = {}
        # The paths of pictures, of any batch, in the trash; the jobs that left this one with them.
        self._trashed: set[str] = set()
        self._left: dict[str, Job] = {}
        queue.job_added.connect(self._on_added)
        queue.job_changed.connect(self._on_changed)
        queue.job_removed.connect(self._on_removed)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """All jobs of the batch."""
        return tuple(self._jobs.values())

    @property
    def count(self) -> int:
        """The number of the batch's pictures."""
        return len(self._jobs)

    @property
    def shown(self) -> tuple[Job, ...]:
        """The jobs that are shown together."""
        jobs = self.jobs
        begun = [number for number, job in enumerate(jobs) if job.state is not JobState.WAITING]
        first = (begun[-1] if begun else 0) // _MOST * _MOST
        return jobs[first : first + _MOST]

    def number(self, job: str) -> int:
        """Return a job's place in the batch, counted from 1; 0 for a job of another batch."""
        return list(self._jobs).index(job) + 1 if job in self._jobs else 0

    def has_picture(self, path: str) -> bool:
        """Return True if a picture is of this batch."""
        return any(path in job.images for job in self._jobs.values())

    def on_trashed(self, paths: Iterable[str]) -> None:
        """Leave out pictures that went to the trash."""
        self._trashed.update(paths)
        self._take(self.jobs)
        self.changed.emit()

    def on_restored(self, paths: Iterable[str]) -> None:
        """Take pictures that came back from the trash."""
        self._trashed.difference_update(paths)
        self._take(tuple(self._left.values()))
        self.changed.emit()

    def _on_added(self, job: Job) -> None:
        if batch_of(job.id) == self._name:
            self._jobs[job.id] = job
            self.changed.emit()

    def _on_changed(self, job: Job) -> None:
        name = batch_of(job.id)
        if job.state is JobState.RUNNING:
            # A name may be free again.
            self._trashed.difference_update(job.images)
        if job.state is JobState.RUNNING and name != self._name:
            self._name = name
            self._jobs, self._left = {}, {}
            self._take(other for other in self._queue.jobs if batch_of(other.id) == name)
        elif name != self._name:
            return
        was_there = job.id in self._jobs
        self._take([job])
        if was_there or job.id in self._jobs:
            self.changed.emit()

    def _take(self, jobs: Iterable[Job]) -> None:
        """Take jobs as they are now; one that had left the batch comes back to its place."""
        is_back = False
        for job in jobs:
            is_trashed = bool(job.images) and self._trashed.issuperset(job.images)
            if is_trashed:
                self._left[job.id] = job
            else:
                self._left.pop(job.id, None)
            if is_trashed or (job.state is JobState.CANCELLED and not job.images):
                self._jobs.pop(job.id, None)
            else:
                is_back = is_back or job.id not in self._jobs
                self._jobs[job.id] = job
        if is_back:
            # Those that left the queue's list were over before all others.
            places = {other.id: place for place, other in enumerate(self._queue.jobs)}
            in_order = sorted(self._jobs.values(), key=lambda other: places.get(other.id, -1))
            self._jobs = {other.id: other for other in in_order}

    def _on_removed(self, job: str) -> None:
        # Finished jobs that leave the queue's list stay here, as their pictures stay.
        if job in self._jobs and not self._jobs[job].images:
            del self._jobs[job]
            self.changed.emit()
