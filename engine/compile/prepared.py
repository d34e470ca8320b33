"""A network for one device in one precision: its graph, its artifact, and its session."""

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from threading import Lock

import msgspec

from backends.base import (
    Backend,
    Cancellation,
    Device,
    Graph,
    OperatorSet,
    Precision,
    Progress,
    Session,
    WeightRef,
)
from backends.forms import BlockForm
from engine.compile.artifacts import ArtifactStore
from engine.compile.backend_errors import translated_errors
from engine.compile.compiled import BoundLater, CompiledNetwork
from engine.compile.network import Network, Preparation
from engine.compile.token_tables import held_weights, streamed_weights
from engine.compile.weight_binding import WeightBinding
from engine.errors import Cancelled
from engine.graphs.operators import GraphBuilder
from engine.memory.plan import WeightPlacement
from engine.weights.binding import Report, element_type
from engine.weights.lost_files import lost_files_named
from engine.weights.merged_copies import MergedCopies
from engine.weights.packing import bound_bytes, have_joined, is_computed, packing_of
from engine.weights.rounding import EXACT, Rounding
from engine.weights.runtime_bytes import (
    can_stream,
    in_place_names,
    runtime_bytes,
    streamed_bytes,
)
from engine.weights.sources import WeightSource
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies


def operators_for(
    own: OperatorSet, weights: WeightSet, rounding: Rounding, precision: Precision
) -> OperatorSet:
    """Return a device's forms of operators for a network with these weights, in a precision.

    They are its `own` but for the form of weights in blocks, where its runtime holds some.
    """
    if own.blocks is None:
        return own
    joined = precision in own.joined_blocks and have_joined(weights.base.values())
    return msgspec.structs.replace(own, blocks=BlockForm(rounding.bits_of(weights.role), joined))


