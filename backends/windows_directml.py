"""DirectML on any graphics processor with Direct3D 12: the last resort on Windows.

A provider of `onnxruntime-directml`, frozen at ONNX Runtime 1.24, and of `onnxruntime-windowsml`.
Never run by us: written from its documentation
(https://onnxruntime.ai/docs/execution-providers/DirectML-ExecutionProvider.html) and source.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportUnknownParameterType=false, reportAttributeAccessIssue=false
# (the runtime ships no complete types)

import sys
from typing import TYPE_CHECKING

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
from backends.onnx_runtime.adapters import adapter_of, adapters_of, driver_of, memory_of
from backends.onnx_runtime.installed import installed, lacks, unusable
from backends.onnx_runtime.provider import Provider

if TYPE_CHECKING:
    import onnxruntime as ort

_PROVIDER = "DmlExecutionProvider"
_DISTRIBUTION = "onnxruntime-directml"
_HAVE_IT = (_DISTRIBUTION, "onnxruntime-windowsml")
# The newer one first.
_PACKS = ("windows-ml", "windows-directml")


def provider(device: "ort.OrtEpDevice") -> Provider:
    """Return the provider on one of its devices, whose options include the adapter's number."""
    return Provider(_PROVIDER, devices=(device,))


class DirectMlBackend(Backend):
    """Graphics processors of any make on Windows."""

    name = "windows_directml"

    def probe(self) -> list[Device]:
        """List every adapter, usable or with the reason why not. Never raises."""
        if sys.platform != "win32":
            return [self._device(0, "graphics", "DirectML is a part of Windows")]
        adapters = adapters_of()
        if not adapters:
            return [self._device(0, "graphics", "Windows lists no graphics processor")]
        missing = unusable(_PROVIDER, _DISTRIBUTION)
        install = _PACKS if missing and all(map(lacks, _HAVE_IT)) else ()
        return [
            self._device(i, a.name, a.unusable or missing, () if a.unusable else install)
            for i, a in enumerate(adapters)
        ]

    def _device(
        self, index: int, name: str, reason: str | None, install: tuple[str, ...] = ()
    ) -> Device:
        precisions = () if reason else (Precision.F16, Precision.F32)
        identity = str(index)
        return Device(self.name, identity, name, precisions, unusable=reason, install=install)

    def operators(self, device: Device) -> OperatorSet:
        """Return the operator forms of opset 19, for which every operator has a kernel.

        DirectML's MultiHeadAttention ignores `unidirectional`, so attention is primitive.
        """
        return OperatorSet(opset=19, elements=(DType.F32, DType.F16))

    def fingerprint(self, device: Device) -> str:
        """Return the build of ONNX Runtime, which includes DirectML, the driver and the adapter."""
        return f"{installed()} {driver_of(adapter_of(device))} {device.name}"

    def memory(self, device: Device) -> MemoryInfo:
        """Return the adapter's memory, or the host's if Windows does not report it."""
        return memory_of(adapter_of(device))

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session for the graph. Raises BackendError or RunCancelled."""
        if cancel.is_set():
            raise RunCancelled
        missing = unusable(_PROVIDER, _DISTRIBUTION)
        if missing:
            raise BackendError(missing)
        from backends.onnx_runtime.bound import Binding
        from backends.onnx_runtime.session import OnnxRuntimeSession
        from backends.onnx_runtime.static import quiet_options

        options = quiet_options()
        # DirectML's provider refuses sessions with memory patterns, and parallel ones.
        options.enable_mem_pattern = False
        chosen = provider(_listed(device))
        return OnnxRuntimeSession(graph, options, chosen, cancel, binding=Binding.IF_IT_WORKS)


def _listed(device: Device) -> "ort.OrtEpDevice":
    """Return the provider's device for an adapter: DXGI numbers adapters in its own order.

    Two cards of the same model are distinguished by their order. Raises BackendError.
    """
    import onnxruntime as ort

    adapters, index = adapters_of(), int(device.id)
    wanted = adapters[index].pci if index < len(adapters) else None
    if wanted is not None:
        same = [
            d
            for d in ort.get_ep_devices()
            if d.ep_name == _PROVIDER
            and (d.device.vendor_id, d.device.device_id) == (wanted.vendor, wanted.device)
        ]
        place = sum(adapter.pci == wanted for adapter in adapters[:index])
        if place < len(same):
            return same[place]
    raise BackendError(f"DirectML does not list {device.name}")
