"""Runs networks in the phases of a job; a broken result is retried in a safer precision."""

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol, TypeVar

import msgspec

from backends.base import Array, Cancellation, DeviceValue, Feeds, Precision, Session
from engine.api.record import Retry, Timings
from engine.api.sentences import Sentence, as_it_is, sentence
from engine.api.values import ErrorCode, Phase, PrecisionName
from engine.awake_clock import awake_seconds
from engine.compile.backend_errors import translated_errors
from engine.compile.estimates import Estimates
from engine.compile.network import Network
from engine.errors import Cancelled, EngineError, host_memory_errors, ran_out_on_host
from engine.families.latents import LatentFormat
from engine.families.running import EncoderRunner
from engine.pipeline.forecast import Forecast, PhaseEstimate, PlannedPhase, Run
from engine.pipeline.network_pool import NetworkPool
from engine.pipeline.recall import RecallingSession, UnknownResultError
from engine.sampling.types import Latent

T = TypeVar("T")


class Reporter(Protocol):
    """Receives the events of a job, on the thread that runs it."""

    def expect(self, estimate: PhaseEstimate) -> None:
        """Receive the estimate of the next phase; a call of `phase` follows at once."""
        ...

    def phase(self, phase: Phase) -> None:
        """Receive the start of a phase."""
        ...

    def progress(self, done: int, total: int) -> None:
        """Receive the progress of the current phase."""
        ...

    def preview(self, step: int, latent: Latent, form: LatentFormat) -> None:
        """Receive the denoised latent [1, C, H, W] of a step, which is in the format `form`."""
        ...


class Stopwatch:
    """Seconds spent in each phase, without those that the computer slept."""

    def __init__(self, clock: Callable[[], float] = awake_seconds) -> None:
        self._clock = clock
        self._started = clock()
        # The phase that was begun last.
        self.latest = Phase.LOAD
        self._spent = dict.fromkeys(Phase, 0.0)

    @contextmanager
    def measuring(self, phase: Phase) -> Generator[None]:
        """Add the block's duration to a phase."""
        self.latest = phase
        start = self._clock()
        try:
            yield
        finally:
            self._spent[phase] += self._clock() - start

    def timings(self) -> Timings:
        """Return the seconds spent so far; the total counts from the stopwatch's creation."""
        spent = {f"{phase.value}_s": round(seconds, 4) for phase, seconds in self._spent.items()}
        return Timings(**spent, total_s=round(self._clock() - self._started, 4))


class RunContext(msgspec.Struct, frozen=True, eq=False):
    """The reporter of a job, its cancellation, and the stopwatch that times its phases."""

    reporter: Reporter
    cancel: Cancellation
    stopwatch: Stopwatch = msgspec.field(default_factory=Stopwatch)


