"""The contract between the engine and the backends that run networks.

A backend receives a `Graph`: the bytes of an ONNX model whose weights are external, and for each
weight a `WeightRef` to its numbers: a slice of a file, or an array in memory. It compiles the graph
for a `Device` and returns a `Session` that runs it. It owns no policy: the engine alone does
retries, timing, caching and fallback.

Errors, operators and tensors have modules of their own, whose names this one passes on.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import msgspec

from backends.elements import DType, Precision
from backends.errors import BackendError as BackendError
from backends.errors import RefitError as RefitError
from backends.errors import RunCancelled as RunCancelled
from backends.operator_set import IN_FLIGHT as IN_FLIGHT
from backends.operator_set import AttentionKernels as AttentionKernels
from backends.operator_set import OperatorSet as OperatorSet
from backends.operator_set import Streaming as Streaming
from backends.tensors import Array, DeviceValue, Feeds, TensorSpec
from backends.tensors import Feed as Feed
from backends.tensors import HostValue as HostValue
from backends.tensors import all_feeds as all_feeds
from backends.tensors import base_of as base_of
from backends.tensors import host_array as host_array
from backends.tensors import host_arrays as host_arrays
from backends.tensors import host_values as host_values
from backends.tensors import size_of as size_of
from backends.tensors import sizes_of as sizes_of
from backends.working_memory import HeldResults as HeldResults
from backends.working_memory import PackedAttention as PackedAttention
from backends.working_memory import WorkingMemory

# Fraction done in [0, 1], or None if the runtime does not report it.
Progress = Callable[[float | None], None]


class Cancellation(Protocol):
    """A request by the user to stop; the engine's cancel token implements this protocol."""

    def is_set(self) -> bool:
        """True once the user has asked to stop."""
        ...

    def calling(self, stop: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context in which a request to stop calls `stop` once, on the asking thread."""
        ...


class FileSlice(msgspec.Struct, frozen=True):
    """A tensor that stays in its file: row-major, little-endian, `offset` from the file's start.

    `channels_last`: a kernel [out, in, height, width] of a PyTorch file that follows there as
    [out, height, width, in]. No backend is given one.
    """

    path: Path
    offset: int
    dtype: DType
    shape: tuple[int, ...]
    channels_last: bool = False

    @property
    def elements(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The slice's length in bytes."""
        return self.dtype.bytes_of(self.elements)

    def rows(self, start: int, stop: int) -> "FileSlice":
        """Return a slice of the tensor along its first axis.

        Raises ValueError where those of a quantised type are no whole blocks.
        """
        block, row = self.dtype.block, self.elements // self.shape[0]
        if block is not None and (start * row % block.elements or stop * row % block.elements):
            raise ValueError(f"rows {start} to {stop} of {self.shape} cut blocks of {self.dtype}")
        offset = self.offset + self.dtype.bytes_of(start * row)
        return msgspec.structs.replace(self, offset=offset, shape=(stop - start, *self.shape[1:]))

    def reshaped(self, shape: tuple[int, ...]) -> "FileSlice":
        """Return the same numbers, in the same order, in another shape of equal size."""
        assert not self.channels_last, "its numbers are in another order"
        return msgspec.structs.replace(self, shape=shape)


class ComputedArray(msgspec.Struct, frozen=True):
    """A tensor in memory; the array's type is `dtype.numpy`."""

    array: Array
    dtype: DType

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.array.shape

    @property
    def elements(self) -> int:
        """The number of elements."""
        return self.array.size

    @property
    def nbytes(self) -> int:
        """The array's length in bytes."""
        return self.array.nbytes


WeightRef = FileSlice | ComputedArray


class Graph(msgspec.Struct, frozen=True):
    """A network ready to compile.

    `model` is a serialised ONNX ModelProto in which each weight is an initializer with external
    data whose location is the weight's own name; `weights` maps that name to the real place.
    `weight_sizes` has the bytes of each as it is bound, which are known before it is.
    `changed` names the weights that differ from those that the artifact carries (`refits`).
    `is_foreign`: its nodes are those of a file that somebody else wrote, so its values may have any
    size; a backend that can bounds the memory of its runs. `one_size`: many runs of one size follow
    each other, so that a processor's runtime plans its memory for that size, and again for another.
    `in_place` names the weights that are read where they are, in memory or in a mapped file,
    instead of being packed for the kernels; only where `OperatorSet.reads_in_place`.
    `room_bytes` are those on the device for weights: those that have no room are streamed, which
    is copied to it in each run before they are used; only where `OperatorSet.streaming`.
    `least_sizes` are those of a run as small as can be, by dimension, of a network that runs many
    times: a runtime that packs blocks in its first run makes one of them while it loads.
    """

    name: str
    model: bytes
    weights: Mapping[str, WeightRef]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    precision: Precision
    changed: frozenset[str] = frozenset()
    is_foreign: bool = False
    one_size: bool = False
    in_place: frozenset[str] = frozenset()
    room_bytes: int | None = None
    least_sizes: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])
    weight_sizes: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])

    @property
    def weight_bytes(self) -> int:
        """The bytes of all weights."""
        return sum(self.weight_sizes.values())


