"""The queue: jobs in order, run one at a time; each change is on disk before it is signalled."""

import secrets
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Qt, QTimer, Signal, SignalInstance

from app.engine.client import EngineClient
from app.engine.end import EngineEnd
from app.engine.process import EngineState
from app.queue.counted_seeds import counted_seed, with_counted_seed
from app.queue.held_pictures import HeldPictures, let_go_of_held
from app.queue.job_list import (
    AllCancelAsked,
    Change,
    Cleared,
    Dismissed,
    Entry,
    JobList,
    Moved,
    PauseSet,
    Submitted,
    UpscaleSubmitted,
)
from app.queue.jobs import (
    CancelAsked,
    Cancelled,
    Failed,
    Finished,
    Job,
    JobRequest,
    JobState,
    Lost,
    Recovered,
    Returned,
    Saved,
    Started,
    retried,
)
from app.queue.queue_journal import queue_journal
from app.queue.submission import check_request, check_room
from app.queue.turns import TURN_S, Turns
from app.storage.journal import Journal, JournalWriter
from engine.api.messages import ImageSaved, JobCancelled, JobFailed, JobFinished
from engine.api.request import GenerateRequest
from engine.api.sentences import sentence
from engine.api.upscale_messages import ImageUpscaled
from engine.api.upscaling import UpscaleRequest
from engine.api.values import ErrorCode, ErrorInfo
from engine.errors import EngineError

# The range of random seeds in other tools; any seed up to MAX_SEED may be given.
_RANDOM_SEEDS = 2**32
# Jobs of a batch that one entry adds to the list, which takes 2 ms.
_SUBMIT_AT_ONCE = 1000


def random_seed() -> int:
    """Return a seed drawn by chance, short enough to be read out."""
    return secrets.randbelow(_RANDOM_SEEDS)


