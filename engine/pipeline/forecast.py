"""The phases still to come in a job, and the seconds that each should take."""

from collections.abc import Callable, Sequence

import msgspec

from backends.base import Precision
from engine.api.values import Phase
from engine.awake_clock import awake_seconds
from engine.compile.compiler import Compiler
from engine.compile.estimates import COMPILE, Estimates, Kind, Work
from engine.compile.network import Network, Preparation


class PhaseEstimate(msgspec.Struct, frozen=True):
    """The seconds that a phase should take; None where nothing like it was timed before.

    `after_s` is for all later phases up to the job's end. `once`: the phase will be quicker in the
    next job, because its result is kept.
    """

    phase_s: float | None
    after_s: float | None
    once: bool = False


class Run(msgspec.Struct, frozen=True):
    """A coming phase: `times` runs of a network, once in the job or once for each picture.

    `beside` are networks that run in turns with it, one as often as it runs in a turn.
    """

    phase: Phase
    network: Network | None = None
    times: float = 1.0
    per_picture: bool = False
    # The amount of work in each run, in latent cells; 1 where it does not depend on the size.
    size: float = 1.0
    beside: tuple[Network, ...] = ()

    @property
    def networks(self) -> tuple[Network, ...]:
        """All networks of the phase."""
        return self.beside if self.network is None else (self.network, *self.beside)

    @property
    def runs_as(self) -> str:
        """The name under which the runs are timed."""
        names = [network.runs_as for network in self.networks]
        return " beside ".join(names)


class PlannedPhase(msgspec.Struct, frozen=True):
    """A phase of the job, with its network's name ("" for none) and the work done in it."""

    phase: Phase
    network: str
    work: Work


class Forecast:
    """Follows a job through its announced phases, and learns the duration of each."""

    def __init__(
        self, estimates: Estimates, compiler: Compiler, clock: Callable[[], float] = awake_seconds
    ) -> None:
        self._estimates = estimates
        self._compiler = compiler
        self._clock = clock
        # The phases of the current picture, those of each later picture, and the number of these.
        self._present: tuple[PlannedPhase, ...] = ()
        self._following: tuple[PlannedPhase, ...] = ()
        self._pictures_left = 0
        self._place = -1
        self._begun: tuple[Work, float] | None = None

    def announce(
        self, first: Sequence[PlannedPhase], following: Sequence[PlannedPhase], pictures: int
    ) -> None:
        """Set the phases of the first picture, those of each later one, and the number of all."""
        self._present, self._following = tuple(first), tuple(following)
        self._pictures_left, self._place = pictures - 1, -1

    def preparing(
        self, network: Network, precision: Precision, *, again: bool = False
    ) -> PlannedPhase:
        """Return the phase of preparing a network; `again`: it was compiled earlier in the job."""
        preparation = self._compiler.prepared(network, precision).preparation()
        if again and preparation is Preparation.COMPILE:
            preparation = Preparation.LOAD
        elements = sum(ref.elements for ref in network.weights.values())
        kind = self._kind(preparation.value, network.loads_as, precision)
        work = Work(kind, max(1, elements * precision.dtype.itemsize))
        return PlannedPhase(Phase.COMPILE, network.name, work)

    def running(self, run: Run, precision: Precision) -> PlannedPhase:
        """Return the phase of a run, which may need no network."""
        if run.network is None:
            return PlannedPhase(run.phase, "", Work(Kind(run.phase.value), run.size, run.times))
        kind = self._kind(run.phase.value, run.runs_as, precision)
        return PlannedPhase(run.phase, run.network.name, Work(kind, run.size, run.times))

    def begin(self, phase: Phase, network: Network | None, precision: Precision) -> PhaseEstimate:
        """Start timing a phase, and return its estimate."""
        name = network.name if network else ""
        planned = self._find(phase, name)
        if planned is None and network is not None and phase is Phase.COMPILE:
            planned = self.preparing(network, precision)
        if planned is None:
            self._begun = None
            return PhaseEstimate(None, None)
        kind = planned.work.kind
        if network is not None and kind.precision != precision.value:  # done again more safely
            kind = msgspec.structs.replace(kind, precision=precision.value)
        work = msgspec.structs.replace(planned.work, kind=kind)
        self._begun = (work, self._clock())
        return PhaseEstimate(self._estimates.expect(work), self._after(), kind.activity == COMPILE)

    def end(self) -> None:
        """Record the duration of the phase begun last, which was completed."""
        if self._begun is not None:
            work, start = self._begun
            self._estimates.note(work, self._clock() - start)

    def save(self) -> None:
        """Save the recorded durations for later jobs."""
        self._estimates.save()

    def _kind(self, activity: str, network: str, precision: Precision) -> Kind:
        device = self._compiler.device
        return Kind(activity, network, device.backend, device.name, precision.value)

    def _find(self, phase: Phase, name: str) -> PlannedPhase | None:
        """Find an announced phase and make it the current one; None if it was not announced.

        Later phases and the next picture's are searched first, then earlier ones, which are
        repeated after a failure.
        """
        if self._place == len(self._present) - 1 and self._pictures_left > 0:
            self._present, self._place = self._following, -1
            self._pictures_left -= 1
        places = (*range(self._place + 1, len(self._present)), *range(self._place, -1, -1))
        for place in places:
            planned = self._present[place]
            if (planned.phase, planned.network) == (phase, name):
                self._place = place
                return planned
        return None

    def _after(self) -> float | None:
        """Return the estimated seconds from the end of the current phase to the job's end."""
        if self._place < 0:
            return None
        rest = self._seconds(self._present[self._place + 1 :])
        picture = self._seconds(self._following) if self._pictures_left else 0.0
        return None if rest is None or picture is None else rest + self._pictures_left * picture

    def _seconds(self, phases: Sequence[PlannedPhase]) -> float | None:
        total = 0.0
        for planned in phases:
            expected = self._estimates.expect(planned.work)
            if expected is None:
                return None
            total += expected
        return total
