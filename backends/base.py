"""The contract between the engine and whatever runs a network.

A backend receives a `Graph`: the bytes of an ONNX model whose weights are external, and for each
weight a `WeightRef` that says where its numbers are: a slice of a file, or an array in memory. It
compiles the graph for a `Device` and returns a `Session` that runs it. It owns no policy: retries,
timing, caching and fallback live once, in the engine.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from backends.elements import DType, Precision
from backends.forms import (
    AttentionForm,
    GegluForm,
    GeluForm,
    GroupNormForm,
    LayerNormForm,
    Layout,
    LinearForm,
    ResidualForm,
    UpsamplingForm,
)

Array = NDArray[Any]
# Fraction done in [0, 1], or None where the runtime does not tell.
Progress = Callable[[float | None], None]


class BackendError(Exception):
    """A runtime refused or failed. `out_of_memory` tells the one cause the engine can act on."""

    def __init__(self, message: str, *, out_of_memory: bool = False) -> None:
        super().__init__(message)
        self.out_of_memory = out_of_memory


class RunCancelled(Exception):  # noqa: N818 (a decision, not a fault)
    """A run, load or compile was stopped through its `Cancellation`."""


class Cancellation(Protocol):
    """Whether the user has asked to stop; the engine's cancel token satisfies it."""

    def is_set(self) -> bool:
        """True once the user has asked to stop."""
        ...

    def calling(self, stop: Callable[[], None]) -> AbstractContextManager[None]:
        """Within the block, a request to stop calls `stop` once, on the thread that asks."""
        ...


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A tensor that stays in its file: row-major, little-endian, `offset` from the file's start."""

    path: Path
    offset: int
    dtype: DType
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many numbers the tensor has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Length of the slice in bytes."""
        return self.elements * self.dtype.itemsize

    def rows(self, start: int, stop: int) -> "FileSlice":
        """The part of the tensor along its first axis."""
        row = self.nbytes // self.shape[0]
        shape = (stop - start, *self.shape[1:])
        return FileSlice(self.path, self.offset + start * row, self.dtype, shape)

    def reshaped(self, shape: tuple[int, ...]) -> "FileSlice":
        """The same numbers, in the same order, in another shape of as many."""
        return FileSlice(self.path, self.offset, self.dtype, shape)


@dataclass(frozen=True, slots=True)
class ComputedArray:
    """A tensor in memory; the array's type is `dtype.numpy`."""

    array: Array
    dtype: DType

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.array.shape

    @property
    def nbytes(self) -> int:
        """Length in bytes."""
        return self.array.nbytes


WeightRef = FileSlice | ComputedArray


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Name, type and shape of a graph's input or output.

    A string in the shape names a dimension that may vary; in outputs, "8*height" and "height/8" say
    how it follows from an input's.
    """

    name: str
    dtype: DType
    shape: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """A network ready to compile.

    `model` is a serialised ONNX ModelProto in which each weight is an initializer with external
    data whose location is the weight's own name; `weights` says where each one really is.
    """

    name: str
    model: bytes
    weights: Mapping[str, WeightRef]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    precision: Precision


@dataclass(frozen=True, slots=True)
class AttentionKernels:
    """What a compiler has kernels of attention for, where it does not have them for everything."""

    elements: tuple[DType, ...]
    # Of one head, the narrowest and the widest.
    head_widths: tuple[int, int]

    def serve(self, element: DType, head_width: int) -> bool:
        """Whether attention of this width, in this type, is among them."""
        narrowest, widest = self.head_widths
        return element in self.elements and narrowest <= head_width <= widest


@dataclass(frozen=True, slots=True)
class OperatorSet:
    """The forms of ONNX a compiler runs best, and the weight types it takes as they are.

    Raises ValueError where two forms do not go together.
    """

    opset: int
    # Element types of weights and activations it takes; F32 always.
    elements: tuple[DType, ...] = (DType.F32,)
    # Computes in the graph's element type, whatever precision is asked for: the two must agree.
    strongly_typed: bool = False
    attention: AttentionForm = AttentionForm.PRIMITIVE
    # What `attention` is written for; the rest is primitive. None: for everything.
    attention_kernels: AttentionKernels | None = None
    group_norm: GroupNormForm = GroupNormForm.INSTANCE
    gelu: GeluForm = GeluForm.ERF
    linear: LinearForm = LinearForm.TRANSPOSE_MATMUL
    upsampling: UpsamplingForm = UpsamplingForm.RESIZE
    layout: Layout = Layout.PLANES
    layer_norm: LayerNormForm = LayerNormForm.STANDARD
    geglu: GegluForm = GegluForm.HALVES
    residual: ResidualForm = ResidualForm.ADD

    def __post_init__(self) -> None:
        planes = self.layout is Layout.PLANES
        if planes and self.group_norm is GroupNormForm.FUSED:
            raise ValueError("fused group normalisation wants channels last")
        if not planes and self.upsampling is UpsamplingForm.TRANSPOSED:
            raise ValueError("transposed convolutions are written on planes")


@dataclass(frozen=True, slots=True)
class MissingPackage:
    """A package that a backend needs, by its name on PyPI, and the sentence that says so."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Device:
    """A piece of hardware as one backend sees it; `unusable` is the reason it cannot be used.

    `install` names the packages on PyPI that would change that, where some are all that is missing:
    "torch" is meant in the build for this machine.
    """

    backend: str
    id: str
    name: str
    # What it can compute in, the preferred one first.
    precisions: tuple[Precision, ...] = ()
    unusable: str | None = None
    # Whether it may be chosen when the user has no wish.
    automatic: bool = True
    install: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """True where the backend can run graphs on it."""
        return self.unusable is None