class JobQueue(QObject):
    """The jobs of this session and those left by earlier sessions.

    Each method returns at once. Its change is applied, and signalled, once it is durably
    written: milliseconds later, in the order of the calls, without blocking any caller. A change
    that does not fit a job's state by then, or names no job, does nothing.
    """

    # Job
    job_added = Signal(object)
    # Job
    job_changed = Signal(object)
    # The id
    job_removed = Signal(str)
    # The order of the jobs, or the pause, is another.
    arrangement_changed = Signal()
    # ErrorInfo: the journal cannot be read or written; the queue goes on without it
    journal_failed = Signal(object)

    # From the journal's thread: the number of the last durable entry; the error of a failed write.
    _synced = Signal(object)
    _failed = Signal(object)

    def __init__(self, client: EngineClient, state: Path, parent: QObject | None = None) -> None:
        """Read what earlier sessions left in the folder `state`."""
        super().__init__(parent)
        self._client = client
        self._list = JobList()
        self.held = HeldPictures()
        self.job_changed.connect(self.held.look_at)
        self.job_removed.connect(self.held.let_go)
        self._turns = Turns(self)
        self._open = True
        # Entries that are being written, each with its number.
        self._pending: deque[tuple[int, Entry]] = deque()
        self._durable = 0
        # Signals of applied entries, which are emitted before the next entry is applied.
        self._untold: deque[tuple[SignalInstance, tuple[Job | str, ...]]] = deque()
        # A Started entry is being written.
        self._starting = False
        self._continue = QTimer(self, singleShot=True, interval=0)
        self._continue.timeout.connect(self._take_turn)
        self._synced.connect(self._on_synced, Qt.ConnectionType.QueuedConnection)
        self._failed.connect(self.journal_failed, Qt.ConnectionType.QueuedConnection)
        journal = queue_journal(state)
        self._restore(journal)
        failing = self._rewrite(journal)
        self._writer = JournalWriter(journal, self._synced.emit, self._failed.emit, failing=failing)
        self._listen()

    @property
    def jobs(self) -> tuple[Job, ...]:
        """All jobs, in order. The first that waits is the next to run."""
        return self._list.snapshot

    @property
    def running(self) -> Job | None:
        """The job that the engine runs; None if there is none."""
        return self._list.running

    @property
    def first_waiting(self) -> Job | None:
        """The job that is to be started next; None if there is none."""
        return self._list.first_waiting

    @property
    def paused(self) -> bool:
        """True if no further job is started until the queue is resumed."""
        return self._list.paused

    def job(self, job_id: str) -> Job | None:
        """Return the job with this id; None if there is none."""
        return self._list.get(job_id)

    def submit(
        self, request: GenerateRequest, folder: Path, *, front: bool = False
    ) -> tuple[str, ...]:
        """Queue a job for each of `count` pictures, with ascending seeds; return the jobs' ids.

        Seeds that the request leaves open are drawn by chance. `front` puts the jobs before all
        that wait. Raises EngineError(REQUEST_INVALID) if count or seeds are out of range or a text
        is not valid, or if more jobs would wait than there is room for.
        """
        check_request(request)
        self.check_room(request.count)
        if request.seed is None:
            request = msgspec.structs.replace(request, seed=random_seed())
        given = counted_seed(request)
        first = random_seed() if given is None else given
        batch = secrets.token_hex(6)
        jobs = tuple(f"{batch}-{number}" for number in range(request.count))
        template = with_counted_seed(msgspec.structs.replace(request, count=1), None)
        starts = range(0, request.count, _SUBMIT_AT_ONCE)
        # Each piece goes before the waiting ones, so the last piece is recorded first.
        for start in reversed(starts) if front else starts:
            piece = jobs[start : start + _SUBMIT_AT_ONCE]
            seeds = tuple(range(first + start, first + start + len(piece)))
            self._record(
                Submitted(
                    jobs=piece, seeds=seeds, request=template, folder=str(folder), front=front
                )
            )
        return jobs

    def submit_upscales(self, requests: Iterable[tuple[UpscaleRequest, Path]]) -> tuple[str, ...]:
        """Queue a job for each picture to make larger, with its folder; return the jobs' ids.

        Raises EngineError(REQUEST_INVALID) if more jobs would wait than there is room for.
        """
        requests = tuple(requests)
        self.check_room(len(requests))
        batch = secrets.token_hex(6)
        entries = [
            UpscaleSubmitted(job=f"{batch}-{number}", request=request, folder=str(folder))
            for number, (request, folder) in enumerate(requests)
        ]
        for entry in entries:
            self._record(entry)
        return tuple(entry.job for entry in entries)

    def check_room(self, count: int) -> None:
        """Raise EngineError(REQUEST_INVALID) if so many further jobs cannot wait."""
        coming = (
            len(command.jobs) if isinstance(command, Submitted) else 1
            for _, command in self._pending
            if isinstance(command, Submitted | UpscaleSubmitted)
        )
        check_room(self._list.count(JobState.WAITING) + sum(coming), count)

    def in_turns(self, changes: Iterator[object]) -> None:
        """Change many jobs, behind earlier such changes, without holding the window up.

        `changes` calls the queue for each value. What is left when the queue closes is done then.
        """
        self._turns.run(changes)

    def cancel(self, job_id: str) -> None:
        """Cancel a waiting job, or ask the engine to stop a running one, which may still finish."""
        running = self.running
        if running is not None and running.id == job_id:
            # The engine need not wait for the disk.
            self._client.cancel_job(job_id)
        self._record(CancelAsked(job=job_id))

    def cancel_all(self) -> None:
        """Cancel every job that waits or runs."""
        if self.running is not None:
            self._client.cancel_job(self.running.id)
        self._record(AllCancelAsked())

    def retry(
        self, job_id: str, request: JobRequest | None = None, folder: Path | None = None
    ) -> None:
        """Queue a failed or cancelled job again in its place, or with another request or folder."""
        self._record(retried(job_id, request, folder))

    def recover(self, job_id: str, picture: Path) -> None:
        """Note that the picture of a job that failed to save it lies in this file now."""
        self._record(Recovered(job=job_id, path=str(picture)))

    def dismiss(self, job_id: str) -> None:
        """Remove a job that is over from the list."""
        self._record(Dismissed(job=job_id))

    def clear(self, *states: JobState) -> None:
        """Remove all jobs that are over in one of these states from the list."""
        self._record(Cleared(states=states))

    def move(self, job_ids: Sequence[str], before: str | None) -> None:
        """Put waiting jobs before another job, in this order; with None behind all others."""
        self._record(Moved(jobs=tuple(job_ids), before=before))

    def pause(self, *, paused: bool) -> None:
        """Start no further job, or go on. The running job goes on; a restart changes nothing."""
        self._record(PauseSet(paused=paused))

    def close(self) -> None:
        """Write all changes and stop. Call it at the app's end, after the engine has stopped.

        A job that still runs waits again, and its start does not count. Blocks for the disk.
        """
        if not self._open:
            return
        self._turns.finish()
        self._open = False
        self._finish_steps()
        if self.running is not None:
            self._record(Returned(job=self.running.id))
            self._finish_steps()
        self._writer.close()

    def _restore(self, journal: Journal[Entry]) -> None:
        """Rebuild the list from the journal, without jobs that are done or cancelled."""
        content = journal.read()
        for entry in content.entries:
            self._list.apply(let_go_of_held(entry))
        self._list.drop((JobState.DONE, JobState.CANCELLED))
        if self._list.running is not None:
            self._list.apply(Lost(job=self._list.running.id, error=_APP_ENDED))
        if content.problem is not None:
            # A queued signal: no slot is connected yet.
            self._failed.emit(content.problem)

    def _rewrite(self, journal: Journal[Entry]) -> bool:
        """Replace the journal's history by the present list; return True if that failed."""
        problem = journal.rewrite(self._list.entries())
        if problem is not None:
            self._failed.emit(problem)
        return problem is not None

    def _listen(self) -> None:
        client = self._client
        client.image_saved.connect(self._on_image_saved)
        client.image_upscaled.connect(self._on_image_saved)
        client.picture_unsaved.connect(self.held.hold)
        client.job_finished.connect(self._on_job_finished)
        client.job_cancelled.connect(self._on_job_cancelled)
        client.job_failed.connect(self._on_job_failed)
        client.engine_ended.connect(self._on_engine_ended)
        client.engine_state_changed.connect(self._start_next)
        self._start_next()

    def _record(self, entry: Entry) -> None:
        """Have an entry written; it is applied once it is durable."""
        self._pending.append((self._writer.append(entry), entry))

    def _on_synced(self, number: int) -> None:
        self._durable = number
        # One turn serves all such calls before it.
        if not self._continue.isActive():
            self._continue.start()

    def _take_turn(self) -> None:
        """Apply durable entries for at most `TURN_S`; schedule another turn if some are left."""
        deadline = time.perf_counter() + TURN_S
        while self._untold or (self._pending and self._pending[0][0] <= self._durable):
            if time.perf_counter() > deadline:
                self._continue.start()
                return
            self._step()
        self._start_next()

    def _step(self) -> None:
        """Emit one signal that is due, or apply the next entry if none is."""
        if self._untold:
            signal, arguments = self._untold.popleft()
            signal.emit(*arguments)
        else:
            self._apply(self._pending.popleft()[1])

    def _finish_steps(self) -> None:
        while self._untold or self._pending:
            self._step()

    def _apply(self, entry: Entry) -> None:
        change = self._list.apply(entry)
        if isinstance(entry, Started):
            self._starting = False
        self._tell(change)
        if not self._open:
            return
        running = next((job for job in change.changed if job.state is JobState.RUNNING), None)
        if running is not None and isinstance(entry, Started):
            self._hand_over(running)
        elif running is not None and running.cancelling:
            # The job was not running yet when the user asked to cancel it.
            self._client.cancel_job(running.id)

    def _tell(self, change: Change) -> None:
        self._untold.extend((self.job_added, (job,)) for job in change.added)
        self._untold.extend((self.job_changed, (job,)) for job in change.changed)
        self._untold.extend((self.job_removed, (name,)) for name in change.removed)
        if change.arrangement:
            self._untold.append((self.arrangement_changed, ()))

    def _start_next(self, _state: EngineState | None = None) -> None:
        ready = self._client.engine_state is EngineState.READY
        # Not while a turn is scheduled: its entries may change which job is next.
        busy = self._starting or self._continue.isActive() or self.running is not None
        if busy or self.paused or not (self._open and ready):
            return
        job = self._list.first_waiting
        if job is not None:
            self._starting = True
            self._record(Started(job=job.id))

    def _hand_over(self, job: Job) -> None:
        try:
            taken = self._client.run_job(job.id, job.request, job.folder)
        except EngineError as error:
            self._record(Failed(job=job.id, error=error.info))
        else:
            if not taken:
                # The engine ended while the start was written.
                self._record(Returned(job=job.id))

    def _is_running(self, job_id: str) -> bool:
        return self.running is not None and self.running.id == job_id

    def _on_image_saved(self, event: ImageSaved | ImageUpscaled) -> None:
        if self._is_running(event.job):
            self._record(Saved(job=event.job, path=event.path))

    def _on_job_finished(self, event: JobFinished) -> None:
        if self._is_running(event.job):
            self._record(Finished(job=event.job))

    def _on_job_failed(self, event: JobFailed) -> None:
        if self._is_running(event.job):
            self._record(Failed(job=event.job, error=self.held.failure(event)))

    def _on_job_cancelled(self, event: JobCancelled) -> None:
        if self._is_running(event.job):
            self._record(Cancelled(job=event.job))

    def _on_engine_ended(self, end: EngineEnd) -> None:
        if self.running is None:
            return
        name = self.running.id
        self._record(Returned(job=name) if end.requested else Lost(job=name, error=end.error))


def batch_of(job_id: str) -> str:
    """Return the part of an id that is equal for jobs submitted together."""
    return job_id.rpartition("-")[0]


_APP_ENDED = ErrorInfo(
    ErrorCode.ENGINE_CRASHED,
    sentence("Safelight ended twice while it made this picture."),
    sentence("Perhaps memory ran out: try a smaller size, then queue it again."),
)
