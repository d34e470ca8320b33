"""Runs each network where the plan says, and does a stage again if its result is broken."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Protocol, TypeVar

import numpy as np

from backends.base import Array, Cancellation, Precision, Session
from engine.api.record import Retry, Timings
from engine.api.values import ErrorCode, Phase, PrecisionName
from engine.compile.compiler import Compiler, translated_errors
from engine.compile.estimates import Estimates
from engine.compile.network import Network
from engine.errors import Cancelled, EngineError, host_memory_errors
from engine.families.latents import LatentFormat
from engine.memory.plan import MemoryPlan, in_turns
from engine.memory.release import return_free_memory
from engine.memory.residency import Residency, Resident
from engine.pipeline.forecast import Forecast, PhaseEstimate, PlannedPhase, Run
from engine.pipeline.load_ahead import LoadAhead
from engine.sampling.types import Latent
from engine.weights.binding import Report

T = TypeVar("T")


class Reporter(Protocol):
    """Told how a job goes, on the thread that runs it."""

    def expect(self, estimate: PhaseEstimate) -> None:
        """What the phase that begins now promises; `phase` follows at once."""
        ...

    def phase(self, phase: Phase) -> None:
        """A phase begins."""
        ...

    def progress(self, done: int, total: int) -> None:
        """How far the current phase is."""
        ...

    def preview(self, step: int, latent: Latent, form: LatentFormat) -> None:
        """After a step: the denoiser's picture [1, C, H, W], as its latents relate by `form`."""
        ...


class Stopwatch:
    """Wall-clock seconds spent in each phase."""

    def __init__(self) -> None:
        self.started = perf_counter()
        # The phase that was begun last.
        self.latest = Phase.LOAD
        self._spent = dict.fromkeys(Phase, 0.0)

    @contextmanager
    def measuring(self, phase: Phase) -> Generator[None]:
        """Add the block's duration to a phase."""
        self.latest = phase
        start = perf_counter()
        try:
            yield
        finally:
            self._spent[phase] += perf_counter() - start

    def timings(self) -> Timings:
        """What was spent so far; the total counts from the watch's creation."""
        spent = {f"{phase.value}_s": round(seconds, 4) for phase, seconds in self._spent.items()}
        return Timings(**spent, total_s=round(perf_counter() - self.started, 4))


@dataclass(frozen=True, slots=True)
class _Kept:
    """A network that stays loaded, and what it was loaded from."""

    network: Network
    session: Session


