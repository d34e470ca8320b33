"""The jobs in order.

Every change is an entry, and the journal is a file of entries. The same entries make the same list,
now or when they are read back, so a restart shows the same jobs as before.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import TypeAlias

import msgspec

from app.queue.counted_seeds import counted_seed, with_counted_seed
from app.queue.jobs import (
    CancelAsked,
    Cancelled,
    Failed,
    Finished,
    Job,
    JobEntry,
    JobRequest,
    JobState,
    Kept,
    Lost,
    Recovered,
    Retried,
    Returned,
    Saved,
    Started,
)
from engine.api.request import GenerateRequest
from engine.api.upscaling import UpscaleRequest


class ListEntry(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An event that changes the list."""


class Submitted(ListEntry, frozen=True, kw_only=True, rename={"folder": "out"}):
    """New jobs: the request with each of the seeds; `front` puts them before all that wait."""

    jobs: tuple[str, ...]
    seeds: tuple[int, ...]
    request: GenerateRequest
    folder: str
    front: bool = False


class UpscaleSubmitted(ListEntry, frozen=True, kw_only=True):
    """A new job that makes a picture larger; `front` puts it before all that wait."""

    job: str
    request: UpscaleRequest
    folder: str
    front: bool = False


class AllCancelAsked(ListEntry, frozen=True, kw_only=True):
    """The user asked to cancel every job."""


class Dismissed(ListEntry, frozen=True, kw_only=True):
    """The user dismissed a job that is over."""

    job: str


class Cleared(ListEntry, frozen=True, kw_only=True):
    """The user dismissed all jobs that are over in one of these states."""

    states: tuple[JobState, ...]


class Moved(ListEntry, frozen=True, kw_only=True):
    """The user put waiting jobs before another job; without one, behind all others."""

    jobs: tuple[str, ...]
    before: str | None


class PauseSet(ListEntry, frozen=True, kw_only=True):
    """The user paused the queue, or resumed it."""

    paused: bool


Entry: TypeAlias = (
    Submitted
    | UpscaleSubmitted
    | AllCancelAsked
    | Dismissed
    | Cleared
    | Moved
    | PauseSet
    | Started
    | Saved
    | Finished
    | Failed
    | Cancelled
    | Lost
    | Returned
    | CancelAsked
    | Retried
    | Recovered
    | Kept
)


# Jobs that are over and need nothing, by their state: earlier ones leave the list. Cancelled ones
# can be put back, those that are done are in the gallery.
_MOST_OVER = {JobState.CANCELLED: 10_000, JobState.DONE: 1000}


class Change(msgspec.Struct, frozen=True):
    """The changes that an entry made to the list."""

    added: tuple[Job, ...] = ()
    changed: tuple[Job, ...] = ()
    removed: tuple[str, ...] = ()
    # True if the order of the jobs, or the pause, is another.
    arrangement: bool = False


