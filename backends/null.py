"""A backend that computes nothing: right shapes at once, and failures on request.

For tests of everything around the networks, and for work on the interface. Outputs are a fixed
function of the graph's name, so that they are neither flat nor different from run to run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event
from zlib import crc32

import numpy as np

from backends.base import (
    Array,
    Artifact,
    Backend,
    BackendError,
    Cancellation,
    Device,
    Graph,
    MemoryInfo,
    OperatorSet,
    Precision,
    Progress,
    RunCancelled,
    Session,
    TensorSpec,
    all_feeds,
    size_of,
    sizes_of,
)


@dataclass(frozen=True, slots=True)
class Script:
    """What a graph of a given name does instead of working."""

    load_error: BackendError | None = None
    run_error: BackendError | None = None
    # Added to every output: nan and inf stand for numeric failure.
    offset: float = 0.0
    load_seconds: float = 0.0
    run_seconds: float = 0.0
    # The precisions it misbehaves in; None for all.
    precisions: frozenset[Precision] | None = None


class NullBackend(Backend):
    """Loads at once, returns numbers of the right shape; `scripts` maps graph names to misdeeds."""

    name = "null"

    def __init__(self, scripts: Mapping[str, Script] | None = None) -> None:
        self._scripts = dict(scripts or {})

    def probe(self) -> list[Device]:
        """One device that takes every precision."""
        return [Device(self.name, "null", "computes nothing, for tests", tuple(Precision))]

    def operators(self, device: Device) -> OperatorSet:
        """The plainest forms."""
        return OperatorSet(opset=20)

    def fingerprint(self, device: Device) -> str:
        """Constant."""
        return "null 1"

    def memory(self, device: Device) -> MemoryInfo:
        """As if 8 GiB, all free."""
        return MemoryInfo(total=8 << 30, free=8 << 30, integrated=True)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Ready at once, unless the script says otherwise."""
        script = self._scripts.get(graph.name, Script())
        if script.precisions is not None and graph.precision not in script.precisions:
            script = Script()
        stopped = Event()
        with cancel.calling(stopped.set):
            if stopped.wait(script.load_seconds):
                raise RunCancelled
        if script.load_error:
            raise script.load_error
        return NullSession(graph, script)


class NullSession:
    """A `backends.base.Session` that computes nothing."""

    def __init__(self, graph: Graph, script: Script) -> None:
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self.outputs: tuple[TensorSpec, ...] = graph.outputs
        self._script = script
        self._seed = crc32(graph.name.encode())
        self._pinned: dict[str, Array] = {}
        self._cancelled = Event()

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Small numbers in the shapes that the inputs' shapes imply."""
        if self._cancelled.wait(self._script.run_seconds):
            raise RunCancelled
        if self._script.run_error:
            raise self._script.run_error
        sizes = sizes_of(self.inputs, all_feeds(self.inputs, self._pinned, feeds))
        return {spec.name: self._numbers(spec, sizes) for spec in self.outputs}

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        self._pinned[name] = array

    def cancel(self) -> None:
        """End this and every later run with RunCancelled."""
        self._cancelled.set()

    def close(self) -> None:
        """Nothing to free."""
        self._pinned.clear()

    def _numbers(self, spec: TensorSpec, sizes: Mapping[str, int]) -> Array:
        shape = tuple(size_of(dimension, sizes) for dimension in spec.shape)
        numbers = np.random.default_rng(self._seed).standard_normal(shape, np.float32)
        return 0.1 * numbers + np.float32(self._script.offset)
