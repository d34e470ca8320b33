"""The jobs that wait and the one that runs."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Condition, Thread
from typing import TypeAlias

import msgspec

from engine.api.messages import JobCancelled, JobFailed, JobFinished, RunJob
from engine.api.upscale_messages import RunUpscale
from engine.api.wire import WireError
from engine.cancel import CancelToken
from engine.server.outbox import Put

# Memory is released after this long without a job.
REST_AFTER_S = 300.0

JobCommand: TypeAlias = RunJob | RunUpscale
Ending: TypeAlias = JobFinished | JobCancelled | JobFailed


class _Job(msgspec.Struct, frozen=True):
    command: JobCommand
    token: CancelToken = msgspec.field(default_factory=CancelToken)


class JobLine:
    """Runs jobs in the order they came; each has exactly one ending, which is its last event."""

    def __init__(self, put: Put) -> None:
        self._put = put
        self._changed = Condition()
        self._waiting: OrderedDict[str, _Job] = OrderedDict()
        self._running: _Job | None = None
        self._closed = False

    def add(self, command: JobCommand) -> None:
        """Queue a job. Raises WireError for one that waits or runs already."""
        with self._changed:
            if command.job in self._waiting or self._is_running(command.job):
                raise WireError(f"job {command.job!r} is not over and comes again")
            self._waiting[command.job] = _Job(command)
            self._changed.notify_all()

    def cancel(self, job: str) -> None:
        """End a waiting job at once, ask a running one to stop, ignore an unknown one."""
        with self._changed:
            if self._waiting.pop(job, None):
                self._put(JobCancelled(job=job), wait=False)
            elif self._running and self._is_running(job):
                _stop(self._running)

    def close(self) -> None:
        """Cancel every job; `run` returns when the running one has ended."""
        with self._changed:
            self._closed = True
            for job in self._waiting:
                self._put(JobCancelled(job=job), wait=False)
            self._waiting.clear()
            if self._running:
                _stop(self._running)
            self._changed.notify_all()

    def run(
        self, work: Callable[[JobCommand, CancelToken], Ending], rest: Callable[[], None]
    ) -> None:
        """Run jobs on this thread until closed; `work` runs one and returns its ending.

        `rest` is called once each time that no job has come for REST_AFTER_S.
        """
        while (job := self._next(rest)) is not None:
            ending = work(job.command, job.token)
            with self._changed:
                # Cleared before the ending is sent: then the app may send the same job again.
                self._running = None
            self._put(ending)

    def _next(self, rest: Callable[[], None]) -> _Job | None:
        with self._changed:
            idle = not self._changed.wait_for(self._has_news, REST_AFTER_S)
        if idle:
            rest()
        with self._changed:
            self._changed.wait_for(self._has_news)
            self._running = self._waiting.popitem(last=False)[1] if self._waiting else None
            return self._running

    def _has_news(self) -> bool:
        return bool(self._waiting) or self._closed

    def _is_running(self, job: str) -> bool:
        return self._running is not None and self._running.command.job == job


def _stop(job: _Job) -> None:
    """Cancel a job on a thread of its own: a runtime's cancel may block, the reader must not."""
    Thread(target=job.token.cancel, name="cancel", daemon=True).start()