class Stages:
    """Loads networks as the plan says, runs them, and retries broken results more safely.

    `precisions` are those to try, each safer than the one before. A network that once needed a
    safer one keeps it for the rest of the job. What `residency` holds is taken from there. Where
    memory runs out, `release` is to free what this job does not use.
    """

    def __init__(
        self,
        compiler: Compiler,
        plan: MemoryPlan,
        precisions: tuple[Precision, ...],
        reporter: Reporter,
        cancel: Cancellation,
        stopwatch: Stopwatch,
        residency: Residency | None = None,
        forecast: Forecast | None = None,
        release: Callable[[], None] = return_free_memory,
    ) -> None:
        self._forecast = forecast or Forecast(Estimates(None), compiler)
        self.retries: list[Retry] = []
        self._compiler = compiler
        self.plan = plan
        self._precisions = precisions
        self._reporter = reporter
        self._cancel = cancel
        self._stopwatch = stopwatch
        self._residency = residency
        self._release = release
        self._kept: dict[tuple[str, Precision], _Kept] = {}
        self._identities: dict[tuple[str, Precision], list[tuple[Network, str]]] = {}
        self._ahead: dict[tuple[str, Precision], tuple[Network, LoadAhead]] = {}
        self._safest_needed: dict[str, int] = {}
        self._makes_room = False

    def announce(self, runs: Sequence[Run], pictures: int) -> None:
        """Say what is to come, so that each phase can tell how long all of it should take."""
        following: list[PlannedPhase] = []
        first: list[PlannedPhase] = []
        for run in runs:
            planned = self._forecast.running(run, self._precision(run.network))
            if run.network is not None:
                precision = self._precision(run.network)
                if self._find(run.network, precision) is None:
                    first.append(self._forecast.preparing(run.network, precision))
                    if run.each and not (self.plan.together or self.plan.resident):
                        again = self._forecast.preparing(run.network, precision, again=True)
                        following.append(again)
            first.append(planned)
            if run.each:
                following.append(planned)
        self._forecast.announce(first, following, pictures)

    @contextmanager
    def timed(
        self, phase: Phase, network: Network | None = None, precision: Precision | None = None
    ) -> Generator[None]:
        """Tell that a phase begins, and learn how long it takes if it is done to its end."""
        used = precision or self._precision(network)
        self._reporter.expect(self._forecast.begin(phase, network, used))
        self._reporter.phase(phase)
        with self._stopwatch.measuring(phase):
            yield
        self._forecast.end()

    def prepare(self, network: Network) -> None:
        """Begin to load a network that a later `run` will want, beside what runs until then.

        Nothing is begun where the plan has no room for both.
        """
        if not self.plan.beside:
            return
        precision = self._precision(network)
        key = (network.name, precision)
        if key in self._ahead or self._find(network, precision):
            return
        ahead = LoadAhead(partial(self._load, network, precision), self._cancel)
        self._ahead[key] = network, ahead

    def run(
        self,
        phase: Phase,
        network: Network,
        work: Callable[[Session], T],
        problem: Callable[[T], str | None],
        *,
        keep: bool = False,
    ) -> T:
        """Do `work` with the loaded network until `problem` finds none in its result.

        `keep` asks for the network to stay loaded for the next picture, if the plan has room.
        Where memory runs out, it is done once more with everything else freed.
        Raises EngineError: NUMERIC_FAILURE when the safest precision fails too; OUT_OF_MEMORY.
        """
        try:
            return self._checked(phase, network, work, problem, keep=keep)
        except EngineError as error:
            if error.code is not ErrorCode.OUT_OF_MEMORY or self._makes_room:
                raise
        # Not in the block above: the error holds what its frames refer to.
        self._make_room()
        return self._checked(phase, network, work, problem, keep=keep)

    @host_memory_errors()
    def _checked(
        self,
        phase: Phase,
        network: Network,
        work: Callable[[Session], T],
        problem: Callable[[T], str | None],
        *,
        keep: bool,
    ) -> T:
        first = self._safest_needed.get(network.name, 0)
        tried = network.precisions(self._precisions)
        reason = ""
        for position in range(first, len(tried)):
            precision = tried[position]
            if reason:
                self._record_retry(phase, reason, tried[position - 1], precision)
            self._safest_needed[network.name] = position
            loaded = self._loaded(network, precision, keep=keep)
            with loaded as session, self.timed(phase, network, precision):
                result = work(session)
            reason = problem(result) or ""
            if not reason:
                return result
            self._drop(network, precision)
        raise _numeric_failure(phase, reason)

    def call(self, session: Session, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run a session once; a wish to stop reaches into it."""
        if self._cancel.is_set():
            raise Cancelled
        with translated_errors(self._compiler.device), self._cancel.calling(session.cancel):
            return session.run(feeds)

    def leave_resident(self) -> None:
        """After success: what was kept goes to the residency, if the plan has room."""
        if self._residency is None or not self.plan.resident:
            return
        for (name, precision), kept in self._kept.items():
            weight_bytes = self._compiler.weight_bytes(kept.network, precision)
            identity = self._identity(kept.network, precision)
            self._residency.give(name, Resident(identity, kept.session, weight_bytes))
        self._kept.clear()

    def close(self) -> None:
        """Free every network that was kept, and keep what was learnt."""
        with ExitStack() as stack:
            stack.callback(self._forecast.save)
            stack.callback(self._free)

    def _make_room(self) -> None:
        """Free everything, and keep nothing from now on."""
        self._makes_room = True
        self.plan = in_turns(self.plan)
        self._free()
        self._release()

    def _free(self) -> None:
        with ExitStack() as stack:
            for kept in self._kept.values():
                stack.callback(kept.session.close)
            for _, ahead in self._ahead.values():
                stack.callback(ahead.discard)
            self._kept.clear()
            self._ahead.clear()

    @contextmanager
    def _loaded(self, network: Network, precision: Precision, *, keep: bool) -> Generator[Session]:
        key = (network.name, precision)
        session = self._find(network, precision)
        if session is None:
            with self.timed(Phase.COMPILE, network, precision):
                session = self._loaded_ahead_or_now(network, precision)
            if self.plan.resident or (keep and self.plan.together):
                self._kept[key] = _Kept(network, session)
        try:
            yield session
        finally:
            if key not in self._kept:
                session.close()

    def _find(self, network: Network, precision: Precision) -> Session | None:
        """The network's session if this job or the one before has loaded it."""
        key = (network.name, precision)
        kept = self._kept.get(key)
        if kept is not None and not self._is_same(kept.network, network, precision):
            # Another graph of the same name, as the text encoder with hidden tokens.
            self._drop(network, precision)
        if key not in self._kept and self._residency is not None:
            resident = self._residency.take(network.name, self._identity(network, precision))
            if resident is not None:
                self._kept[key] = _Kept(network, resident.session)
        kept = self._kept.get(key)
        return kept.session if kept else None

    def _precision(self, network: Network | None) -> Precision:
        """The one that is tried first."""
        if network is None:
            return self._precisions[0]
        return network.precisions(self._precisions)[self._safest_needed.get(network.name, 0)]

    def _identity(self, network: Network, precision: Precision) -> str:
        """As it was before the network was loaded: its files may be written anew meanwhile."""
        known = self._identities.setdefault((network.name, precision), [])
        for before, identity in known:
            if before is network:
                return identity
        known.append((network, self._compiler.identity(network, precision)))
        return known[-1][1]

    def _is_same(self, one: Network, other: Network, precision: Precision) -> bool:
        """Whether one session serves for both."""
        return one is other or self._identity(one, precision) == self._identity(other, precision)

    def _loaded_ahead_or_now(self, network: Network, precision: Precision) -> Session:
        prepared, ahead = self._ahead.pop((network.name, precision), (None, None))
        if ahead is not None and prepared is not None:
            if self._is_same(prepared, network, precision):
                return ahead.wait(self._reporter.progress)
            ahead.discard()
        session = self._load(network, precision, self._reporter.progress, self._cancel)
        if self._cancel.is_set():  # while a runtime loaded that cannot be stopped
            session.close()
            raise Cancelled
        return session

    def _load(
        self, network: Network, precision: Precision, report: Report, cancel: Cancellation
    ) -> Session:
        return self._compiler.load(network, precision, self.plan.placement, report, cancel)

    def _drop(self, network: Network, precision: Precision) -> None:
        """Free a network that was kept and whose results are broken."""
        kept = self._kept.pop((network.name, precision), None)
        if kept is not None:
            kept.session.close()

    def _record_retry(self, phase: Phase, reason: str, old: Precision, new: Precision) -> None:
        self.retries.append(
            Retry(
                phase=phase,
                reason=reason,
                from_precision=PrecisionName(old.value),
                to_precision=PrecisionName(new.value),
            )
        )


def _numeric_failure(phase: Phase, reason: str) -> EngineError:
    return EngineError(
        ErrorCode.NUMERIC_FAILURE,
        f"The result of the {phase.value} phase is {reason}, at the safest precision too.",
        "The model is probably damaged: download it again, or try another VAE.",
    )


def as_pixels(image: Array, *, rounds: bool) -> Array:
    """Decoded images, float [batch, 3, height, width], as uint8 [batch, height, width, 3]."""
    levels = np.clip((image + 1) * 127.5, 0, 255)
    levels = np.rint(levels) if rounds else levels
    return np.ascontiguousarray(levels.astype(np.uint8).transpose(0, 2, 3, 1))
