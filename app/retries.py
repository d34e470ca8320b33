"""Pictures that failed and are made again: as they were, smaller, or saved elsewhere."""

import os
from pathlib import Path

import msgspec

from app.generation import smaller_size
from app.job_queue import JobQueue
from app.notices import Notice
from app.view import ViewState
from engine.api.remedies import MakeSmaller


class Retries:
    """Queues the jobs of a notice again, and has the canvas follow it."""

    def __init__(self, queue: JobQueue, view: ViewState) -> None:
        self._queue, self._view = queue, view

    def again(self, notice: Notice) -> None:
        """As they were."""
        for job in notice.subjects:
            self._queue.retry(job)
        self._view.follow()

    def elsewhere(self, notice: Notice, folder: Path) -> None:
        """Saved to another folder."""
        for job in notice.subjects:
            self._queue.retry(job, out=f"{folder}{os.sep}")
        self._view.follow()

    def smaller(self, notice: Notice) -> None:
        """At the next smaller size."""
        size = self.smaller_size(notice)
        for job in filter(None, map(self._queue.job, notice.subjects)):
            if size is not None:
                request = msgspec.structs.replace(job.request, width=size[0], height=size[1])
                self._queue.retry(job.id, request)
                self._view.follow()

    def smaller_size(self, notice: Notice) -> tuple[int, int] | None:
        """The size that a picture which ran out of memory may have; None where none is known."""
        remedies = notice.error.remedies if notice.error else ()
        told = next((one for one in remedies if isinstance(one, MakeSmaller)), MakeSmaller())
        job = self._queue.job(notice.subjects[0]) if notice.subjects else None
        asked = (job.request.width, job.request.height) if job else (None, None)
        width, height = told.width or asked[0], told.height or asked[1]
        return smaller_size(width, height) if width and height else None
