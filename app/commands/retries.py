"""Retries of failed pictures: with the same request, smaller, or in another folder."""

from pathlib import Path

import msgspec

from app.form.generation import smaller_size
from app.notices.notices import Notice
from app.queue.job_queue import Job, JobQueue
from app.view import ViewState
from engine.api.remedies import MakeSmaller
from engine.api.values import ErrorCode

# Failures that come of the numbers that a seed brings.
_OF_THE_SEED = frozenset({ErrorCode.NUMERIC_FAILURE})
# Failures that another device may not have.
_OF_THE_DEVICE = frozenset(
    {
        ErrorCode.BACKEND_UNKNOWN,
        ErrorCode.BACKEND_UNAVAILABLE,
        ErrorCode.BACKEND_FAILED,
        ErrorCode.REFIT_FAILED,
        ErrorCode.OUT_OF_MEMORY,
        ErrorCode.NUMERIC_FAILURE,
        ErrorCode.ENGINE_CRASHED,
    }
)


class Retries:
    """Queues the jobs of a notice again, and has the canvas follow them."""

    def __init__(self, queue: JobQueue, view: ViewState) -> None:
        self._queue, self._view = queue, view

    def again(self, notice: Notice) -> None:
        """Queue the notice's jobs with the same requests and folders."""
        for job in notice.subjects:
            self._queue.retry(job)
        self._view.follow()

    def elsewhere(self, notice: Notice, folder: Path) -> None:
        """Queue the notice's jobs again, with another folder to save to."""
        for job in notice.subjects:
            self._queue.retry(job, folder=folder)
        self._view.follow()

    def smaller(self, notice: Notice) -> None:
        """Queue each job of the notice at its next smaller size; a job without one stays failed."""
        for job in filter(None, map(self._queue.job, notice.subjects)):
            size = next_smaller(job)
            if size is not None:
                request = msgspec.structs.replace(job.request, width=size[0], height=size[1])
                self._queue.retry(job.id, request)
                self._view.follow()

    def smaller_sizes(self, notice: Notice) -> frozenset[tuple[int, int]]:
        """Return the next smaller sizes of the notice's jobs; empty if none is known."""
        jobs = filter(None, map(self._queue.job, notice.subjects))
        return frozenset(filter(None, map(next_smaller, jobs)))


def may_need_seed(job: Job) -> bool:
    """Return True if a job failed in a way that another seed may cure."""
    return job.error is not None and job.error.code in _OF_THE_SEED


def may_need_device(job: Job) -> bool:
    """Return True if a job failed in a way that another device may cure."""
    return job.error is not None and job.error.code in _OF_THE_DEVICE


def next_smaller(job: Job) -> tuple[int, int] | None:
    """Return a job's next smaller size in its shape; None if there is none or it is unknown."""
    remedies = job.error.remedies if job.error else ()
    remedy = next((one for one in remedies if isinstance(one, MakeSmaller)), MakeSmaller())
    width, height = remedy.width or job.request.width, remedy.height or job.request.height
    return smaller_size(width, height) if width and height else None
