"""Every backend, in order of preference. Nothing of a vendor is imported before it is asked for."""

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import cast

from backends.base import Backend, Device


@dataclass(frozen=True, slots=True)
class BackendReference:
    """Where a backend is defined; `automatic` ones are candidates when the user has no wish.

    A device that is not automatic is none even of an automatic backend. What is `trusted` comes
    with Safelight and touches no driver: it may be used before a process of its own survived it.
    """

    name: str
    module: str
    type_name: str
    automatic: bool = True
    trusted: bool = False

    def create(self) -> Backend:
        """Import the module and make the backend."""
        return cast("Backend", getattr(import_module(self.module), self.type_name)())


def _torch_may_accelerate() -> bool:
    """Whether it is worth the seconds that importing torch takes to ask it for accelerators."""
    try:
        return not version("torch").endswith("+cpu")
    except PackageNotFoundError:
        return False


BACKENDS: tuple[BackendReference, ...] = (
    BackendReference("nvidia_tensorrt_rtx", "backends.nvidia_tensorrt_rtx", "TensorRtRtxBackend"),
    BackendReference("nvidia_cuda", "backends.nvidia_cuda", "CudaBackend"),
    BackendReference("nvidia_tensorrt", "backends.nvidia_tensorrt", "TensorRtBackend"),
    BackendReference(
        "torch_device", "backends.torch_device", "TorchBackend", automatic=_torch_may_accelerate()
    ),
    BackendReference("amd_migraphx", "backends.amd_migraphx", "MiGraphXBackend"),
    BackendReference("intel_openvino", "backends.intel_openvino", "OpenVinoBackend"),
    BackendReference("webgpu", "backends.webgpu", "WebGpuBackend"),
    BackendReference("apple_coreml", "backends.apple_coreml", "CoreMlBackend"),
    BackendReference("windows_directml", "backends.windows_directml", "DirectMlBackend"),
    BackendReference("cpu", "backends.cpu", "CpuBackend", trusted=True),
    BackendReference("null", "backends.null", "NullBackend", automatic=False, trusted=True),
)

# What people call them; another's name is its own.
_TITLES = {
    "nvidia_tensorrt_rtx": "TensorRT-RTX",
    "nvidia_tensorrt": "TensorRT",
    "nvidia_cuda": "CUDA",
    "amd_migraphx": "MIGraphX",
    "intel_openvino": "OpenVINO",
    "windows_directml": "DirectML",
    "apple_coreml": "CoreML",
    "webgpu": "WebGPU",
    "torch_device": "PyTorch",
    "cpu": "ONNX Runtime",
}


def title(name: str) -> str:
    """What people call a backend."""
    return _TITLES.get(name, name)


def find(name: str) -> BackendReference | None:
    """The backend of that name, or None."""
    return next((reference for reference in BACKENDS if reference.name == name), None)


def devices() -> list[Device]:
    """All devices of all backends, in order of preference."""
    return [device for reference in BACKENDS for device in reference.create().probe()]
