"""Every backend, in order of preference. A vendor's package is imported only when it is needed."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import cast

import msgspec

from backends.base import Backend, Device


class BackendReference(msgspec.Struct, frozen=True):
    """The module and class of a backend; `automatic` ones are candidates without a user's request.

    `Device.automatic=False` wins over the backend's. A `trusted` backend comes with Safelight and
    uses no driver, so it may run before a child process has tried it.
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
    """True if torch is installed and no CPU build; importing torch to ask takes seconds."""
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


def find(name: str) -> BackendReference | None:
    """Return the backend of that name, or None."""
    return next((reference for reference in BACKENDS if reference.name == name), None)


def devices() -> list[Device]:
    """Return all devices of all backends, in order of preference."""
    return [device for reference in BACKENDS for device in reference.create().probe()]
