"""A job, and the events that change it."""

from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

import msgspec

from engine.api.request import GenerateRequest
from engine.api.upscaling import UpscaleRequest
from engine.api.values import ErrorInfo

# A job whose engine ended under it this often is not tried again.
MAX_ATTEMPTS = 2

JobRequest: TypeAlias = GenerateRequest | UpscaleRequest


class JobState(StrEnum):
    """The states of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Return True if the job is done, failed or cancelled."""
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


# `gc`: see `GenerateRequest`.
class Job(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One picture to make, or to make larger. A count is 1 and a seed is fixed."""

    id: str
    request: JobRequest
    folder: Path
    state: JobState = JobState.WAITING
    # Why it failed.
    error: ErrorInfo | None = None
    # How often it was begun; a start that was taken back does not count.
    attempts: int = 0
    # Paths of the pictures that are on disk.
    images: tuple[str, ...] = ()
    # It is running and was asked to stop.
    cancelling: bool = False

    @property
    def generation(self) -> GenerateRequest | None:
        """The request of a picture that is made; None for one that is made larger."""
        return self.request if isinstance(self.request, GenerateRequest) else None

    @property
    def upscale(self) -> UpscaleRequest | None:
        """The request of a picture that is made larger; None for one that is made."""
        return self.request if isinstance(self.request, UpscaleRequest) else None

    def ended(self, state: JobState, error: ErrorInfo | None = None) -> "Job":
        """Return the job with this final state and error."""
        return msgspec.structs.replace(self, state=state, error=error, cancelling=False)


class JobEntry(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An event of one job, as it is written to the journal."""

    job: str

    def apply(self, job: Job) -> Job | None:
        """Return the job as it is after this event; None if the event does not fit its state."""
        raise NotImplementedError


class RunningEntry(JobEntry, frozen=True, kw_only=True, tag=True):
    """An event that only a running job can have."""

    def apply(self, job: Job) -> Job | None:
        """Return the job as it is after this event; None if it is not running."""
        return self.apply_running(job) if job.state is JobState.RUNNING else None

    def apply_running(self, job: Job) -> Job:
        """Return the running job as it is after this event."""
        raise NotImplementedError


class Started(JobEntry, frozen=True, kw_only=True):
    """The job is handed to the engine."""

    def apply(self, job: Job) -> Job | None:
        """Start a waiting job; no other can start."""
        if job.state is not JobState.WAITING:
            return None
        attempts = job.attempts + 1
        return msgspec.structs.replace(job, state=JobState.RUNNING, attempts=attempts)


class Saved(RunningEntry, frozen=True, kw_only=True):
    """A picture of the job is on disk."""

    path: str

    def apply_running(self, job: Job) -> Job:
        """Add the picture to the running job."""
        return msgspec.structs.replace(job, images=(*job.images, self.path))


class Finished(RunningEntry, frozen=True, kw_only=True):
    """The engine made all pictures of the job."""

    def apply_running(self, job: Job) -> Job:
        """End the job as done, also if it was asked to stop too late."""
        return job.ended(JobState.DONE)


class Failed(RunningEntry, frozen=True, kw_only=True):
    """The engine could not make the job's pictures."""

    error: ErrorInfo

    def apply_running(self, job: Job) -> Job:
        """End the job as failed."""
        return job.ended(JobState.FAILED, self.error)


class Lost(RunningEntry, frozen=True, kw_only=True):
    """The engine, or the app, ended while the job ran."""

    error: ErrorInfo

    def apply_running(self, job: Job) -> Job:
        """End a job that is settled, fail one that was lost MAX_ATTEMPTS times, let others wait."""
        settled = _settled(job)
        if settled is None and job.attempts >= MAX_ATTEMPTS:
            settled = job.ended(JobState.FAILED, self.error)
        return settled or msgspec.structs.replace(job, state=JobState.WAITING)


class Returned(RunningEntry, frozen=True, kw_only=True):
    """The job's start is taken back: the engine was told to stop, and the job has no fault."""

    def apply_running(self, job: Job) -> Job:
        """Let the job wait again as if it had not been started."""
        waiting = msgspec.structs.replace(
            job, state=JobState.WAITING, attempts=max(0, job.attempts - 1)
        )
        return _settled(job) or waiting


class Cancelled(Returned, frozen=True, kw_only=True):
    """The engine stopped the job: on request, or because it ends itself."""

    def apply_running(self, job: Job) -> Job:
        """End the job as cancelled if that was asked for; else let it wait again."""
        return job.ended(JobState.CANCELLED) if job.cancelling else super().apply_running(job)


class CancelAsked(JobEntry, frozen=True, kw_only=True):
    """The user no longer wants the job."""

    def apply(self, job: Job) -> Job | None:
        """Cancel a waiting job at once; the engine's last word decides on a running one."""
        if job.state is JobState.WAITING:
            return job.ended(JobState.CANCELLED)
        if job.state is JobState.RUNNING and not job.cancelling:
            return msgspec.structs.replace(job, cancelling=True)
        return None


class Retried(JobEntry, frozen=True, kw_only=True, rename={"folder": "out"}):
    """The user wants an ended job to be made again, perhaps with another request or folder."""

    request: GenerateRequest | None = None
    folder: str | None = None
    upscale: UpscaleRequest | None = None

    def apply(self, job: Job) -> Job | None:
        """Let a failed or cancelled job wait again, as if it were new."""
        if job.state not in (JobState.FAILED, JobState.CANCELLED):
            return None
        folder = job.folder if self.folder is None else Path(self.folder)
        return Job(id=job.id, request=self.request or self.upscale or job.request, folder=folder)


class Recovered(JobEntry, frozen=True, kw_only=True):
    """The picture of a job that failed to save it was moved from where it was kept to this path."""

    path: str

    def apply(self, job: Job) -> Job | None:
        """End a failed job as done."""
        if job.state is not JobState.FAILED:
            return None
        moved = msgspec.structs.replace(
            job, images=(*job.images, self.path), folder=Path(self.path).parent
        )
        return moved.ended(JobState.DONE)


def retried(job_id: str, request: JobRequest | None, folder: Path | None) -> Retried:
    """Return the event of a job that is wanted again; None leaves its request or folder."""
    return Retried(
        job=job_id,
        request=request if isinstance(request, GenerateRequest) else None,
        folder=None if folder is None else str(folder),
        upscale=request if isinstance(request, UpscaleRequest) else None,
    )


class Kept(JobEntry, frozen=True, kw_only=True):
    """The state of the job when the journal was rewritten."""

    state: JobState
    attempts: int
    error: ErrorInfo | None
    images: tuple[str, ...]

    def apply(self, job: Job) -> Job | None:
        """Restore the state; no job runs in a journal that was rewritten."""
        if self.state is JobState.RUNNING:
            return None
        return msgspec.structs.replace(
            job, state=self.state, attempts=self.attempts, error=self.error, images=self.images
        )


def _settled(job: Job) -> Job | None:
    """Return a job as it ended with its engine, done or cancelled; None if it must run again."""
    if job.images:
        # Its one picture is there; only the engine's word that it is finished is missing.
        return job.ended(JobState.DONE)
    return job.ended(JobState.CANCELLED) if job.cancelling else None