class JobList:
    """The jobs in order, at most one of them running. Entries that do not fit do nothing."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._order: list[str] = []
        self._running: str | None = None
        # The jobs of each state, those that came to it last at the end.
        self._by_state: dict[JobState, dict[str, None]] = {state: {} for state in JobState}
        # No further job is to be started.
        self.paused = False
        # Built from the order on demand.
        self._snapshot: tuple[Job, ...] | None = None

    @property
    def snapshot(self) -> tuple[Job, ...]:
        """All jobs, in order."""
        if self._snapshot is None:
            self._snapshot = tuple(map(self._jobs.__getitem__, self._order))
        return self._snapshot

    def get(self, job: str) -> Job | None:
        """Return the job with this id; None if there is none."""
        return self._jobs.get(job)

    def count(self, state: JobState) -> int:
        """Return the number of jobs in a state."""
        return len(self._by_state[state])

    @property
    def running(self) -> Job | None:
        """The job that the engine runs; None if there is none."""
        return self._jobs[self._running] if self._running else None

    @property
    def first_waiting(self) -> Job | None:
        """The job that is to be started next; None if there is none."""
        jobs = map(self._jobs.__getitem__, self._order)
        return next((job for job in jobs if job.state is JobState.WAITING), None)

    def apply(self, entry: Entry) -> Change:
        """Apply an entry; return what it changed."""
        change = self._apply(entry)
        gone = self._remove(set(self._surplus()))
        return msgspec.structs.replace(change, removed=(*change.removed, *gone)) if gone else change

    def _apply(self, entry: Entry) -> Change:
        match entry:
            case Submitted() | UpscaleSubmitted():
                return self._add(_jobs_of(entry), front=entry.front)
            case Moved():
                return self._move(entry)
            case PauseSet():
                changes, self.paused = entry.paused is not self.paused, entry.paused
                return Change(arrangement=changes)
            case Cleared():
                return Change(removed=self.drop(s for s in entry.states if s.is_over))
            case AllCancelAsked():
                asked = (self._apply_to_job(CancelAsked(job=name)) for name in self._order)
                return Change(changed=tuple(filter(None, asked)))
            case Dismissed():
                job = self.get(entry.job)
                is_over = job is not None and job.state.is_over
                return Change(removed=self._remove({entry.job}) if is_over else ())
            case Started() if self._running is not None:
                return Change()
            case _:
                return Change(changed=tuple(filter(None, [self._apply_to_job(entry)])))

    def drop(self, states: Iterable[JobState]) -> tuple[str, ...]:
        """Remove the jobs in these states, but not a running one; return their ids."""
        unwanted = frozenset(states) - {JobState.RUNNING}
        return self._remove({job.id for job in self.snapshot if job.state in unwanted})

    def _surplus(self) -> Iterator[str]:
        """Yield the jobs that were over first, of those that are too many."""
        for state, most in _MOST_OVER.items():
            over = self._by_state[state]
            yield from islice(over, max(0, len(over) - most))

    def _remove(self, names: set[str]) -> tuple[str, ...]:
        if not names:
            return ()
        removed = tuple(name for name in self._order if name in names)
        for name in removed:
            del self._by_state[self._jobs.pop(name).state][name]
        self._order = [name for name in self._order if name in self._jobs]
        self._snapshot = None
        return removed

    def entries(self) -> Iterator[Entry]:
        """Yield the fewest entries that make a list equal to this one."""
        if self.paused:
            yield PauseSet(paused=True)
        for (request, folder), group in groupby(self.snapshot, _template):
            jobs = tuple(group)
            if isinstance(request, UpscaleRequest):
                for job in jobs:
                    yield UpscaleSubmitted(job=job.id, request=request, folder=str(folder))
            else:
                names = tuple(job.id for job in jobs)
                requests = (job.generation for job in jobs)
                seeds = tuple(counted_seed(made) or 0 for made in requests if made is not None)
                yield Submitted(jobs=names, seeds=seeds, request=request, folder=str(folder))
            for job in jobs:
                if job.state is not JobState.WAITING or job.attempts:
                    yield Kept(
                        job=job.id,
                        state=job.state,
                        attempts=job.attempts,
                        error=job.error,
                        images=job.images,
                    )

    def _add(self, jobs: Iterable[Job], *, front: bool) -> Change:
        added = tuple(job for job in jobs if job.id not in self._jobs)
        first = self.first_waiting if front else None
        position = self._order.index(first.id) if first else len(self._order)
        self._jobs.update((job.id, job) for job in added)
        self._by_state[JobState.WAITING].update(dict.fromkeys(job.id for job in added))
        self._order[position:position] = [job.id for job in added]
        self._snapshot = None
        return Change(added=added)

    def _move(self, entry: Moved) -> Change:
        moved = {name for name in entry.jobs if self._waits(name)} - {entry.before}
        if not moved or (entry.before is not None and entry.before not in self._jobs):
            return Change()
        rest = [name for name in self._order if name not in moved]
        position = len(rest) if entry.before is None else rest.index(entry.before)
        # In the order in which the user named them.
        rest[position:position] = [name for name in dict.fromkeys(entry.jobs) if name in moved]
        self._order = rest
        self._snapshot = None
        return Change(arrangement=True)

    def _waits(self, name: str) -> bool:
        job = self.get(name)
        return job is not None and job.state is JobState.WAITING

    def _apply_to_job(self, entry: JobEntry) -> Job | None:
        before = self.get(entry.job)
        after = before and entry.apply(before)
        if after is None:
            return None
        assert before is not None
        self._jobs[after.id] = after
        if after.state is not before.state:
            del self._by_state[before.state][after.id]
            self._by_state[after.state][after.id] = None
        self._snapshot = None
        if after.state is JobState.RUNNING:
            self._running = after.id
        elif self._running == after.id:
            self._running = None
        return after


def _jobs_of(entry: Submitted | UpscaleSubmitted) -> Iterator[Job]:
    """Yield the jobs of an entry, each name once."""
    folder = Path(entry.folder)
    if isinstance(entry, UpscaleSubmitted):
        yield Job(id=entry.job, request=entry.request, folder=folder)
        return
    for name, seed in dict(zip(entry.jobs, entry.seeds, strict=False)).items():
        yield Job(id=name, request=with_counted_seed(entry.request, seed), folder=folder)


def _template(job: Job) -> tuple[JobRequest, Path]:
    """Return the request without its seed, and the folder: equal for jobs submitted together."""
    generation = job.generation
    if generation is None:
        return job.request, job.folder
    return with_counted_seed(generation, None), job.folder