class MissingPack(msgspec.Struct, frozen=True):
    """A runtime pack that a backend needs: its id, and a sentence for the user."""

    pack: str
    sentence: str


class Device(msgspec.Struct, frozen=True):
    """A piece of hardware as one backend sees it; `unusable` is the reason it cannot be used.

    `install` names the runtime packs, the best first, any of which would make it usable; none where
    something else is missing (installers/packs.toml).
    """

    backend: str
    id: str
    name: str
    # The precisions it can compute in, the preferred one first.
    precisions: tuple[Precision, ...] = ()
    unusable: str | None = None
    # True if the device may be chosen without the user's request.
    automatic: bool = True
    install: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """True if the backend can run graphs on it."""
        return self.unusable is None


class MemoryInfo(msgspec.Struct, frozen=True):
    """Total and free bytes of a device's memory. Integrated devices share them with the host."""

    total: int
    free: int
    integrated: bool


class DimensionRange(msgspec.Struct, frozen=True):
    """The range of a dynamic dimension in the coming runs, and its usual value."""

    minimum: int
    optimum: int
    maximum: int


class ShapeProfile(msgspec.Struct, frozen=True):
    """The ranges of a graph's dynamic dimensions, by their names in its `TensorSpec`s."""

    dimensions: Mapping[str, DimensionRange] = msgspec.field(
        default_factory=dict[str, DimensionRange]
    )


class ShapeSupport(StrEnum):
    """The kinds of sizes that one compiled artifact can run."""

    DYNAMIC = "dynamic"  # every size
    RANGES = "ranges"  # those within the profile it was compiled for
    STATIC = "static"  # one size: the profile's optimum


class Compilation(msgspec.Struct, frozen=True):
    """Properties of a device's compiler, by which the engine manages its artifacts."""

    shapes: ShapeSupport
    # The artifact contains the weights, so other weights need another artifact.
    carries_weights: bool
    # `compile` stops within a second of a request; else only killing its process stops it.
    interruptible: bool = False
    # Its artifacts carry weights, but `load` replaces `Graph.changed`, so they serve every LoRA.
    refits: bool = False


class Artifact(msgspec.Struct, frozen=True):
    """A compiled graph in a folder of the cache, and the sizes it was compiled for."""

    folder: Path
    profile: ShapeProfile = msgspec.field(default_factory=ShapeProfile)


class Session(Protocol):
    """A loaded network. Not for concurrent use, except `cancel`, which any thread may call."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Run once, with every input that is not optional fed or pinned.

        Raises BackendError, or RunCancelled.
        """
        ...

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run once as `run`, and leave the outputs where the session computes."""
        ...

    def pin(self, name: str, array: Array) -> None:
        """Keep on the device an input that is the same in all runs; `run` may then omit it."""
        ...

    def cancel(self) -> None:
        """Make the current run and all later ones end soon with RunCancelled."""
        ...

    def close(self) -> None:
        """Free the session's memory. Never raises: a device that is lost has none to free."""
        ...


class Backend(Protocol):
    """One way to compile and run graphs. Backends inherit from it."""

    name: str

    def probe(self) -> list[Device]:
        """List the devices this backend sees, usable or with the reason why not. Never raises."""
        ...

    def operators(self, device: Device) -> OperatorSet:
        """Return the operator forms of graphs for a device."""
        ...

    def fingerprint(self, device: Device) -> str:
        """Return a text that changes when artifacts become invalid: versions, driver, device."""
        ...

    def memory(self, device: Device) -> MemoryInfo:
        """Return the device's memory now."""
        ...

    def working_memory(self, device: Device) -> WorkingMemory:
        """Return what runs take beyond weights; by default as an arena that keeps its blocks."""
        return WorkingMemory()

    def compilation(self, device: Device) -> Compilation | None:
        """Return the properties of the device's compiler; None, the default, if it has none."""
        return None

    def compile(
        self,
        graph: Graph,
        device: Device,
        profile: ShapeProfile,
        folder: Path,
        progress: Progress,
        cancel: Cancellation,
    ) -> Artifact | None:
        """Compile into the empty folder `folder`; None if there is nothing worth keeping.

        The files never change: a runtime that caches more while it runs adds files. Raises
        BackendError or RunCancelled. Called only if there is a `compilation`.
        """
        return None

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session for the graph, loaded from `artifact` if there is one.

        Raises BackendError or RunCancelled; RefitError if `graph.changed` cannot be replaced.
        """
        ...
