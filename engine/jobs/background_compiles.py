"""Compiles networks for the preferred device in the background, while another device does the job.

This happens where another device can begin at once and should finish sooner than the compiler and
the preferred device together. The compiled networks serve the next job.
"""

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from threading import Condition, Thread

import msgspec

from backends import hardware
from backends.base import Device
from engine.api.runtime_titles import runtime_title
from engine.api.sentences import NO_WORDS, Sentence, sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.awake_clock import awake_seconds
from engine.cancel import CancelToken
from engine.compile.estimates import COMPILE, Estimates, Kind, Work
from engine.compile.network import Network
from engine.devices.choice import Candidate
from engine.errors import Cancelled, EngineError, host_memory_errors
from engine.jobs.job_estimate import JobEstimate
from engine.memory.plan import MemoryPlan

# A job waits for compiles that should be quicker than this.
WAIT_S = 5.0
# The memory of a compiler beyond the weights, which it holds about twice: as stored, and packed.
_COMPILER_BYTES = 1 << 30
_LOOK_S = 0.5

_log = logging.getLogger(__name__)


class _Task(msgspec.Struct, frozen=True):
    """One network to compile; `name` is its artifact's name, `job_bytes` the running job's peak."""

    name: str
    estimate: JobEstimate
    network: Network
    job_bytes: int


