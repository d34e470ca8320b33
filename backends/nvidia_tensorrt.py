"""TensorRT through its own API, for NVIDIA's cards that ONNX Runtime's plug-in does not support.

Two packages with one API: `tensorrt` for any card from Turing on, datacentre cards included, if the
user has installed it; `tensorrt_rtx` for Turing, which only its native API supports. Building is
verified without a card (docs/tensorrt.md); running is not.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (the runtime ships no types)

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from backends import hardware
from backends.base import (
    Artifact,
    Backend,
    BackendError,
    Cancellation,
    Compilation,
    Device,
    Graph,
    MemoryInfo,
    MissingPack,
    OperatorSet,
    Precision,
    Progress,
    RunCancelled,
    Session,
    ShapeProfile,
    ShapeSupport,
)
from backends.hardware import Adapter
from backends.tensorrt import cards, forms
from backends.tensorrt.build import BuildOptions, Timings, build_engine
from backends.tensorrt.cards import Card
from backends.tensorrt.driver import CudaStream
from backends.tensorrt.ranges import NO_ARTIFACT
from backends.tensorrt.session import TensorRtSession

ENGINE = "network.engine"
KERNELS = "kernels.cache"
_FULL, _RTX = "tensorrt", "tensorrt_rtx"
# The runtime pack with either.
_PACK = "nvidia-tensorrt"
_TURING, _AMPERE = (7, 5), (8, 0)
# CUDA 13's drivers, docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html.
_RTX_DRIVER = (580, 0)
_IMPORT_FAULTS = (ImportError, OSError, RuntimeError, AttributeError)


class TensorRtBackend(Backend):
    """NVIDIA's cards through the native API.

    With `refits` engines are built so that their weights can be replaced. The engine does not ask
    for it until `make gpu` has shown on a card that such engines are right and no slower.
    """

    name = "nvidia_tensorrt"

    def __init__(self, *, refits: bool = False) -> None:
        self._timings, self._refits = Timings(), refits

    def probe(self) -> list[Device]:
        """List NVIDIA's cards, each usable or with the reason why not. Never raises."""
        return self.judged(hardware.list_adapters())

    def judged(self, adapters: tuple[Adapter, ...]) -> list[Device]:
        """Return these adapters as devices."""
        return cards.devices(self.name, adapters, _judge)

    def operators(self, device: Device) -> OperatorSet:
        """Return the operator forms that are layers of TensorRT; attention only from 10.14 on."""
        if not device.usable:
            return forms.operators()
        trt = _module(_serving(_card(device)))
        return forms.operators(
            attention=hasattr(trt, "IAttention"), bfloat16=Precision.BF16 in device.precisions
        )

    def fingerprint(self, device: Device) -> str:
        """Return the versions of the installed TensorRT and of the driver, and the card."""
        versions = " ".join(f"{name} {_version(name)}" for name in (_FULL, _RTX))
        return f"{versions} {cards.told_of(device)}"

    def memory(self, device: Device) -> MemoryInfo:
        """Return the card's memory. Raises BackendError if it is gone."""
        return cards.memory_of(device)

    def compilation(self, device: Device) -> Compilation:
        """Return the properties: engines for ranges of sizes, which contain the weights.

        Most of a build cannot be interrupted.
        """
        return Compilation(ShapeSupport.RANGES, carries_weights=True, refits=self._refits)

    def compile(
        self,
        graph: Graph,
        device: Device,
        profile: ShapeProfile,
        folder: Path,
        progress: Progress,
        cancel: Cancellation,
    ) -> Artifact:
        """Build an engine into `folder`. Raises BackendError or RunCancelled."""
        engine = self._build(graph, device, profile, progress, cancel)
        try:
            (folder / ENGINE).write_bytes(memoryview(engine))
        except OSError as error:
            raise BackendError(f"the engine cannot be written: {error}") from error
        return Artifact(folder, profile)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session for the artifact's engine. Raises BackendError, also without one."""
        if cancel.is_set():
            raise RunCancelled
        if artifact is None:
            raise BackendError(NO_ARTIFACT)
        try:
            engine = np.memmap(artifact.folder / ENGINE, np.uint8, "r")
        except (OSError, ValueError) as error:
            raise BackendError(f"the engine cannot be read: {error}") from error
        return self._session(graph, engine, device, artifact.folder / KERNELS)

    def _build(
        self,
        graph: Graph,
        device: Device,
        profile: ShapeProfile,
        progress: Progress,
        cancel: Cancellation,
    ) -> Any:
        card = _card(device)
        package = _serving(card)
        options = BuildOptions(
            # TensorRT-RTX leaves Turing out unless it is named.
            capabilities=("SM75",) if package == _RTX else (),
            weight_streaming=forms.STREAMING.serves(
                graph.weight_bytes, cards.memory_of(device).total
            ),
            # The available kernels depend on the card.
            decomposable_attention=True,
            refittable=self._refits,
            timings=self._timings if package == _FULL else None,
        )
        if package == _RTX:
            return build_engine(_module(package), graph, profile, options, progress, cancel)
        # The builder times kernels on the card, which must be this thread's current one.
        stream = CudaStream(device.id)
        try:
            return build_engine(_module(package), graph, profile, options, progress, cancel)
        finally:
            stream.close()

    def _session(self, graph: Graph, engine: Any, device: Device, kernels: Path) -> Session:
        trt = _module(_serving(_card(device)))
        stream = CudaStream(device.id)
        try:
            return TensorRtSession(trt, engine, graph, stream, kernels)
        except BackendError:
            stream.close()
            raise


def _judge(card: Card) -> tuple[Precision, ...] | MissingPack | str:
    """Return TensorRT's precisions on a card, or why it cannot use the card."""
    if card.capability < _TURING:
        return f"TensorRT starts with compute capability 7.5 (this is {card.generation})"
    package = _serving(card)
    if find_spec(package) is None:
        return MissingPack(_PACK, f"{package} is not installed")
    old = cards.too_old(card, _RTX_DRIVER, "TensorRT-RTX") if package == _RTX else None
    if old:
        return old
    try:
        trt = _module(package)
        if not hasattr(trt.OnnxParser, "load_initializer"):
            return f"{package} {_version(package)} is too old: it takes no weights from memory"
    except BackendError as error:
        return str(error)
    if package == _RTX:
        # For Turing it refuses bfloat16, and matrix products in float32.
        return (Precision.F16,)
    half = (Precision.F16, Precision.BF16) if card.capability >= _AMPERE else (Precision.F16,)
    return (*half, Precision.F32)


def _serving(card: Card) -> str:
    """Return the package for a card: TensorRT; for Turing TensorRT-RTX if that is missing."""
    if card.capability == _TURING and find_spec(_FULL) is None:
        return _RTX
    return _FULL


def _card(device: Device) -> Card:
    """Return a device's card in its present state. Raises BackendError."""
    card = cards.card_of(cards.adapter_of(device))
    if isinstance(card, str):
        raise BackendError(f"{device.name} cannot be used any more: {card}")
    return card


def _module(package: str) -> Any:
    """Import and return a package's module. Raises BackendError if the import fails."""
    try:
        return import_module(package)
    except _IMPORT_FAULTS as error:
        raise BackendError(f"{package} {_version(package)} does not start: {error}") from error


def _version(package: str) -> str:
    for name in (package, f"{package}_cu13", f"{package}_cu12"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "none"
