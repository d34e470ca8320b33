"""A backend whose artifacts really carry weights, computed by ONNX Runtime on the processor."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from backends.base import (
    Artifact,
    Cancellation,
    Compilation,
    ComputedArray,
    Device,
    Graph,
    Progress,
    RefitError,
    Session,
    ShapeProfile,
    ShapeSupport,
    WeightRef,
)
from backends.cpu import CpuBackend
from backends.mapped_weights import mapped_weights
from engine.checkpoints.safetensors import read_index
from tests.checkpoints.arrays import write_arrays

_WEIGHTS = "weights.safetensors"


class CarryingBackend(CpuBackend):
    """An artifact is a file of the weights; a session computes with these and with `changed`.

    `refuses`: replacing weights fails. `compiled` and `replaced` have an entry for each compile,
    and for each load with its changed weights.
    """

    name = "carrying"

    def __init__(self, *, refits: bool = True, refuses: bool = False) -> None:
        self._refits, self.refuses = refits, refuses
        self.compiled: list[str] = []
        self.replaced: list[tuple[str, frozenset[str]]] = []

    def compilation(self, device: Device) -> Compilation:
        """One artifact for all sizes, with weights in it."""
        return Compilation(
            ShapeSupport.DYNAMIC, carries_weights=True, interruptible=True, refits=self._refits
        )

    def compile(
        self,
        graph: Graph,
        device: Device,
        profile: ShapeProfile,
        folder: Path,
        progress: Progress,
        cancel: Cancellation,
    ) -> Artifact:
        """Write the weights; an artifact is never made of changed ones where refits are there."""
        assert not graph.changed
        self.compiled.append(graph.name)
        write_arrays(folder / _WEIGHTS, mapped_weights(graph.weights))
        return Artifact(folder)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Compute with the artifact's weights but for the changed ones. Raises RefitError."""
        assert artifact is not None
        self.replaced.append((graph.name, graph.changed))
        if graph.changed and self.refuses:
            raise RefitError("these weights cannot be replaced")
        carried: Mapping[str, WeightRef] = read_index(artifact.folder / _WEIGHTS).tensors
        changed = {name: graph.weights[name] for name in graph.changed}
        assert all(isinstance(ref, ComputedArray) for ref in changed.values())
        graph = msgspec.structs.replace(graph, weights={**carried, **changed}, changed=frozenset())
        return super().load(graph, None, device, progress, cancel)
