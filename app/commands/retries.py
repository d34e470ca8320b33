"""Retries of failed pictures: with the same request, or with the one change that may help.

Pictures that were finished and could not be saved are saved or moved, not made again.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import msgspec

from app.background import Background
from app.form.sizes import smaller_size
from app.library.kept_pictures import move_picture, save_picture
from app.notices.kinds import KINDS
from app.notices.notices import Notice, NoticeState
from app.notices.remedies import NoticeAction
from app.queue.job_queue import JobQueue, random_seed
from app.queue.jobs import Job, JobRequest
from app.view import ViewState
from engine.api.remedies import MakeSmaller, MoveKept, PartFile, SupplyParts
from engine.api.request import GenerateRequest
from engine.api.saving import PictureFile
from engine.file_paths import exists

# A change of a job's request; None where the job has no such change.
Change: TypeAlias = Callable[[Job], JobRequest | None]
# Saves a picture to a folder, and returns its path, or why it cannot; None if it is not there.
Save: TypeAlias = Callable[[Path], Path | OSError | None]


class Retries:
    """Queues failed jobs again, and has the canvas follow them."""

    def __init__(
        self, queue: JobQueue, view: ViewState, notices: NoticeState, background: Background
    ) -> None:
        self._queue, self._view = queue, view
        self._notices, self._background = notices, background

    def again(self, notice: Notice, folder: Path | None = None) -> None:
        """Queue the notice's jobs with the same requests, perhaps to be saved in another folder."""
        self.once_more(notice.subjects, folder)

    def once_more(self, jobs: Iterable[str], folder: Path | None = None) -> None:
        """Queue jobs as `again` does."""
        self._queue.in_turns(self._once_more(job, folder) for job in jobs)
        self._view.follow()

    def _once_more(self, name: str, folder: Path | None) -> None:
        """Save the picture of a job if it was kept or is held, and else queue the job."""
        job = self._queue.job(name)
        save = _saving(job, self._queue.held.of(name))
        if job is None or save is None:
            self._queue.retry(name, folder=folder)
            return
        wanted = folder or job.folder

        def saved(outcome: Path | OSError | None) -> None:
            if isinstance(outcome, Path):
                self._queue.recover(name, outcome)
                self._view.on_saved(str(outcome))
            elif outcome is None:
                # Somebody took it.
                self._queue.retry(name, folder=folder)
            elif job.error is not None:
                self._notices.tell_error(job.error, job=name)

        self._background.run(lambda: save(wanted), saved)

    def changed(self, notice: Notice, change: Change) -> None:
        """Queue each job of the notice with a changed request; one without it stays failed."""
        for job in self.jobs(notice):
            request = change(job)
            if request is not None:
                self._queue.retry(job.id, request)
                self._view.follow()

    def jobs(self, notice: Notice) -> tuple[Job, ...]:
        """Return those of the notice's jobs that are still in the queue."""
        return tuple(filter(None, map(self._queue.job, notice.subjects)))


def save_what_is_held(queue: JobQueue) -> None:
    """Save the pictures that are held where they were meant to be, if there is room by now."""
    for name in queue.held.jobs:
        job, held = queue.job(name), queue.held.of(name)
        if job is not None and held is not None:
            with suppress(OSError):
                queue.recover(name, save_picture(held.name, held.content, job.folder))


def _saving(job: Job | None, held: PictureFile | None) -> Save | None:
    """Return what saves a job's finished picture to a folder; None where it has none."""
    if held is not None:
        return lambda folder: _tried(lambda: save_picture(held.name, held.content, folder))
    kept = _kept_picture(job)
    if kept is None:
        return None

    def move(folder: Path) -> Path | OSError | None:
        moved = _tried(lambda: move_picture(kept, folder))
        # A drive that is gone is not found either.
        return None if isinstance(moved, FileNotFoundError) and not exists(kept) else moved

    return move


def _tried(save: Callable[[], Path]) -> Path | OSError:
    try:
        return save()
    except OSError as error:
        return error


def _kept_picture(job: Job | None) -> Path | None:
    """Return the file in which a job's picture was kept that could not be saved; None if none."""
    remedies = job.error.remedies if job is not None and job.error is not None else ()
    return next((Path(remedy.path) for remedy in remedies if isinstance(remedy, MoveKept)), None)


def may_need_seed(job: Job) -> bool:
    """Return True if a job failed in a way that another seed may cure."""
    return job.generation is not None and _may_need(job, NoticeAction.RETRY_NEW_SEED)


def may_need_device(job: Job) -> bool:
    """Return True if a job failed in a way that another device may cure."""
    return _may_need(job, NoticeAction.RETRY_ON_ANOTHER)


def may_need_smaller(job: Job) -> bool:
    """Return True if a job failed in a way that a smaller picture may avoid."""
    remedies = job.error.remedies if job.error is not None else ()
    advised = any(isinstance(remedy, MakeSmaller) for remedy in remedies)
    return advised or _may_need(job, NoticeAction.RETRY_SMALLER)


def next_smaller(job: Job) -> tuple[int, int] | None:
    """Return a job's next smaller size in its shape; None if there is none or it is unknown.

    A picture that is made larger has none: its size was chosen for itself.
    """
    request = job.generation
    if request is None:
        return None
    remedies = job.error.remedies if job.error else ()
    remedy = next((remedy for remedy in remedies if isinstance(remedy, MakeSmaller)), MakeSmaller())
    if request.second_passes:
        # A remedy is about the last pass, which makes the picture larger.
        remedy = MakeSmaller()
    if remedy.fitting is not None:
        return remedy.fitting
    width, height = remedy.width or request.width, remedy.height or request.height
    return smaller_size(width, height) if width and height else None


def smaller(job: Job) -> GenerateRequest | None:
    """Return a job's request at its next smaller size; None if there is none."""
    size, request = next_smaller(job), job.generation
    if size is None or request is None:
        return None
    return msgspec.structs.replace(request, width=size[0], height=size[1])


def with_new_seed(job: Job) -> GenerateRequest | None:
    """Return a job's request with a seed drawn by chance; None for one without a seed."""
    request = job.generation
    return request and msgspec.structs.replace(request, seed=random_seed())


def unlimited(job: Job) -> GenerateRequest | None:
    """Return a job's request without its memory limits; None for one that can have none."""
    limits = {"memory_limit_bytes": None, "device_memory_limit_bytes": None}
    request = job.generation
    return request and msgspec.structs.replace(request, **limits)


def inverted(job: Job) -> GenerateRequest | None:
    """Return a job's request with the painted and the kept area of its mask swapped, if any."""
    request = job.generation
    if request is None:
        return None
    options = request.mask_options
    options = msgspec.structs.replace(options, inverted=not options.inverted)
    return msgspec.structs.replace(request, mask_options=options)


def fitting_files(notice: Notice) -> tuple[PartFile, ...]:
    """Return the user's best fitting files for all parts that a failure lacks; or none."""
    wanted = parts_wanted(notice)
    remedies = notice.error.remedies if notice.error else ()
    found = (remedy for remedy in remedies if isinstance(remedy, SupplyParts))
    files = next((remedy.files for remedy in found), ())
    return files if {file.component for file in files} == set(wanted) else ()


def parts_wanted(notice: Notice) -> tuple[str, ...]:
    """Return the parts that a failure lacks, as field names of `ComponentFiles`."""
    remedies = notice.error.remedies if notice.error else ()
    return next((remedy.components for remedy in remedies if isinstance(remedy, SupplyParts)), ())


def _may_need(job: Job, action: NoticeAction) -> bool:
    return job.error is not None and action in KINDS[job.error.code].actions
