"""Every backend, in order of preference. Nothing of a vendor is imported before it is asked for."""

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import cast

from backends.base import Backend, Device


@dataclass(frozen=True, slots=True)
class BackendReference:
    """Where a backend is defined; `automatic` ones are candidates when the user has no wish.

    A device that is not automatic is none even of an automatic backend.
    """

    name: str
    module: str
    type_name: str
    automatic: bool = True

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
    BackendReference("nvidia_cuda", "backends.nvidia_cuda", "CudaBackend"),
    BackendReference(
        "torch_device", "backends.torch_device", "TorchBackend", automatic=_torch_may_accelerate()
    ),
    BackendReference("intel_openvino", "backends.intel_openvino", "OpenVinoBackend"),
    BackendReference("cpu", "backends.cpu", "CpuBackend"),
    BackendReference("null", "backends.null", "NullBackend", automatic=False),
)


def find(name: str) -> BackendReference | None:
    """The backend of that name, or None."""
    return next((reference for reference in BACKENDS if reference.name == name), None)


def devices() -> list[Device]:
    """All devices of all backends, in order of preference."""
    return [device for reference in BACKENDS for device in reference.create().probe()]
