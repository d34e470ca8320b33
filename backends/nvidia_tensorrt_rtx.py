"""TensorRT-RTX through its plug-in for ONNX Runtime: GeForce and RTX cards from Ampere on.

The package is `onnxruntime-ep-nv-tensorrt-rtx-cu13` (github.com/NVIDIA/TensorRT-RTX-EP-ABI; its
header documents the options). It compiles a graph into an engine that any of these cards can load,
with the weights inside, and compiles the kernels for the card at the first run. Building such
engines is verified without a card (docs/tensorrt.md); running them is not.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false
# (the runtime ships no complete types)

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

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
from backends.onnx_runtime.plugins import plugin_devices
from backends.onnx_runtime.provider import Provider
from backends.tensorrt import cards, forms
from backends.tensorrt.cards import Card
from backends.tensorrt.ranges import NO_ARTIFACT, input_ranges, is_fixed, profile_text
from backends.tensorrt.streaming import staying_bytes

if TYPE_CHECKING:
    import onnxruntime as ort

PROVIDER = "NvTensorRTRTXExecutionProvider"
_MODULE = "onnxruntime_ep_nv_tensorrt_rtx"
# The runtime pack that has it.
_PACK = "nvidia-tensorrt-rtx"
# The packages that contain the module, and the oldest driver for their CUDA version:
# docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html, and for CUDA 12 the
# plug-in's own requirement for the newest cards.
_PACKAGES: Mapping[str, tuple[int, int]] = {
    "onnxruntime-ep-nv-tensorrt-rtx-cu13": (580, 0),
    "onnxruntime-ep-nv-tensorrt-rtx-cu12": (570, 0),
}
# Compute capabilities that the plug-in's IsComputeCapabilitySupported accepts: the first two, and
# 12.0 or newer.
_CAPABILITIES, _NEWEST = ((8, 6), (8, 9)), (12, 0)

MINIMUM, OPTIMUM, MAXIMUM = (
    "nv_profile_min_shapes",
    "nv_profile_opt_shapes",
    "nv_profile_max_shapes",
)
CUDA_GRAPH = "enable_cuda_graph"
KERNEL_CACHE = "nv_runtime_cache_path"
WORKSPACE = "nv_max_workspace_size"
WEIGHT_STREAMING = "nv_weight_streaming_budget"
# Every option given to the provider.
OPTIONS = (MINIMUM, OPTIMUM, MAXIMUM, CUDA_GRAPH, KERNEL_CACHE, WORKSPACE, WEIGHT_STREAMING)

# The budget of which the plug-in makes the least that the engine can run with; 0 streams nothing.
_LEAST_STAYING = 1

CONTEXT = "network_ctx.onnx"
KERNELS = "kernels"


class TensorRtRtxBackend(Backend):
    """NVIDIA's GeForce and RTX cards."""

    name = "nvidia_tensorrt_rtx"

    def probe(self) -> list[Device]:
        """List NVIDIA's cards, each usable or with the reason why not. Never raises."""
        return self.judged(hardware.list_adapters())

    def judged(self, adapters: tuple[Adapter, ...]) -> list[Device]:
        """Return these adapters as devices. Loads the plug-in only if a card could use it."""
        return cards.devices(self.name, adapters, _judge)

    def operators(self, device: Device) -> OperatorSet:
        """Return the operator forms that are layers of TensorRT."""
        return forms.operators()

    def fingerprint(self, device: Device) -> str:
        """Return the versions of the plug-in, ONNX Runtime and the driver, and the card.

        The plug-in includes TensorRT-RTX.
        """
        package = _package() or _MODULE
        runtime = f"onnxruntime {_version('onnxruntime')}"
        return f"{package} {_version(package)} {runtime} {cards.told_of(device)}"

    def memory(self, device: Device) -> MemoryInfo:
        """Return the card's memory. Raises BackendError if it is gone."""
        return cards.memory_of(device)

    def compilation(self, device: Device) -> Compilation:
        """Return the properties: engines for ranges of sizes, which contain the weights.

        The plug-in can leave weights out (`nv_weight_stripped_engine_enable_experimental`), but
        builds such engines for weights that stay the same (REFIT_IDENTICAL), so LoRAs could not
        be given to them. A build cannot be stopped.
        """
        return Compilation(ShapeSupport.RANGES, carries_weights=True)

    def compile(
        self,
        graph: Graph,
        device: Device,
        profile: ShapeProfile,
        folder: Path,
        progress: Progress,
        cancel: Cancellation,
    ) -> Artifact:
        """Compile into `folder`. Raises BackendError or RunCancelled."""
        from backends.tensorrt.plugin import compile_graph

        progress(None)
        provider = self._provider(graph, device, profile, None)
        compile_graph(graph, provider, folder / CONTEXT, cancel)
        return Artifact(folder, profile)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session for the artifact.

        The first run compiles kernels for the card, which are kept next to the engine. Raises
        BackendError, also without an artifact, or for one of another version or card.
        """
        if cancel.is_set():
            raise RunCancelled
        if artifact is None:
            raise BackendError(NO_ARTIFACT)
        from backends.tensorrt.plugin import compiled_session

        provider = self._provider(graph, device, artifact.profile, artifact.folder / KERNELS)
        return compiled_session(graph, provider, artifact.folder / CONTEXT, cancel)

    def _provider(
        self, graph: Graph, device: Device, profile: ShapeProfile, kernels: Path | None
    ) -> Provider:
        options = provider_options(graph, profile, cards.memory_of(device), kernels)
        return Provider(PROVIDER, options, (_plugin_device(device),))


def provider_options(
    graph: Graph, profile: ShapeProfile, memory: MemoryInfo, kernels: Path | None
) -> dict[str, str]:
    """Return the provider's options for a graph, the sizes of `profile` and a card's memory."""
    ranges = input_ranges(graph.inputs, profile)
    weights = graph.weight_bytes
    options = {
        MINIMUM: profile_text(ranges, "minimum"),
        OPTIMUM: profile_text(ranges, "optimum"),
        MAXIMUM: profile_text(ranges, "maximum"),
        # A recorded launch works for one set of shapes.
        CUDA_GRAPH: "1" if is_fixed(profile) else "0",
        # The most memory a kernel may use: what the weights leave.
        WORKSPACE: str(max(memory.total - weights, memory.total // 8)),
    }
    if forms.STREAMING.serves(weights, memory.total):
        # The weights that stay on the card; without a plan TensorRT chooses them as it loads.
        staying = staying_bytes(graph)
        options[WEIGHT_STREAMING] = "-1" if staying is None else str(max(staying, _LEAST_STAYING))
    if kernels is not None:
        options[KERNEL_CACHE] = str(kernels)
    return options


def _judge(card: Card) -> tuple[Precision, ...] | MissingPack | str:
    """Return TensorRT-RTX's precisions on a card, or why it cannot use the card."""
    if card.capability not in _CAPABILITIES and card.capability < _NEWEST:
        return (
            "TensorRT-RTX serves compute capability 8.6, 8.9, and 12.0 or newer "
            f"(this is {card.generation})"
        )
    package = _package()
    if package is None:
        return MissingPack(_PACK, "the plug-in is not installed")
    old = cards.too_old(card, _PACKAGES[package], package)
    if old:
        return old
    try:
        matching(plugin_devices(_MODULE), card.adapter)
    except BackendError as error:
        return str(error)
    return (Precision.F16, Precision.BF16, Precision.F32)


def _plugin_device(device: Device) -> "ort.OrtEpDevice":
    """Return ONNX Runtime's handle of a device. Raises BackendError."""
    return matching(plugin_devices(_MODULE), cards.adapter_of(device))


def matching(listed: "Sequence[ort.OrtEpDevice]", adapter: Adapter) -> "ort.OrtEpDevice":
    """Return the device of an adapter: by bus address, or by its PCI id if that is unknown.

    Raises BackendError if there is none.
    """
    for candidate in listed:
        place = dict(candidate.device.metadata).get("pci_bus_id", "").lower()
        numbers = (candidate.device.vendor_id, candidate.device.device_id)
        if place:
            if place == adapter.address.lower():
                return candidate
        elif adapter.pci and numbers == (adapter.pci.vendor, adapter.pci.device):
            return candidate
    raise BackendError(f"the plug-in does not list {adapter.name}")


def _package() -> str | None:
    """Return the name of the installed plug-in package, without importing it.

    Its import creates links in its own folder, changes LD_LIBRARY_PATH and loads libraries
    globally.
    """
    if find_spec(_MODULE) is None:
        return None
    return next((name for name in _PACKAGES if _version(name)), None)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
