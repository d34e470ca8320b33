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
        # Paths of pictures, of any batch, that went to the trash.
        self._trashed: set[str] = set()
        queue.job_added.connect(self._on_added)
        queue.job_changed.connect(self._on_changed)
        queue.job_removed.connect(self._on_removed)

    @property
    def jobs(self) -> tuple[Job, ...]:
        """All jobs of the batch."""
        return tuple(job for job in self._jobs.values() if not self._is_trashed(job))

    @property
    def count(self) -> int:
        """The number of the batch's pictures."""
        return len(self.jobs)

    @property
    def shown(self) -> tuple[Job, ...]:
        """The jobs that are shown together."""
        jobs = self.jobs
        begun = [number for number, job in enumerate(jobs) if job.state is not JobState.WAITING]
        first = (begun[-1] if begun else 0) // _MOST * _MOST
        return jobs[first : first + _MOST]

    def number(self, job: str) -> int:
        """Return a job's place in the batch, counted from 1; 0 for a job of another batch."""
        names = [shown.id for shown in self.jobs]
        return names.index(job) + 1 if job in names else 0

    def has_picture(self, path: str) -> bool:
        """Return True if a picture is of this batch."""
        return any(path in job.images for job in self.jobs)

    def on_trashed(self, paths: Iterable[str]) -> None:
        """Leave out pictures that went to the trash."""
        self._trashed.update(paths)
        self.changed.emit()

    def on_restored(self, paths: Iterable[str]) -> None:
        """Take pictures that came back from the trash."""
        self._trashed.difference_update(paths)
        self.changed.emit()

    def _is_trashed(self, job: Job) -> bool:
        return bool(job.images) and self._trashed.issuperset(job.images)

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
            jobs = (job for job in self._queue.jobs if batch_of(job.id) == name)
            self._jobs = {job.id: job for job in jobs if not _has_left(job)}
        elif name != self._name:
            return
        if not _has_left(job):
            self._put(job)
        elif self._jobs.pop(job.id, None) is None:
            return
        self.changed.emit()

    def _put(self, job: Job) -> None:
        """Take a job as it is now; one that had left the batch comes back to its place."""
        is_back = job.id not in self._jobs
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


def _has_left(job: Job) -> bool:
    return job.state is JobState.CANCELLED and not job.images