class PreparedNetwork:
    """A network for one device in one precision, ready to be loaded.

    The graph is emitted by the first call that needs it, which raises
    EngineError(CHECKPOINT_MISMATCH) if weights are missing. Results depend on the files and caches
    at the time of the call. Without `refits` artifacts that carry weights carry patched ones, too,
    whatever the device's compiler can do. `rounding` is of the weights of linear layers. May be
    used from any thread.
    """

    def __init__(
        self,
        network: Network,
        precision: Precision,
        backend: Backend,
        device: Device,
        artifacts: ArtifactStore,
        copies: WorkingCopies,
        merged: MergedCopies | None = None,
        *,
        refits: bool = True,
        rounding: Rounding = EXACT,
    ) -> None:
        self.network, self.precision = network, precision
        self._backend, self._device, self._artifacts = backend, device, artifacts
        self._copies, self._merged, self._refits = copies, merged, refits
        own = backend.operators(device)
        self._operators = operators_for(own, network.weights, rounding, precision)
        self._element = element_type(network.weights.stored_type, self._operators, precision)
        self._lock = Lock()
        self._emitted: tuple[Graph, WeightBinding] | None = None

    @property
    def graph(self) -> Graph:
        """The network's graph, without bound weights."""
        return self._emit()[0]

    @property
    def used(self) -> Mapping[str, WeightSource]:
        """The weights that the graph uses, by name."""
        return self._emit()[1].used

    def has_copy_of(self, used: Mapping[str, WeightSource]) -> bool:
        """Return True if a working copy holds these weights, those that the graph uses."""
        return self._binding(used).has_copy

    def identity(
        self, placement: WeightPlacement = WeightPlacement.MEMORY, room_bytes: int = 0
    ) -> str:
        """Return the digest of a session's sources: graph, device, precision, weights, artifact.

        Sessions that read weights in place round otherwise, so they are others; those to which
        weights are streamed do not.
        """
        made_of = (
            self._device,
            self.precision,
            self._element,
            self.network.weights.digest(),
            self.artifact_name(),
            *sorted(self._in_place(placement, room_bytes)),
        )
        return sha256(self.graph.model + repr(made_of).encode()).hexdigest()

    def weight_bytes(self, placement: WeightPlacement = WeightPlacement.MEMORY) -> int:
        """Return about the bytes that a session's weights take, packed and converted.

        Those that a working copy holds are not counted.
        """
        weights, element = self.network.weights.values(), self._element
        form = self._operators.blocks
        holding = held_weights(self.network.weights, self._operators)
        held = runtime_bytes(holding, self.precision.dtype, self._operators)
        computed = [weight for weight in weights if is_computed(weight, element, form)]
        kept = [weight for weight in computed if not placement.maps or weight is not weight.base]
        return held + sum(bound_bytes(weight, element, form) for weight in kept)

    def _in_place(self, placement: WeightPlacement, room_bytes: int) -> frozenset[str]:
        """Return the names of the weights that the runtime reads where they are."""
        if not self._operators.reads_in_place:
            return frozenset()
        room = room_bytes if placement is WeightPlacement.IN_PLACE else None
        return in_place_names(self._emit()[1].used, self._element, room)

    def _room(self, placement: WeightPlacement, room_bytes: int) -> int | None:
        """Return the bytes of weights that a device may hold to which the others are streamed."""
        if placement is not WeightPlacement.STREAMED:
            return None
        weights, operators = self.network.weights, self._operators
        element, memory = self.precision.dtype, partial(self._backend.memory, self._device)
        if not can_stream(self.graph.weight_bytes, operators, memory):
            return None
        streamed = streamed_weights(weights, operators.streaming)
        return streamed_bytes(streamed, element, operators) + room_bytes

    def preparation(self) -> Preparation:
        """Return the most expensive step of loading the network for its present sizes now."""
        if self._backend.compilation(self._device) is not None:
            return Preparation.LOAD if self.is_prepared() else Preparation.COMPILE
        weights, element = self.network.weights.base.values(), self._element
        form = self._operators.blocks
        packs = any(packing_of(weight, form) is not None for weight in weights)
        if not packs and not any(weight.needs_conversion(element) for weight in weights):
            return Preparation.LOAD
        return Preparation.LOAD if self._emit()[1].has_copy else Preparation.CONVERT

    def is_prepared(self) -> bool:
        """Return True if the network can be loaded for its present sizes without a compile."""
        compiled = self._compiled()
        return compiled is None or compiled.is_prepared()

    def artifact_name(self) -> str:
        """Return the name of the artifact that `prepare` finds or makes; empty without artifact."""
        compiled = self._compiled()
        return compiled.name if compiled else ""

    def load(
        self,
        placement: WeightPlacement,
        report: Report,
        cancel: Cancellation,
        room_bytes: int = 0,
    ) -> Session:
        """Load the network and return its session.

        Where weights are read in place or streamed, `room_bytes` of them are held nevertheless.
        `report(done, total)` counts bytes of converted weights. Raises EngineError (backend failed,
        refit failed, out of memory, checkpoint corrupt, not found or unreadable, disk full) or
        Cancelled.
        """
        checked = _unless(cancel, report)
        with lost_files_named(self.network.weights.values()), translated_errors(self._device):
            room = self._room(placement, room_bytes)
            compiled = self._compiled(placement, checked, cancel)
            if compiled is not None:
                graph = msgspec.structs.replace(compiled.graph, room_bytes=room)
                return msgspec.structs.replace(compiled, graph=graph).load(
                    _in_thousandths(report), cancel
                )
            graph, binding = self._emit()
            in_place = self._in_place(placement, room_bytes)
            weights = binding.bind(placement, checked)
            bound = msgspec.structs.replace(
                graph,
                weights=weights,
                in_place=in_place,
                room_bytes=room,
                least_sizes=self.network.least_sizes,
            )
            return self._backend.load(bound, None, self._device, _no_progress, cancel)

    def prepare(self, placement: WeightPlacement, report: Report, cancel: Cancellation) -> None:
        """Compile the network if needed, without loading it. Raises as `load`."""
        with lost_files_named(self.network.weights.values()), translated_errors(self._device):
            compiled = self._compiled(placement, _unless(cancel, report), cancel)
            if compiled is not None:
                compiled.prepare(_in_thousandths(report), cancel)

    def _emit(self) -> tuple[Graph, WeightBinding]:
        """Return the graph and its weights, emitted by the first call."""
        with self._lock:
            if self._emitted is None:
                network, element = self.network, self._element
                given = network.name, network.weights, self._operators, element, self.precision
                g = GraphBuilder(*given, network.branches)
                network.emit(g)
                if network.branches is not None:
                    # Weights may be used cut, in another order or in blocks, under other names.
                    absent = {name.removesuffix(".weight") for name in g.unused()}
                    unknown = network.branches.layers.keys() - absent - g.branched
                    assert not unknown, f"no layer of the graph has a branch for {unknown}"
                self._emitted = g.build({}), self._binding(g.used)
            return self._emitted

    def _binding(self, used: Mapping[str, WeightSource]) -> WeightBinding:
        caches, form = (self._copies, self._merged), self._operators.blocks
        return WeightBinding(self.network, used, self._element, *caches, form)

    def _compiled(
        self,
        placement: WeightPlacement = WeightPlacement.MEMORY,
        report: Report | None = None,
        cancel: Cancellation | None = None,
    ) -> CompiledNetwork | None:
        """Return the network as the device compiles it; None if the device keeps no artifacts."""
        compilation = self._backend.compilation(self._device)
        if compilation is None:
            return None
        carried = compilation.carries_weights
        # An artifact with weights outlives the job, so its working copy is checked beforehand.
        awaited = cancel if carried else None
        graph, binding = self._emit()
        refits = compilation.refits and self._refits
        changed = binding.patched if refits else frozenset[str]()
        carrying = binding.base if refits else binding

        def bind(binding: WeightBinding, where: WeightPlacement) -> Mapping[str, WeightRef]:
            return binding.bind(where, report or _ignore, awaited)

        weights = BoundLater(lambda: bind(binding, placement))
        own = BoundLater(lambda: bind(carrying, placement)) if changed else weights
        return CompiledNetwork(
            backend=self._backend,
            device=self._device,
            compilation=compilation,
            graph=msgspec.structs.replace(graph, weights=weights, changed=changed),
            source=msgspec.structs.replace(graph, weights=own),
            dimensions=self.network.dimensions,
            checkpoint=self.network.checkpoint,
            weights=carrying.network.weights.digest() if carried else None,
            bind_files=lambda: bind(carrying, WeightPlacement.WORKING_COPY),
            store=self._artifacts,
        )


def _no_progress(_: float | None) -> None:
    """Ignore the progress of a backend that prepares in about a second."""


def _ignore(_done: int, _total: int) -> None:
    """Ignore the progress of a conversion."""


def _unless(cancel: Cancellation, report: Report) -> Report:
    """Wrap a report so that it raises Cancelled once the user has asked to stop."""

    def report_unless_cancelled(done: int, total: int) -> None:
        if cancel.is_set():
            raise Cancelled
        report(done, total)

    return report_unless_cancelled


def _in_thousandths(report: Report) -> Progress:
    """Return a `Progress` that calls `report` with thousandths; unknown progress is ignored."""

    def progress(done: float | None) -> None:
        if done is not None:
            report(round(1000 * done), 1000)

    return progress
