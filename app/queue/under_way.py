"""The jobs of the queue, counted by their states and by what their pictures' times depend on."""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
from PySide6.QtCore import QObject

from app.queue.job_queue import JobQueue
from app.queue.jobs import Job, JobRequest, JobState
from engine.api.upscaling import UpscaleRequest


class Alike(msgspec.Struct):
    """Requests whose pictures take the same time: one of them, and their number."""

    kind: object
    request: JobRequest
    count: int = 0


class Tally:
    """Jobs by their ids, gathered with those whose pictures take the same time."""

    def __init__(self, jobs: Iterable[Job] = ()) -> None:
        self._jobs: dict[str, Alike] = {}
        self._alike: dict[object, Alike] = {}
        for job in jobs:
            self.add(job)

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Alike]:
        return iter(self._alike.values())

    def add(self, job: Job) -> None:
        """Count a job; one that was counted already is counted as it is now."""
        self.remove(job.id)
        kind = _kind(job.request)
        alike = self._alike.get(kind)
        if alike is None:
            alike = self._alike[kind] = Alike(kind, job.request)
        alike.count += 1
        self._jobs[job.id] = alike

    def remove(self, job: str) -> None:
        """Count a job no longer, if it is counted."""
        alike = self._jobs.pop(job, None)
        if alike is not None:
            alike.count -= 1
            if not alike.count:
                del self._alike[alike.kind]


class UnderWay(QObject):
    """Keeps the tally of a queue's jobs that are not over, and the numbers of all by `states`.

    A change costs what it is about.
    """

    def __init__(self, queue: JobQueue, parent: QObject) -> None:
        super().__init__(parent)
        self.tally, self.states = Tally(), Counter[JobState]()
        self._known: dict[str, JobState] = {}
        for job in queue.jobs:
            self._follow(job)
        queue.job_added.connect(self._follow)
        queue.job_changed.connect(self._follow)
        queue.job_removed.connect(self._forget)

    def _forget(self, job: str) -> None:
        self.tally.remove(job)
        state = self._known.pop(job, None)
        if state is not None:
            self.states[state] -= 1

    def _follow(self, job: Job) -> None:
        before = self._known.get(job.id)
        if before is not None:
            self.states[before] -= 1
        self._known[job.id] = job.state
        self.states[job.state] += 1
        if job.state.is_over:
            self.tally.remove(job.id)
        else:
            self.tally.add(job)


def _kind(request: JobRequest) -> object:
    """Return a value that is equal for requests whose pictures take the same time."""
    if isinstance(request, UpscaleRequest):
        return request
    size, inputs = (request.width, request.height), bool(request.inputs)
    method = request.steps, request.sampler, request.strength, request.convention
    guidance = request.guidance, request.guidance_options
    redraws = inputs, request.mask_options, request.second_passes
    beside = request.controls, request.image_prompts, request.refiner
    return request.checkpoint, size, method, guidance, redraws, beside
