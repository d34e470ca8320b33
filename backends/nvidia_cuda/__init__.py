"""NVIDIA's cards through ONNX Runtime's CUDA provider, with its fused operators.

The package is `onnxruntime-gpu`, with CUDA and cuDNN of the version it names; options are those of
onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html, as in the library of 1.31.1.
Its operators' arithmetic is verified with torch (tests/graphs/test_fused.py), and on an H100
(tests/gpu/test_nvidia_cuda.py).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportAttributeAccessIssue=false
# (the runtime ships no complete types)

import ctypes
import io
import os
import sys
from contextlib import redirect_stdout

import msgspec

from backends.base import (
    Artifact,
    Backend,
    BackendError,
    Cancellation,
    Device,
    DType,
    Graph,
    MemoryInfo,
    OperatorSet,
    Precision,
    Progress,
    RunCancelled,
    Session,
)
from backends.forms import (
    AttentionForm,
    BlockForm,
    GegluForm,
    GroupNormForm,
    LayerNormForm,
    Layout,
    LinearForm,
    ResidualForm,
)
from backends.hardware import Adapter
from backends.hardware.nvidia import computes_wrongly_in_half
from backends.onnx_runtime.adapters import (
    adapter_of,
    adapters_of,
    driver_of,
    memory_of,
    number_of,
)
from backends.onnx_runtime.installed import installed, lacks, library_fault, unusable

PROVIDER = "CUDAExecutionProvider"
DISTRIBUTION = "onnxruntime-gpu"
_PACKS = ("nvidia-cuda",)
# The architectures that the wheel has machine code for; it has no PTX to translate for newer ones.
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120")
# The names of all options given to the provider.
OPTIONS = (
    *("device_id", "arena_extend_strategy", "cudnn_conv_algo_search"),
    *("cudnn_conv_use_max_workspace", "fuse_conv_bias", "use_tf32", "enable_cuda_graph"),
)
GRAPH_ID = "gpu_graph_id"

_VENDOR = "NVIDIA"
_CUDNN = "cudnn64_9.dll" if sys.platform == "win32" else "libcudnn.so.9"

# Half precision before single: the fused kernels are made for it, and have no bfloat16. Opset 18,
# because Resize has no kernel of version 19.
OPERATORS = OperatorSet(
    opset=18,
    elements=(DType.F16, DType.F32),
    strongly_typed=True,
    attention=AttentionForm.PACKED,
    group_norm=GroupNormForm.FUSED,
    linear=LinearForm.FUSED_MATMUL,
    layout=Layout.CHANNELS_LAST,
    layer_norm=LayerNormForm.SKIP,
    geglu=GegluForm.BIAS_SPLIT,
    residual=ResidualForm.BIAS_ADD,
    blocks=BlockForm(),
)


class CudaOptions(msgspec.Struct, frozen=True):
    """Options that are faster on some cards only.

    Off by default: on an H100 a recorded step of SD 1.5 took 21.7 ms, a plain one 8.5 ms.
    """

    # Record the second run of a size as one launch (CUDA graphs).
    graphs: bool = False
    # Let cuDNN build kernels that add a convolution's bias, at the first run of each.
    fused_bias: bool = False

    @staticmethod
    def named(words: str) -> "CudaOptions":
        """Parse the value of SAFELIGHT_CUDA: "graphs", "bias", or both."""
        return CudaOptions("graphs" in words, "bias" in words)


class CudaBackend(Backend):
    """NVIDIA's cards from Turing on."""

    name = "nvidia_cuda"

    def __init__(
        self, options: CudaOptions | None = None, operators: OperatorSet = OPERATORS
    ) -> None:
        self._options = options or CudaOptions.named(os.environ.get("SAFELIGHT_CUDA", ""))
        self._operators = operators

    def probe(self) -> list[Device]:
        """List NVIDIA's adapters, each usable or with the reason why not. Never raises."""
        adapters = adapters_of(_VENDOR)
        if not adapters:
            reason = "no NVIDIA graphics card found"
            return [Device(self.name, "0", "NVIDIA graphics", unusable=reason)]
        missing = _missing()
        return [self._device(i, adapter, missing) for i, adapter in enumerate(adapters)]

    def _device(self, index: int, adapter: Adapter, missing: str | None) -> Device:
        reason = adapter.unusable or without_kernels(adapter.architecture) or missing
        if reason:
            install = _PACKS if reason is missing and lacks(DISTRIBUTION) else ()
            return Device(self.name, str(index), adapter.name, unusable=reason, install=install)
        half = () if computes_wrongly_in_half(adapter.name) else (Precision.F16,)
        return Device(self.name, str(index), adapter.name, (*half, Precision.F32))

    def operators(self, device: Device) -> OperatorSet:
        """Return the forms that use ONNX Runtime's fused operators."""
        return self._operators

    def fingerprint(self, device: Device) -> str:
        """Return the versions of ONNX Runtime and the driver, and the card."""
        return f"{installed()} {driver_of(adapter_of(device, _VENDOR))} {device.name}"

    def memory(self, device: Device) -> MemoryInfo:
        """Return the card's memory, as its driver reports it."""
        return memory_of(adapter_of(device, _VENDOR))

    def provider_options(self, device: Device) -> dict[str, str]:
        """Return the provider's options; all their names are in `OPTIONS`."""
        return {
            "device_id": str(number_of(device, _VENDOR)),
            # Components are large and loaded in turn: doubling the arena each time would waste
            # memory.
            "arena_extend_strategy": "kSameAsRequested",
            # Try all kernels at the first run of a size; a size is run dozens of times.
            "cudnn_conv_algo_search": "EXHAUSTIVE",
            "cudnn_conv_use_max_workspace": "1",
            "fuse_conv_bias": str(int(self._options.fused_bias)),
            # Single precision is the fallback where half precision does not suffice, so it must be
            # exact.
            "use_tf32": "0",
            "enable_cuda_graph": str(int(self._options.graphs)),
        }

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Load the weights onto the card; return a session. Raises BackendError or RunCancelled."""
        if cancel.is_set():
            raise RunCancelled
        missing = _missing()
        if missing:
            raise BackendError(missing)
        import onnxruntime as ort

        from backends.nvidia_cuda.recording import RecordingSession
        from backends.onnx_runtime.bound import Binding
        from backends.onnx_runtime.provider import Provider
        from backends.onnx_runtime.session import OnnxRuntimeSession

        # cuDNN logs an error for each kernel that the search cannot take; real ones are raised.
        ort.set_default_logger_severity(4)
        options = ort.SessionOptions()
        options.log_severity_level = 3
        provider = Provider(PROVIDER, self.provider_options(device))
        make = RecordingSession if self._options.graphs else OnnxRuntimeSession
        return make(graph, options, provider, cancel, binding=Binding.ALWAYS)


def without_kernels(architecture: str) -> str | None:
    """Return why the wheel does not support an architecture such as "sm_61"; None if it may."""
    if not architecture or architecture in ARCHITECTURES:
        return None
    return f"{DISTRIBUTION} has no kernels for {architecture}, only for {', '.join(ARCHITECTURES)}"


def _missing() -> str | None:
    """Return which package or library is missing or does not load; None if all load."""
    missing = unusable(PROVIDER, DISTRIBUTION)
    if missing:
        return missing
    import onnxruntime as ort

    if hasattr(ort, "preload_dlls"):
        with redirect_stdout(io.StringIO()):  # the reason is found below
            ort.preload_dlls()
    fault = library_fault("cuda") or _load_fault(_CUDNN)
    if fault is None:
        return None
    return f"CUDA or cuDNN is absent, or of another version than {DISTRIBUTION} needs ({fault})"


def _load_fault(library: str) -> str | None:
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return None
