"""Our graphs interpreted with torch's operators, for devices without a compiler backend.

Supports the devices of torch's build: CUDA, ROCm, XPU, MPS, and the processor on request. torch is
never installed with the app; a system that has it gets this backend. `builds` finds the build that
it needs, `plan` turns a graph into steps, `operators` maps each to torch, `session` runs them.
`segments` are the steps whose weights `streaming` copies to a device that is too small for all.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# (torch is absent from the environment that is type-checked)

import os
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import msgspec

from backends import hardware
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
    Progress,
    RunCancelled,
    Session,
    Streaming,
    WorkingMemory,
)
from backends.forms import (
    AttentionForm,
    BlockForm,
    GeluForm,
    GroupNormForm,
    LinearForm,
    UpsamplingForm,
)
from backends.torch_device import devices
from backends.torch_device.builds import pack_for

_NOT_INSTALLED = "torch is not installed"
_IMPORT_FAULTS = (ImportError, OSError, RuntimeError, AttributeError, NameError, ValueError)


class TorchOptions(msgspec.Struct, frozen=True):
    """Options that are faster on some devices only; off by default until measured on them."""

    # Record the second run of a shape as one launch (CUDA and ROCm).
    cuda_graphs: bool = False
    # Let torch.compile write kernels, which takes a minute or more and a C++ compiler.
    compiled: bool = False

    @staticmethod
    def named(words: str) -> "TorchOptions":
        """Parse the value of SAFELIGHT_TORCH: "graphs", "compile", or both."""
        return TorchOptions("graphs" in words, "compile" in words)


class TorchBackend(Backend):
    """Every device that torch computes on."""

    name = devices.BACKEND

    def __init__(self, options: TorchOptions | None = None) -> None:
        self._options = options or TorchOptions.named(os.environ.get("SAFELIGHT_TORCH", ""))

    def probe(self) -> list[Device]:
        """List accelerators, then the processor. Never raises."""
        torch = _torch()
        if isinstance(torch, str):
            name = hardware.cpu_name()
            install = pack_for(hardware.list_adapters()) if torch == _NOT_INSTALLED else ()
            return [
                Device(self.name, "cpu", name, unusable=torch, automatic=False, install=install)
            ]
        return devices.found(torch)

    def operators(self, device: Device) -> OperatorSet:
        """Return the operator forms that are single operators of torch."""
        return OperatorSet(
            opset=23,
            elements=(DType.F32, DType.F16, DType.BF16),
            attention=AttentionForm.STANDARD,
            group_norm=GroupNormForm.STANDARD,
            gelu=GeluForm.STANDARD,
            linear=LinearForm.FUSED_MATMUL,
            upsampling=_upsampling(device),
            blocks=BlockForm(),
            # Metal's memory is the host's, and torch has no streams for it.
            streaming=None if device.id == "mps" else Streaming(tables_on_host=True),
        )

    def fingerprint(self, device: Device) -> str:
        """Return the versions of torch and of its libraries or driver, and the device."""
        torch = _torch()
        if isinstance(torch, str):
            return f"torch {_installed_version()} {device.name}"
        return f"torch {torch.__version__} {device.name} {devices.runtime(torch, device)}"

    def memory(self, device: Device) -> MemoryInfo:
        """Return the device's own memory, or the host's. Raises BackendError if it is lost."""
        torch = _torch()
        if isinstance(torch, str):
            return hardware.host_memory()
        try:
            return devices.memory(torch, device)
        except devices.FAULTS as error:
            raise BackendError(f"torch does not reach {device.name}: {error}") from error

    def working_memory(self, device: Device) -> WorkingMemory:
        """Return what results take that are freed as soon as no step needs them."""
        return WorkingMemory(run_share=1.0, least_run_bytes=0)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session, its weights on the device. Raises BackendError or RunCancelled."""
        if cancel.is_set():
            raise RunCancelled
        torch = _torch()
        if isinstance(torch, str):
            raise BackendError(torch)
        from backends.torch_device.session import TorchSession

        return TorchSession(graph, device, self._options, progress, cancel)


def _upsampling(device: Device) -> UpsamplingForm:
    """Return the form with summed kernels for the processor, where less arithmetic is faster.

    Elsewhere a transposed convolution is a gradient kernel, which in cuDNN is not always
    deterministic.
    """
    return UpsamplingForm.TRANSPOSED if device.id == "cpu" else UpsamplingForm.RESIZE


def _torch() -> Any:
    """Return the torch module, or why there is none."""
    if find_spec("torch") is None:
        return _NOT_INSTALLED
    try:
        import torch
    except _IMPORT_FAULTS as error:
        return f"torch {_installed_version()} does not start: {error}"
    return torch


def _installed_version() -> str:
    try:
        return version("torch")
    except PackageNotFoundError:
        return "none"