class BackgroundCompiles:
    """Compiles networks in the background, one after another, until `close`.

    `holding` protects the working copies that compilers read, `note_failure` records a device that
    cannot compile, `is_busy` returns True while a job runs.
    """

    def __init__(
        self,
        estimates: Estimates,
        holding: Callable[[], AbstractContextManager[None]],
        note_failure: Callable[[Device, str], None],
        is_busy: Callable[[], bool],
    ) -> None:
        self._estimates = estimates
        self._holding, self._note_failure, self._is_busy = holding, note_failure, is_busy
        self._changed = Condition()
        self._tasks: dict[str, _Task] = {}
        # The failure of an artifact's compile, by name, so that it is not tried again and again.
        self._failed: dict[str, ErrorInfo] = {}
        self._token = CancelToken()
        self._thread: Thread | None = None

    def order(
        self,
        candidates: Sequence[Candidate],
        estimate_of: Callable[[Candidate], JobEstimate],
        tell: Callable[[ErrorInfo], None],
    ) -> list[Candidate]:
        """Return the devices for a job in the order to try them.

        If the preferred device must compile first, it comes last, its networks are compiled in the
        background, and `tell` gets a notice; unless the compile is quick, or every other device
        would take longer.
        """
        first, *others = candidates
        if not others or first.backend.compilation(first.device) is None:
            return list(candidates)
        try:
            wanted = estimate_of(first)
            missing = wanted.missing()
        except (EngineError, OSError):  # the job will run into the same error and report it
            return list(candidates)
        wait = self._seconds(wanted, missing)
        if not missing or (wait is not None and wait < WAIT_S):
            return list(candidates)
        other = self._quicker(first, others, wait, wanted, estimate_of)
        if other is None:
            return list(candidates)
        meanwhile, its = other
        failure = self._begin(wanted, missing, its.memory)
        tell(failure or _notice(wanted, first, meanwhile, wait))
        state = "could not be prepared" if failure else "is being prepared"
        choice = f"{runtime_title(first.device.backend)} {state}"
        rest = [c for c in others if c is not meanwhile]
        return [msgspec.structs.replace(meanwhile, choice=choice), *rest, first]

    def close(self, patience_s: float = 0.5) -> None:
        """Stop the compile, and wait up to `patience_s` seconds for its files to be removed.

        Files that remain are removed by the next compile.
        """
        self._token.cancel()
        with self._changed:
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(patience_s)

    def _quicker(
        self,
        first: Candidate,
        others: Sequence[Candidate],
        wait: float | None,
        wanted: JobEstimate,
        estimate_of: Callable[[Candidate], JobEstimate],
    ) -> tuple[Candidate, JobEstimate] | None:
        """Return the next device that needs no compile, or None if it should take longer."""
        for other in others:
            try:
                its = estimate_of(other)
                if its.missing():
                    continue
            except (EngineError, OSError):
                continue
            mine, theirs = _seconds(wanted, first), _seconds(its, other)
            if wait is None or mine is None or theirs is None or theirs <= wait + mine:
                return other, its
            return None
        return None

    def _seconds(self, estimate: JobEstimate, networks: Sequence[Network]) -> float | None:
        """Return the seconds that compiling these networks should take; None if unknown."""
        expected = [self._estimates.expect(_work(estimate, network)) for network in networks]
        known = [seconds for seconds in expected if seconds is not None]
        return sum(known) if len(known) == len(expected) else None

    def _begin(
        self, wanted: JobEstimate, missing: Sequence[Network], plan: MemoryPlan
    ) -> ErrorInfo | None:
        """Queue networks to be compiled; return the error instead if one of them failed before."""
        names = [wanted.prepared(network).artifact_name() for network in missing]
        with self._changed:
            for name, network in zip(names, missing, strict=True):
                if name in self._failed:
                    return self._failed[name]
                self._tasks.setdefault(name, _Task(name, wanted, network, plan.peak_bytes))
            if self._thread is None:
                self._thread = Thread(target=self._work, name="preparation", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return None

    def _work(self) -> None:
        while (task := self._next()) is not None:
            self._compile(task)
            with self._changed:
                del self._tasks[task.name]

    def _next(self) -> _Task | None:
        """Wait for the next network and for memory to compile it; None once closed."""
        with self._changed:
            while not self._token.is_set():
                task = next(iter(self._tasks.values()), None)
                if task is not None and self._may_begin(task):
                    return task
                self._changed.wait(_LOOK_S if self._tasks else None)
        return None

    def _may_begin(self, task: _Task) -> bool:
        """True if there is room for a compile; where its device does not answer, it has failed."""
        try:
            return self._has_room(task)
        except EngineError as error:
            self._fail(task, error)
            del self._tasks[task.name]
            return False

    def _has_room(self, task: _Task) -> bool:
        """True if the compiler fits into memory beside the running job, if there is one."""
        compiler = task.estimate.compiler
        needed = 2 * task.estimate.prepared(task.network).weight_bytes()
        own = compiler.memory()
        job_bytes = task.job_bytes if self._is_busy() else 0
        fits = hardware.host_memory().free >= needed + _COMPILER_BYTES + job_bytes
        return fits and (own.integrated or own.free >= needed)

    def _compile(self, task: _Task) -> None:
        estimate, network = task.estimate, task.network
        started = awake_seconds()
        try:
            with host_memory_errors(), self._holding():
                prepared = estimate.prepared(network)
                prepared.prepare(estimate.memory.placement, _ignore, self._token)
        except Cancelled:
            return
        except EngineError as error:
            self._fail(task, error)
            return
        except OSError as error:  # the checkpoint is gone
            detail = f"{error.strerror}: {error.filename}"
            message = sentence("Preparing {checkpoint} failed.", checkpoint=estimate.checkpoint)
            self._fail(task, EngineError(ErrorCode.CHECKPOINT_UNREADABLE, message, detail=detail))
            return
        took = awake_seconds() - started
        self._estimates.note(_work(estimate, network), took)
        self._estimates.save()
        _log.info("%s is prepared, in %.1f s", network.name, took)

    def _fail(self, task: _Task, error: EngineError) -> None:
        self._failed[task.name] = error.info
        detail = error.detail or error.message
        _log.warning("preparing %s failed: %s", task.network.name, detail)
        if error.code is ErrorCode.BACKEND_FAILED:
            self._note_failure(task.estimate.compiler.device, detail)


def _work(estimate: JobEstimate, network: Network) -> Work:
    """Return the work of compiling a network, for estimates."""
    device, precision = estimate.compiler.device, estimate.precision(network)
    kind = Kind(COMPILE, network.name, device.backend, device.name, precision.value)
    elements = sum(ref.elements for ref in network.weights.values())
    return Work(kind, max(1, elements * precision.dtype.itemsize))


def _seconds(estimate: JobEstimate, candidate: Candidate) -> float | None:
    """Return the seconds that the pictures should take, from earlier jobs or the device's trial.

    None if neither is known.
    """
    if estimate.seconds is not None:
        return estimate.seconds
    guess = estimate.trials * candidate.milliseconds / 1000
    return guess if math.isfinite(guess) else None


def _notice(
    wanted: JobEstimate, first: Candidate, meanwhile: Candidate, wait: float | None
) -> ErrorInfo:
    about = NO_WORDS if wait is None else sentence(", about {time}", time=_duration(wait))
    return ErrorInfo(
        ErrorCode.PREPARING,
        sentence(
            "Preparing {checkpoint} for {device}, once{about}; this picture is made "
            "by {title} meanwhile.",
            checkpoint=wanted.checkpoint,
            device=first.device.name,
            about=about,
            title=runtime_title(meanwhile.device.backend),
        ),
        sentence(
            "{title} makes those that come after it.", title=runtime_title(first.device.backend)
        ),
    )


def _duration(seconds: float) -> Sentence:
    if seconds < 90:
        return sentence("{n} s", n=10 * math.ceil(seconds / 10))
    return sentence("{n} min", n=math.ceil(seconds / 60))


def _ignore(_done: int, _total: int) -> None:
    """Ignore the progress of a conversion in the background."""
