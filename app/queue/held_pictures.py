"""Finished pictures that no disk took, held in memory until they are saved somewhere."""

import msgspec

from app.queue.job_list import Entry
from app.queue.jobs import Failed, Job, JobState, Kept
from engine.api.messages import JobFailed, PictureUnsaved
from engine.api.remedies import SaveHeld
from engine.api.saving import PictureFile
from engine.api.values import ErrorInfo

# What all of them may take together; a further one must be made again.
MOST_BYTES = 512 << 20
# In others the job is made again, or is over.
_HELD_IN = (JobState.RUNNING, JobState.FAILED)


class HeldPictures:
    """The pictures of failed jobs that the engine could save nowhere, by the jobs' ids."""

    def __init__(self) -> None:
        self._pictures: dict[str, PictureFile] = {}

    def hold(self, event: PictureUnsaved, content: bytes) -> None:
        """Hold a picture, if there is room for it."""
        if sum(len(held.content) for held in self._pictures.values()) + len(content) <= MOST_BYTES:
            self._pictures[event.job] = PictureFile(event.name, content)

    def of(self, job: str) -> PictureFile | None:
        """Return the picture of a job; None if none is held."""
        return self._pictures.get(job)

    @property
    def jobs(self) -> tuple[str, ...]:
        """The jobs whose pictures are held."""
        return tuple(self._pictures)

    def failure(self, event: JobFailed) -> ErrorInfo:
        """Return the error of a failed job, with the remedy that its held picture is."""
        if event.job not in self._pictures:
            return event.error
        remedies = SaveHeld(), *event.error.remedies
        return msgspec.structs.replace(event.error, remedies=remedies)

    def look_at(self, job: Job) -> None:
        """Let go of the picture of a job that has not failed any more."""
        if job.state not in _HELD_IN:
            self.let_go(job.id)

    def let_go(self, job: str) -> None:
        """Hold the picture of a job no longer, if it is held."""
        self._pictures.pop(job, None)


def let_go_of_held(entry: Entry) -> Entry:
    """Return an entry of an earlier session, which holds no picture any more."""
    if not isinstance(entry, Failed | Kept) or entry.error is None:
        return entry
    left = tuple(remedy for remedy in entry.error.remedies if not isinstance(remedy, SaveHeld))
    error = msgspec.structs.replace(entry.error, remedies=left)
    return msgspec.structs.replace(entry, error=error)
