"""Prepares networks for one device."""

from collections.abc import Collection, Mapping, Sequence
from threading import Lock

from backends.base import (
    Backend,
    Cancellation,
    Device,
    DType,
    FileSlice,
    HeldResults,
    MemoryInfo,
    OperatorSet,
    Precision,
    Session,
)
from engine.compile.artifacts import ArtifactStore
from engine.compile.backend_errors import translated_errors
from engine.compile.counted_results import CountedResults
from engine.compile.network import Network
from engine.compile.prepared import PreparedNetwork, operators_for
from engine.compile.token_tables import held_weights, streamed_weights, without_tables
from engine.compile.weight_binding import has_copy_of
from engine.memory.plan import WeightPlacement
from engine.weights.binding import Report, element_type
from engine.weights.merged_copies import MergedCopies
from engine.weights.packing import bound_bytes, is_computed, packing_of
from engine.weights.rounding import EXACT, Rounding
from engine.weights.runtime_bytes import can_stream, runtime_bytes
from engine.weights.sources import WeightSource, as_sources, stored_type
from engine.weights.weight_set import WeightSet
from engine.weights.working_copies import WorkingCopies


class Compiler:
    """Prepares networks for one device.

    Without a store of artifacts no artifact is kept, without `merged` no merged weights. `counted`
    keeps the counts of networks' results longer than this compiler lives. `refits` is False where
    the device failed to change the weights of an artifact. `rounding` is of the weights of text
    encoders and denoisers.

    May be used from any thread.
    """

    def __init__(
        self,
        backend: Backend,
        device: Device,
        working_copies: WorkingCopies,
        artifacts: ArtifactStore | None = None,
        merged: MergedCopies | None = None,
        *,
        refits: bool = True,
        rounding: Rounding = EXACT,
        counted: CountedResults | None = None,
    ) -> None:
        self.backend = backend
        self.device = device
        self.artifacts = artifacts or ArtifactStore(None)
        self.rounding = rounding
        self._working_copies, self._merged, self._refits = working_copies, merged, refits
        self._counted = counted or CountedResults()
        self._lock = Lock()
        # By the `id` of the network, which its `PreparedNetwork` keeps alive: ids stay unique.
        self._prepared: dict[tuple[int, Precision], PreparedNetwork] = {}

    def prepared(self, network: Network, precision: Precision) -> PreparedNetwork:
        """Return the network prepared for this device in `precision`: the same object each time."""
        key = (id(network), precision)
        with self._lock:
            if key not in self._prepared:
                self._prepared[key] = PreparedNetwork(
                    network,
                    precision,
                    self.backend,
                    self.device,
                    self.artifacts,
                    self._working_copies,
                    self._merged,
                    refits=self._refits,
                    rounding=self.rounding,
                )
            return self._prepared[key]

    def converted_bytes(self, weights: WeightSet, precision: Precision) -> int:
        """Return the bytes of converted weights that binding `weights` in memory would hold."""
        sources, form = weights.base.values(), self._operators_for(weights, precision).blocks
        element = self._element(weights.base.stored_type, precision)
        computed = [source for source in sources if is_computed(source, element, form)]
        return sum(bound_bytes(source, element, form) for source in computed)

    def repacks(self, weights: WeightSet, precision: Precision) -> bool:
        """Return True if weights would be packed or rounded into blocks of the runtime's."""
        form = self._operators_for(weights, precision).blocks
        return any(packing_of(weight, form) is not None for weight in weights.base.values())

    def packed_bytes(self, weights: WeightSet, precision: Precision) -> int:
        """Return the bytes of `weights` as the runtime packs them for its kernels."""
        operators = self._operators_for(weights, precision)
        return runtime_bytes(held_weights(weights, operators), precision.dtype, operators)

    def bound_bytes(self, weights: WeightSet, precision: Precision) -> int:
        """Return the bytes of `weights` as they are given to the runtime."""
        form = self._operators_for(weights, precision).blocks
        return weights.base.bound_bytes(precision.dtype, form)

    def in_place_bytes(self, weights: WeightSet, precision: Precision) -> int | None:
        """Return the bytes that the runtime holds of `weights` that it reads where they are.

        They are those on their way to a device to which weights are streamed; None if the runtime
        always holds all.
        """
        operators = self._operators_for(weights, precision)
        if not (operators.reads_in_place or self._streams(weights, precision)):
            return None
        counted = streamed_weights(weights, operators.streaming)
        return runtime_bytes(counted, precision.dtype, operators, in_place=True)

    def copied_bytes(self, weights: WeightSet, precision: Precision) -> int:
        """Return the bytes of `weights` that the runtime copies to the host, to stream them."""
        streaming = self._operators.streaming
        if not (streaming and streaming.copies_on_host and self._streams(weights, precision)):
            return 0
        return self.bound_bytes(weights, precision)

    def looked_up_bytes(self, weights: WeightSet, precision: Precision) -> int:
        """Return the bytes of those of `weights` that are never copied to a device whole.

        They are tables of tokens, where weights are streamed.
        """
        operators, element = self._operators_for(weights, precision), precision.dtype
        if not (operators.streaming and operators.streaming.tables_on_host):
            return 0
        rest = runtime_bytes(without_tables(weights), element, operators)
        return runtime_bytes(weights.values(), element, operators) - rest

    @property
    def last_placement(self) -> WeightPlacement:
        """The place of weights that do not fit the device's memory."""
        streaming = self._operators.streaming
        return WeightPlacement.STREAMED if streaming else WeightPlacement.IN_PLACE

    @property
    def shares_runs(self) -> bool:
        """True if what a run takes is free for the next one, whichever network runs it."""
        return self.backend.working_memory(self.device).empties

    def runs_bytes(self, networks: Sequence[tuple[Network, Precision]]) -> int:
        """Return the bytes that runs take beside weights, one after the other, with all loaded.

        The runs are of the networks' present sizes. Raises EngineError(CHECKPOINT_MISMATCH) if
        weights are missing.
        """
        runs: list[tuple[HeldResults, int]] = []
        memory = self.backend.working_memory(self.device)
        for network, precision in networks:
            prepared = self.prepared(network, precision)
            operators = self._operators_for(network.weights, precision)
            held = self._counted.of(
                network,
                operators,
                precision,
                lambda prepared=prepared: prepared.graph,
                groups=memory.groups,
                simulates=memory.simulates,
            )
            runs.append((held, precision.dtype.itemsize))
        return memory.runs_bytes(runs)

    def used_weights(self, network: Network, precision: Precision) -> WeightSet:
        """Return the weights that a network's graph uses, of those that it is given.

        Raises as `runs_bytes`.
        """
        used = self.prepared(network, precision).used
        return WeightSet(network.weights.content, used, role=network.weights.role)

    def holds_copy(self, network: Network, precision: Precision) -> bool:
        """Return True if a working copy holds the weights of a network's graph, without patches.

        One of another runtime may have some in another layout. Raises as `runs_bytes`.
        """
        prepared = self.prepared(network, precision)
        operators = self._operators_for(network.weights, precision)
        used = self._counted.used(network, operators, precision, lambda: prepared.used)
        return prepared.has_copy_of(used)

    def has_copy(self, weights: WeightSet, precision: Precision) -> bool:
        """Return True if there is a working copy of converted `weights`, of any runtime."""
        element = self._element(weights.base.stored_type, precision)
        form = self._operators_for(weights, precision).blocks
        return has_copy_of(weights, element, self._working_copies, form)

    def unwritten_bytes(self, weights: WeightSet, precision: Precision) -> int:
        """Return the bytes of the working copy that converted `weights` need and do not have."""
        if not self.converted_bytes(weights, precision) or self.has_copy(weights, precision):
            return 0
        element = self._element(weights.base.stored_type, precision)
        form = self._operators_for(weights, precision).blocks
        return weights.base.bound_bytes(element, form)

    def patched_bytes(
        self,
        weights: Mapping[str, FileSlice | WeightSource],
        patched: Collection[str],
        precision: Precision,
    ) -> int:
        """Return the bytes of those of `weights` that are patched, bound with all `weights`."""
        sources = as_sources(weights)
        element = self._element(stored_type(sources.values()), precision)
        return sum(sources[name].elements for name in patched) * element.itemsize

    def _streams(self, weights: WeightSet, precision: Precision) -> bool:
        """Return True if `weights`, those of a network, can be streamed to the device."""
        operators = self._operators_for(weights, precision)
        every = weights.bound_bytes(precision.dtype, operators.blocks)
        return can_stream(every, operators, self.memory)

    def _element(self, stored: DType, precision: Precision) -> DType:
        return element_type(stored, self._operators, precision)

    def _operators_for(self, weights: WeightSet, precision: Precision) -> OperatorSet:
        return operators_for(self._operators, weights, self.rounding, precision)

    @property
    def _operators(self) -> OperatorSet:
        return self.backend.operators(self.device)

    def require_sound(self, cancel: Cancellation) -> None:
        """Wait until the working copies that were loaded are checked.

        Raises EngineError(WORKING_COPY_DAMAGED) if one is damaged, and Cancelled.
        """
        self._working_copies.require_sound(cancel)
        if self._merged is not None:
            self._merged.copies.require_sound(cancel)

    def memory(self) -> MemoryInfo:
        """Return the present memory of the device. Raises EngineError where it does not answer."""
        with translated_errors(self.device):
            return self.backend.memory(self.device)

    def load(
        self,
        network: Network,
        precision: Precision,
        placement: WeightPlacement,
        report: Report,
        cancel: Cancellation,
    ) -> Session:
        """Load the network as `PreparedNetwork.load` does."""
        return self.prepared(network, precision).load(placement, report, cancel)