@dataclass(frozen=True, slots=True)
class MemoryInfo:
    """Bytes a device has, and has free now. Integrated devices share them with the host."""

    total: int
    free: int
    integrated: bool


@dataclass(frozen=True, slots=True)
class DimensionRange:
    """What one variable dimension may be in the runs to come, and what it mostly is."""

    minimum: int
    optimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class ShapeProfile:
    """The variable dimensions of a graph, by the names its `TensorSpec`s give them."""

    dimensions: Mapping[str, DimensionRange] = field(default_factory=dict[str, DimensionRange])


class ShapeSupport(StrEnum):
    """For which sizes one compiled artifact serves."""

    DYNAMIC = "dynamic"  # every size
    RANGES = "ranges"  # those within the profile it was compiled for
    STATIC = "static"  # one size: the profile's optimum


@dataclass(frozen=True, slots=True)
class Compilation:
    """What compiling for a device is like, for the engine that keeps what comes out."""

    shapes: ShapeSupport
    # The artifact has the weights in it, so that other weights want another artifact.
    carries_weights: bool
    # `compile` stops within a second of being asked to; else only the end of its process stops it.
    interruptible: bool = False


@dataclass(frozen=True, slots=True)
class Artifact:
    """A compiled graph kept in a folder of the cache, and the sizes it was compiled for."""

    folder: Path
    profile: ShapeProfile = field(default_factory=ShapeProfile)


class Session(Protocol):
    """A loaded network. Not for concurrent use, except `cancel`, which any thread may call."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run once, with every input fed or pinned. Raises BackendError, or RunCancelled."""
        ...

    def pin(self, name: str, array: Array) -> None:
        """Keep an input that does not change between runs on the device; `run` may then omit it."""
        ...

    def cancel(self) -> None:
        """Make the run in progress, and every later one, end soon with RunCancelled."""
        ...

    def close(self) -> None:
        """Free what the session holds."""
        ...


def all_feeds(
    inputs: tuple[TensorSpec, ...], pinned: Mapping[str, Array], feeds: Mapping[str, Array]
) -> dict[str, Array]:
    """What a run is given, pinned inputs among it. Raises BackendError where an input has none."""
    given = {**pinned, **feeds}
    missing = [spec.name for spec in inputs if spec.name not in given]
    if missing:
        raise BackendError(f"nothing is given for {', '.join(missing)}")
    return given


def sizes_of(inputs: tuple[TensorSpec, ...], given: Mapping[str, Array]) -> dict[str, int]:
    """The value of each dimension that may vary. Raises BackendError where shapes do not fit."""
    sizes: dict[str, int] = {}
    for spec in inputs:
        shape = tuple(given[spec.name].shape)
        if len(shape) != len(spec.shape):
            raise BackendError(f"input {spec.name} has shape {shape}, not {spec.shape}")
        for expected, actual in zip(spec.shape, shape, strict=True):
            if isinstance(expected, str):
                expected = sizes.setdefault(expected, actual)
            if expected != actual:
                raise BackendError(f"input {spec.name} has shape {shape}, not {spec.shape}")
    return sizes


def size_of(dimension: int | str, sizes: Mapping[str, int]) -> int:
    """The value of a dimension of `TensorSpec.shape`, of outputs too."""
    if isinstance(dimension, int):
        return dimension
    factor, times, name = dimension.rpartition("*")
    if times:
        return int(factor) * sizes[name]
    name, _, divisor = dimension.partition("/")
    return sizes[name] // int(divisor or 1)


class Backend(Protocol):
    """One way to compile and run graphs. Backends inherit from it."""

    name: str

    def probe(self) -> list[Device]:
        """The devices this backend can see, each usable or with the reason. Never raises."""
        ...

    def operators(self, device: Device) -> OperatorSet:
        """The form of graph to emit for a device."""
        ...

    def fingerprint(self, device: Device) -> str:
        """What invalidates an artifact: backend version, driver, device."""
        ...

    def memory(self, device: Device) -> MemoryInfo:
        """Memory of the device, now."""
        ...

    def compilation(self, device: Device) -> Compilation | None:
        """What compiling for the device is like; None, as by default, where nothing is kept."""
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
        """Compile into `folder`, which is empty; None where there is nothing worth keeping.

        What it wrote there stays as it is: a runtime that keeps more later adds files.
        Raises BackendError or RunCancelled. Asked for only where there is a `compilation`.
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
        """Make a graph ready to run. Raises BackendError or RunCancelled."""
        ...
