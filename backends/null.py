"""A backend that computes nothing: outputs of the right shape at once, failures on request.

For tests of everything around the networks, and for work on the interface. Outputs are a fixed
function of the graph's name and, if it is compiled, of the artifact's bytes, so that they are
neither flat nor different from run to run. With `Compiling` the backend simulates a compiler of any
kind.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from zlib import crc32

import msgspec
import numpy as np

from backends.base import (
    Array,
    Artifact,
    Backend,
    BackendError,
    Cancellation,
    Compilation,
    ComputedArray,
    Device,
    DeviceValue,
    Feeds,
    Graph,
    MemoryInfo,
    OperatorSet,
    Precision,
    Progress,
    RunCancelled,
    Session,
    ShapeProfile,
    ShapeSupport,
    TensorSpec,
    WeightRef,
    all_feeds,
    host_values,
    size_of,
    sizes_of,
)

# Holds the JSON of a `Compiling`, so that it reaches child processes.
COMPILING = "SAFELIGHT_NULL_COMPILING"
_ARTIFACT, _END = "network.bin", b"the end"
_PIECES = 10


class Compiling(msgspec.Struct, frozen=True):
    """The simulated compiler: its `backends.base.Compilation`, its files, and its failures."""

    shapes: ShapeSupport = ShapeSupport.DYNAMIC
    carries_weights: bool = False
    interruptible: bool = True
    refits: bool = False
    # The result of `fingerprint`.
    runtime: str = "null 1"
    file_bytes: int = 1000
    # A compile that is half done waits until this file exists.
    gate: str = ""
    # A file that gets the graph's name as a line for each compile that begins.
    journal: str = ""
    # Names of graphs whose compile kills the process, fails, or leaves no artifact.
    crashes: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()

    @classmethod
    def from_environment(cls) -> "Compiling | None":
        """Return the settings in COMPILING; None if it is not set."""
        text = os.environ.get(COMPILING)
        if not text:
            return None
        fields = json.loads(text)
        return cls(**fields | {"shapes": ShapeSupport(fields["shapes"])})

    def as_environment(self) -> dict[str, str]:
        """Return the variable that `from_environment` reads."""
        return {COMPILING: json.dumps(msgspec.structs.asdict(self))}


class Script(msgspec.Struct, frozen=True):
    """The scripted failures and delays of a graph."""

    load_error: BackendError | None = None
    run_error: BackendError | None = None
    # Added to every output: nan and inf simulate numeric failure.
    offset: float = 0.0
    load_seconds: float = 0.0
    run_seconds: float = 0.0
    # The precisions the script applies to; None for all.
    precisions: frozenset[Precision] | None = None


class NullBackend(Backend):
    """A backend that returns numbers of the right shape at once.

    `scripts` maps graph names to failures. The backend compiles only if `compiling` or the
    environment says how.
    """

    name = "null"

    def __init__(
        self, scripts: Mapping[str, Script] | None = None, compiling: Compiling | None = None
    ) -> None:
        self._scripts = dict(scripts or {})
        self._compiling = compiling or Compiling.from_environment()

    def probe(self) -> list[Device]:
        """Return one device that takes every precision."""
        return [Device(self.name, "null", "computes nothing, for tests", tuple(Precision))]

    def operators(self, device: Device) -> OperatorSet:
        """Return the most basic operator forms."""
        return OperatorSet(opset=20)

    def fingerprint(self, device: Device) -> str:
        """Return "null 1", or the scripted runtime."""
        return self._compiling.runtime if self._compiling else "null 1"

    def memory(self, device: Device) -> MemoryInfo:
        """Return 8 GiB, all free."""
        return MemoryInfo(total=8 << 30, free=8 << 30, integrated=True)

    def compilation(self, device: Device) -> Compilation | None:
        """Return the scripted compiler's properties; None without one."""
        how = self._compiling
        return how and Compilation(how.shapes, how.carries_weights, how.interruptible, how.refits)

    def compile(
        self,
        graph: Graph,
        device: Device,
        profile: ShapeProfile,
        folder: Path,
        progress: Progress,
        cancel: Cancellation,
    ) -> Artifact | None:
        """Write a file that depends on model, profile, runtime and, if carried, weights."""
        if self._compiling is None or graph.name in self._compiling.leaves:
            return None
        try:
            _compile(self._compiling, graph, profile, folder / _ARTIFACT, progress, cancel)
        except OSError as error:
            raise BackendError(f"it cannot be written: {error}") from error
        dynamic = self._compiling.shapes is ShapeSupport.DYNAMIC
        return Artifact(folder) if dynamic else Artifact(folder, profile)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session at once, unless scripted otherwise."""
        script = self._scripts.get(graph.name, Script())
        if script.precisions is not None and graph.precision not in script.precisions:
            script = Script()
        stopped = Event()
        with cancel.calling(stopped.set):
            if stopped.wait(script.load_seconds):
                raise RunCancelled
        if script.load_error:
            raise script.load_error
        return NullSession(graph, script, artifact)


def _compile(
    how: Compiling,
    graph: Graph,
    profile: ShapeProfile,
    path: Path,
    progress: Progress,
    cancel: Cancellation,
) -> None:
    """Write `path` piece by piece. Raises OSError, BackendError, RunCancelled."""
    if how.journal:
        with Path(how.journal).open("a") as journal:
            journal.write(f"{graph.name}\n")
    content = hashlib.sha256(graph.model + repr(profile).encode() + how.runtime.encode())
    if how.carries_weights:
        for name, ref in graph.weights.items():
            content.update(name.encode() + _numbers_of(ref))
    piece = content.digest() * (how.file_bytes // _PIECES // content.digest_size + 1)
    with path.open("wb") as file:
        for number in range(_PIECES):
            while number == _PIECES // 2 and how.gate and not Path(how.gate).exists():
                _stop_if_asked(how, cancel)
                time.sleep(0.01)
            if number == _PIECES // 2 and graph.name in how.crashes:
                os.abort()
            if number == _PIECES // 2 and graph.name in how.fails:
                raise BackendError(f"it gives up on {graph.name}")
            _stop_if_asked(how, cancel)
            file.write(piece)
            progress((number + 1) / _PIECES)
        file.write(_END)


def _stop_if_asked(how: Compiling, cancel: Cancellation) -> None:
    if how.interruptible and cancel.is_set():
        raise RunCancelled


def _numbers_of(ref: WeightRef) -> bytes:
    if isinstance(ref, ComputedArray):
        return ref.array.tobytes()
    with ref.path.open("rb") as file:
        file.seek(ref.offset)
        return file.read(ref.nbytes)


def _seed(graph: Graph, artifact: Artifact | None) -> int:
    """Return the seed of the outputs. Raises BackendError for a foreign artifact."""
    if artifact is None:
        return crc32(graph.name.encode())
    try:
        content = (artifact.folder / _ARTIFACT).read_bytes()
    except OSError as error:
        raise BackendError(f"the artifact cannot be read: {error}") from error
    if not content.endswith(_END):
        raise BackendError("the artifact is cut short")
    return crc32(content, crc32(graph.name.encode()))


class NullSession:
    """A `backends.base.Session` that computes nothing."""

    def __init__(self, graph: Graph, script: Script, artifact: Artifact | None = None) -> None:
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self.outputs: tuple[TensorSpec, ...] = graph.outputs
        self._script = script
        self._seed = _seed(graph, artifact)
        self._profile = artifact.profile if artifact else ShapeProfile()
        self._pinned: dict[str, Array] = {}
        self._cancelled = Event()

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Return small numbers in the shapes that follow from the inputs' shapes."""
        if self._cancelled.wait(self._script.run_seconds):
            raise RunCancelled
        if self._script.run_error:
            raise self._script.run_error
        sizes = sizes_of(self.inputs, all_feeds(self.inputs, self._pinned, feeds))
        for name, within in self._profile.dimensions.items():
            if not within.minimum <= sizes[name] <= within.maximum:
                raise BackendError(f"{name} {sizes[name]} is not within {within}")
        return {spec.name: self._numbers(spec, sizes) for spec in self.outputs}

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run once; the numbers are in main memory in any case."""
        return host_values(self.outputs, self.run(feeds))

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        self._pinned[name] = array

    def cancel(self) -> None:
        """End this and every later run with RunCancelled."""
        self._cancelled.set()

    def close(self) -> None:
        """Forget the pinned inputs."""
        self._pinned.clear()

    def _numbers(self, spec: TensorSpec, sizes: Mapping[str, int]) -> Array:
        shape = tuple(size_of(dimension, sizes) for dimension in spec.shape)
        numbers = np.random.default_rng(self._seed).standard_normal(shape, np.float32)
        return 0.1 * numbers + np.float32(self._script.offset)