class Stages:
    """Runs networks of a pool in the phases of a job, and retries broken results more safely.

    `precisions` are the precisions to try, each safer than the one before. A network that once
    needed a safer precision keeps it for the rest of the job.
    """

    def __init__(
        self,
        pool: NetworkPool,
        precisions: tuple[Precision, ...],
        context: RunContext,
        forecast: Forecast | None = None,
    ) -> None:
        self.pool, self.cancel = pool, context.cancel
        self._precisions, self._context = precisions, context
        self._forecast = forecast or Forecast(Estimates(None), pool.compiler)
        self.retries: list[Retry] = []
        # The index of the precision in use among a network's precisions, by the network's name.
        self._safest_needed: dict[str, int] = {}

    def announce(
        self, runs: Sequence[Run], pictures: int, recalled: Collection[Network] = ()
    ) -> None:
        """Announce the coming runs, so that the remaining time can be estimated in each phase.

        Runs of encoders that are `recalled` will not happen.
        """
        left_out = set(map(id, recalled))
        following: list[PlannedPhase] = []
        first: list[PlannedPhase] = []
        for run in runs:
            planned = self._forecast.running(run, self._precision(run.network))
            for network in {id(network): network for network in run.networks}.values():
                precision = self._precision(network)
                if self.pool.has(network, precision) or id(network) in left_out:
                    continue
                first.append(self._forecast.preparing(network, precision))
                if run.per_picture and self.pool.reloads():
                    following.append(self._forecast.preparing(network, precision, again=True))
            if id(run.network) not in left_out:
                first.append(planned)
            if run.per_picture:
                following.append(planned)
        self._forecast.announce(first, following, pictures)

    @contextmanager
    def timed(
        self, phase: Phase, network: Network | None = None, precision: Precision | None = None
    ) -> Generator[None]:
        """Report the start of a phase, and record its duration unless the block raises."""
        used, reporter = precision or self._precision(network), self._context.reporter
        reporter.expect(self._forecast.begin(phase, network, used))
        reporter.phase(phase)
        with self._context.stopwatch.measuring(phase):
            yield
        self._forecast.end()

    def prepare(self, network: Network) -> None:
        """Start to load a network for a later `run`, while others run."""
        self.pool.load_ahead(network, self._precision(network))

    def run(
        self,
        phase: Phase,
        network: Network,
        work: Callable[[Session], T],
        problem: Callable[[T], str | None],
        *,
        keep: bool = False,
        streams: bool = True,
    ) -> T:
        """Do `work` with the loaded network, in safer precisions while `problem` finds a fault.

        `problem` describes the fault of a result, or returns None. With `keep` the network stays
        loaded for the next picture, if the memory plan has room. If memory runs out, the work is
        done once more with everything else freed; if it runs out again and the device can do that,
        with weights that are streamed to it, unless `streams` is False: the caller has another way.
        Raises EngineError: NUMERIC_FAILURE when the safest precision fails too; OUT_OF_MEMORY.
        """

        def alone(sessions: Sequence[Session]) -> T:
            return work(sessions[0])

        return self.run_together(phase, (network,), alone, problem, keep=keep, streams=streams)

    def encode(
        self,
        network: Network,
        work: Callable[[Session], T],
        problem: Callable[[T], str | None],
    ) -> T:
        """Do the `work` of encoding with a network as `run`, but no call that was made before.

        Results of earlier calls with equal inputs, in this job or in others, are given to `work`
        instead. The network is loaded only for a new call.
        """
        if not self.pool.recalls:
            return self.run(Phase.ENCODE, network, work, problem)
        try:
            return self.recalled_work(network, work, problem)
        except UnknownResultError:
            latest: list[RecallingSession] = []

        def remembering(session: Session) -> T:
            latest[:] = [self.pool.recalling(network, self._precision(network), session)]
            return work(latest[0])

        found = self.run(Phase.ENCODE, network, remembering, problem)
        self.pool.note_results(network, self._precision(network), latest[0].made)
        return found

    def recalled(self, encoding: Callable[[EncoderRunner], T]) -> T | None:
        """Return what `encoding` makes of earlier calls alone; None if there is a new one."""
        try:
            return encoding(_Recalling(self)) if self.pool.recalls else None
        except UnknownResultError:
            return None

    @host_memory_errors()
    def recalled_work(
        self,
        network: Network,
        work: Callable[[Session], T],
        problem: Callable[[T], str | None],
    ) -> T:
        """Do `work` with results of earlier calls. Raises UnknownResultError if one lacks."""
        found = work(self.pool.recalling(network, self._precision(network)))
        if problem(found):
            raise UnknownResultError  # it is done in a safer precision, as if nothing were kept
        return found

    def run_together(
        self,
        phase: Phase,
        networks: tuple[Network, ...],
        work: Callable[[Sequence[Session]], T],
        problem: Callable[[T], str | None],
        *,
        keep: bool = False,
        streams: bool = True,
    ) -> T:
        """Do `work` with several networks that run in turns, as `run` does with one.

        The phase is the first network's; a fault makes all of them safer.
        """
        while True:
            try:
                return self._checked(phase, networks, work, problem, keep=keep)
            except EngineError as error:
                if error.code is not ErrorCode.OUT_OF_MEMORY:
                    raise
                do_with_less = self.pool.way_with_less(
                    networks if streams else (), on_host=ran_out_on_host(error)
                )
                if do_with_less is None:
                    raise
            # Outside `except`: the traceback keeps the failed run's arrays alive.
            do_with_less()

    @host_memory_errors()
    def _checked(
        self,
        phase: Phase,
        networks: tuple[Network, ...],
        work: Callable[[Sequence[Session]], T],
        problem: Callable[[T], str | None],
        *,
        keep: bool,
    ) -> T:
        network = networks[0]
        first = self._safest_needed.get(network.name, 0)
        tried = network.precisions(self._precisions)
        reason = ""
        for position in range(first, len(tried)):
            precision = tried[position]
            if reason:
                self._record_retry(phase, reason, tried[position - 1], precision)
            for other in networks:
                offered = len(other.precisions(self._precisions))
                needed = max(position, self._safest_needed.get(other.name, 0))
                self._safest_needed[other.name] = min(needed, offered - 1)
            with ExitStack() as stack:
                sessions = [
                    stack.enter_context(self._loaded(network, keep)) for network in networks
                ]
                with self.timed(phase, network, precision):
                    result = work(sessions)
            reason = problem(result) or ""
            if not reason:
                return result
            for other in networks:
                self.pool.drop(other, self._precision(other))
        raise _numeric_failure(phase, as_it_is(reason))

    def _loaded(self, network: Network, keep: bool) -> AbstractContextManager[Session]:
        precision = self._precision(network)
        report, loading = self._context.reporter.progress, self.timed(Phase.COMPILE, network)
        return self.pool.loaded(network, precision, report, loading, keep=keep)

    def call(self, session: Session, feeds: Feeds) -> dict[str, Array]:
        """Run a session once; a cancelled job interrupts the run. Raises EngineError, Cancelled."""
        with self._interruptible(session):
            return session.run(feeds)

    def call_on_device(self, session: Session, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run a session once, and leave the outputs on its device. Raises as `call`."""
        with self._interruptible(session):
            return session.run_on_device(feeds)

    @contextmanager
    def _interruptible(self, session: Session) -> Generator[None]:
        if self.cancel.is_set():
            raise Cancelled
        with translated_errors(self.pool.compiler.device), self.cancel.calling(session.cancel):
            yield

    def close(self) -> None:
        """Free every kept network, and save the recorded durations."""
        with ExitStack() as stack:
            stack.callback(self._forecast.save)
            stack.callback(self.pool.close)

    def _precision(self, network: Network | None) -> Precision:
        """Return the precision in which the network will run next."""
        if network is None:
            return self._precisions[0]
        return network.precisions(self._precisions)[self._safest_needed.get(network.name, 0)]

    def _record_retry(self, phase: Phase, reason: str, old: Precision, new: Precision) -> None:
        self.retries.append(
            Retry(
                phase=phase,
                reason=reason,
                from_precision=PrecisionName(old.value),
                to_precision=PrecisionName(new.value),
            )
        )


class _Recalling(msgspec.Struct, frozen=True, eq=False):
    """An `EncoderRunner` that runs nothing; it raises UnknownResultError for a new call."""

    stages: Stages

    def encode(
        self,
        network: Network,
        work: Callable[[Session], T],
        problem: Callable[[T], str | None],
    ) -> T:
        """Do `work` with results of earlier calls. Raises UnknownResultError if one lacks."""
        return self.stages.recalled_work(network, work, problem)

    def call(self, session: Session, feeds: Feeds) -> dict[str, Array]:
        """Return what an earlier call made. Raises UnknownResultError, and Cancelled."""
        return self.stages.call(session, feeds)


def _numeric_failure(phase: Phase, reason: Sentence) -> EngineError:
    return EngineError(
        ErrorCode.NUMERIC_FAILURE,
        sentence(
            "The result of the {phase} phase is {reason}, at the safest precision too.",
            phase=phase.value,
            reason=reason,
        ),
        sentence("The model is probably damaged: download it again, or try another VAE."),
    )
