"""From a component to a session: emit its graph for the device, bind its weights, load it."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from hashlib import sha256

from backends.base import (
    Backend,
    BackendError,
    Cancellation,
    Device,
    DimensionRange,
    DType,
    MemoryInfo,
    Precision,
    Progress,
    RunCancelled,
    Session,
    WeightRef,
)
from engine.api.remedies import UseAnotherDevice
from engine.api.values import ErrorCode
from engine.checkpoints.index import FileState
from engine.compile.artifacts import ArtifactStore
from engine.compile.compiled import BoundLater, CompiledNetwork
from engine.compile.key import weights_digest
from engine.errors import Cancelled, EngineError, out_of_memory
from engine.graphs.operators import GraphBuilder
from engine.memory.plan import WeightPlacement
from engine.weights.binding import Report, bind, element_type
from engine.weights.nan_check import not_a_number
from engine.weights.sources import (
    DerivedWeight,
    StoredWeight,
    WeightSource,
    is_stored_as,
    scales_digest,
)
from engine.weights.working_copies import WorkingCopies


class Preparation(StrEnum):
    """What it takes to make a network ready, most of all."""

    LOAD = "load"
    CONVERT = "convert"
    COMPILE = "compile"


@dataclass(frozen=True, slots=True)
class Network:
    """A network to prepare: its name, how to emit it, and the weights it may use.

    `digest` identifies the weights' content, so that a working copy is never another file's.
    `dimensions` says what its variable dimensions are now and what they may be; a device that
    compiles for sizes learns those that are missing when it runs. `checkpoint` is for people.
    `overflows_f16`: its activations are known to leave float16's range.
    """

    name: str
    emit: Callable[[GraphBuilder], None]
    weights: Mapping[str, StoredWeight]
    digest: str
    dimensions: Mapping[str, DimensionRange] = field(default_factory=dict[str, DimensionRange])
    checkpoint: str = ""
    overflows_f16: bool = False

    def precisions(self, offered: tuple[Precision, ...]) -> tuple[Precision, ...]:
        """Those of the offered that it is computed in, in their order; all where none is safe."""
        safe = tuple(one for one in offered if one is not Precision.F16)
        return safe if self.overflows_f16 and safe else offered


class Compiler:
    """Prepares networks for one device. Without a store of artifacts none is kept."""

    def __init__(
        self,
        backend: Backend,
        device: Device,
        working_copies: WorkingCopies,
        artifacts: ArtifactStore | None = None,
    ) -> None:
        self.backend = backend
        self.device = device
        self.artifacts = artifacts or ArtifactStore(None)
        self._working_copies = working_copies

    def identity(self, network: Network, precision: Precision) -> str:
        """A digest of all that a session of `network` in `precision` is made of.

        The graph, the device, which bytes of which files, as they are now, and what was compiled.
        """
        g = self._emitted(network, precision)
        paths = sorted({ref.path for ref in network.weights.values()})
        files = [FileState.of(path, path.stat(), b"") for path in paths]
        weights = weights_digest(network.digest, network.weights)
        compiled = self._compiled(network, g)
        artifact = compiled.name if compiled else None
        made_of = (self.device, precision, g.element, files, weights, artifact)
        return sha256(g.build({}).model + repr(made_of).encode()).hexdigest()

    def require_sound(self, cancel: Cancellation) -> None:
        """Wait until the copies of weights that were loaded are known to be as they were written.

        Raises EngineError(WORKING_COPY_DAMAGED), Cancelled.
        """
        self._working_copies.require_sound(cancel)

    def weight_bytes(self, network: Network, precision: Precision) -> int:
        """About what a session of `network` holds, whatever way it is bound."""
        elements = sum(ref.elements for ref in network.weights.values())
        return elements * precision.dtype.itemsize + self.converted_bytes(
            network.weights, precision
        )

    def memory(self) -> MemoryInfo:
        """Memory of the device, now."""
        return self.backend.memory(self.device)

    def load(
        self,
        network: Network,
        precision: Precision,
        placement: WeightPlacement,
        report: Report,
        cancel: Cancellation,
    ) -> Session:
        """A session that runs `network` in `precision`.

        `report(done, total)` counts bytes of weights converted. Raises EngineError (backend failed,
        out of memory, checkpoint mismatch, disk full) or Cancelled.
        """

        g = self._emitted(network, precision)
        compiled = self._compiled(network, g, placement, _unless(cancel, report), cancel)
        with translated_errors(self.device):
            if compiled is not None:
                return compiled.load(_in_thousandths(report), cancel)
            bound = self._bind(network, g.used, g.element, placement, _unless(cancel, report))
            return self.backend.load(g.build(bound), None, self.device, _no_progress, cancel)

    def is_prepared(self, network: Network, precision: Precision) -> bool:
        """Whether loading `network` for its present sizes compiles nothing for long."""
        g = self._emitted(network, precision)
        compiled = self._compiled(network, g)
        return compiled is None or compiled.is_prepared()

    def preparation(self, network: Network, precision: Precision) -> Preparation:
        """What loading `network` for its present sizes would do now."""
        if self.backend.compilation(self.device) is not None:
            prepared = self.is_prepared(network, precision)
            return Preparation.LOAD if prepared else Preparation.COMPILE
        if not self.converted_bytes(network.weights, precision):
            return Preparation.LOAD
        element = element_type(
            network.weights.values(), self.backend.operators(self.device), precision
        )
        has_copy = self._working_copies.has(copy_key(network, element))
        return Preparation.LOAD if has_copy else Preparation.CONVERT

    def artifact_name(self, network: Network, precision: Precision) -> str:
        """The name of what `prepare` finds or makes; empty where nothing is compiled."""
        g = self._emitted(network, precision)
        compiled = self._compiled(network, g)
        return compiled.name if compiled else ""

    def prepare(
        self,
        network: Network,
        precision: Precision,
        placement: WeightPlacement,
        report: Report,
        cancel: Cancellation,
    ) -> None:
        """Compile `network` where that was not done, without loading it. Raises as `load`."""
        g = self._emitted(network, precision)
        compiled = self._compiled(network, g, placement, _unless(cancel, report), cancel)
        if compiled is not None:
            with translated_errors(self.device):
                compiled.prepare(_in_thousandths(report), cancel)

    def _compiled(
        self,
        network: Network,
        g: GraphBuilder,
        placement: WeightPlacement = WeightPlacement.MEMORY,
        report: Report | None = None,
        cancel: Cancellation | None = None,
    ) -> CompiledNetwork | None:
        """The network as the device compiles it, None where it compiles nothing worth keeping."""
        compilation = self.backend.compilation(self.device)
        if compilation is None:
            return None
        # What carries weights is kept longer than the job that would find them damaged.
        awaited = cancel if compilation.carries_weights else None
        given = network, g.used, g.element
        bind_to = partial(self._bind, *given, report=report or _ignore, awaited=awaited)
        carried = weights_digest(network.digest, g.used) if compilation.carries_weights else None
        return CompiledNetwork(
            backend=self.backend,
            device=self.device,
            compilation=compilation,
            graph=g.build(BoundLater(lambda: bind_to(placement=placement))),
            dimensions=network.dimensions,
            checkpoint=network.checkpoint,
            weights=carried,
            weight_bytes=sum(ref.elements for ref in g.used.values()) * g.element.itemsize,
            bind_files=lambda: bind_to(placement=WeightPlacement.WORKING_COPY),
            store=self.artifacts,
        )

    def _emitted(self, network: Network, precision: Precision) -> GraphBuilder:
        operators = self.backend.operators(self.device)
        element = element_type(network.weights.values(), operators, precision)
        g = GraphBuilder(network.name, network.weights, operators, element, precision)
        network.emit(g)
        return g

    def converted_bytes(self, weights: Mapping[str, StoredWeight], precision: Precision) -> int:
        """Bytes that binding `weights` in memory would hold converted; 0 where none is."""
        operators = self.backend.operators(self.device)
        element = element_type(weights.values(), operators, precision)
        return sum(
            ref.elements * element.itemsize
            for ref in weights.values()
            if not is_stored_as(ref, element)
        )

    def _bind(
        self,
        network: Network,
        weights: Mapping[str, WeightSource],
        element: DType,
        placement: WeightPlacement,
        report: Report,
        awaited: Cancellation | None = None,
    ) -> Mapping[str, WeightRef]:
        """Weights in `element` type; with `awaited` no copy is taken before it is checked."""
        stored = (w for w in weights.values() if not isinstance(w, DerivedWeight))
        if all(is_stored_as(weight, element) for weight in stored):
            _require_numbers(network, weights)
            return bind(weights, element, report)
        # A copy that exists is the fastest way, whatever the plan.
        key = copy_key(network, element)
        if awaited is None:
            copy = self._working_copies.find(key, weights)
        else:
            copy = self._working_copies.find_sound(key, weights, awaited)
        if copy is not None:
            return copy
        # What a copy was made of was looked at then.
        _require_numbers(network, weights)
        made_of = (network.name, network.checkpoint)
        if placement is WeightPlacement.WORKING_COPY:
            return self._working_copies.make(key, weights, element, report, made_of)
        bound = bind(weights, element, report)
        if placement is WeightPlacement.MEMORY_THEN_COPY:
            self._working_copies.make_beside(key, bound, element, made_of)
        return bound


def _require_numbers(network: Network, weights: Mapping[str, WeightSource]) -> None:
    name = not_a_number(weights)
    if name is not None:
        raise EngineError(
            ErrorCode.CHECKPOINT_CORRUPT,
            f"The weight {name} of the {network.name.replace('_', ' ')} of {network.checkpoint} "
            "holds values that are not a number.",
            "The file is damaged, or was merged wrongly: download it again, or use another.",
        )


def copy_key(network: Network, element: DType) -> str:
    """The name of a working copy: of the weights, as they are now, and what they are made into."""
    weights = weights_digest(network.digest, network.weights)
    scales = scales_digest(network.weights.values())
    name = f"{network.name}-{scales[:8]}" if scales else network.name
    return f"{weights[:24]}-{name}-{element.value.lower()}"


@contextmanager
def translated_errors(device: Device) -> Generator[None]:
    """A backend's failures as errors a person can act on."""
    try:
        yield
    except RunCancelled as error:
        raise Cancelled from error
    except BackendError as error:
        if error.out_of_memory:
            message = f"There is not enough memory on {device.name}."
            raise out_of_memory(message, str(error)) from error
        raise EngineError(
            ErrorCode.BACKEND_FAILED,
            f"{device.backend} failed on {device.name}.",
            detail=str(error),
            remedies=(UseAnotherDevice(),),
        ) from error


def _no_progress(_: float | None) -> None:
    """For backends that prepare in about a second."""


def _ignore(_done: int, _total: int) -> None:
    """For what converts nothing."""


def _unless(cancel: Cancellation, report: Report) -> Report:
    """Reports, and raises Cancelled where the user has asked to stop."""

    def report_unless_cancelled(done: int, total: int) -> None:
        if cancel.is_set():
            raise Cancelled
        report(done, total)

    return report_unless_cancelled


def _in_thousandths(report: Report) -> Progress:
    """A compiler's progress as a `Report`; where the runtime does not tell nothing is said."""

    def progress(done: float | None) -> None:
        if done is not None:
            report(round(1000 * done), 1000)

    return progress
