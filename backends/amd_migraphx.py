"""AMD's graph compiler on Radeon and Instinct cards, through ONNX Runtime.

On Linux it is a provider built into AMD's ONNX Runtime (`onnxruntime-migraphx`) or a plug-in
(`onnxruntime-ep-migraphx`), both with an installed ROCm; on Windows it comes from Windows ML's
catalog. Never run by us: written from the documentation and sources of ROCm/AMDMIGraphX,
microsoft/onnxruntime and onnxruntime/onnxruntime-ep-amdgpu.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportUnknownParameterType=false
# (the runtime ships no complete types)

import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backends import hardware
from backends.base import (
    Artifact,
    Backend,
    BackendError,
    Cancellation,
    Compilation,
    Device,
    DType,
    Graph,
    MemoryInfo,
    OperatorSet,
    Precision,
    Progress,
    Session,
    ShapeProfile,
    ShapeSupport,
)
from backends.hardware import Adapter
from backends.onnx_runtime.adapters import (
    adapter_of,
    adapters_of,
    driver_of,
    memory_of,
    number_of,
)
from backends.onnx_runtime.installed import (
    installed,
    lacks,
    library_fault,
    package_version,
    unusable,
)
from backends.onnx_runtime.plugins import plugin_devices
from backends.onnx_runtime.provider import Provider
from backends.onnx_runtime.windows_ml import catalog_devices
from backends.preference import MIGRAPHX

if TYPE_CHECKING:
    import onnxruntime as ort

_VENDOR = "AMD"
_PROVIDER = "MIGraphXExecutionProvider"
_DISTRIBUTION = "onnxruntime-migraphx"
_PLUGIN = "onnxruntime_ep_migraphx"
_ROCM_VERSION = Path("/opt/rocm/.info/version")


class _Source(msgspec.Struct, frozen=True):
    """The source of the provider: a plug-in's `devices`, or ONNX Runtime itself; or `missing`."""

    devices: "tuple[ort.OrtEpDevice, ...]" = ()
    missing: str | None = None


def built_in(index: int, cache: Path | None) -> Provider:
    """Return the provider built into ONNX Runtime, on the card with HIP's number `index`."""
    options = {"device_id": str(index)}
    if cache is not None:
        options["migraphx_model_cache_dir"] = str(cache)
    return Provider(_PROVIDER, options)


def plugged_in(device: "ort.OrtEpDevice", cache: Path | None) -> Provider:
    """Return the plug-in's provider on one of its devices."""
    options = {} if cache is None else {"cache_dir": str(cache)}
    return Provider(_PROVIDER, options, devices=(device,))


class MiGraphXBackend(Backend):
    """AMD's graphics processors through MIGraphX."""

    name = "amd_migraphx"

    def probe(self) -> list[Device]:
        """List AMD's adapters, each usable or with the reason why not. Never raises."""
        adapters = adapters_of(_VENDOR)
        if not adapters:
            return [self._device(0, "AMD graphics", "no AMD graphics card found")]
        missing = _source().missing
        return [self._judged(i, adapter, missing) for i, adapter in enumerate(adapters)]

    def _judged(self, index: int, adapter: Adapter, missing: str | None) -> Device:
        reason = adapter.unusable or _without_support(adapter.architecture)
        if not reason and sys.platform == "linux":
            # Of all that is missing the cheapest to mend comes first.
            reason = hardware.rocm_closed_reason()
        install = _packs() if missing and not reason else ()
        return self._device(index, adapter.name, reason or missing, install)

    def _device(
        self, index: int, name: str, reason: str | None, install: tuple[str, ...] = ()
    ) -> Device:
        precisions = () if reason else (Precision.F16, Precision.F32)
        identity = str(index)
        return Device(self.name, identity, name, precisions, unusable=reason, install=install)

    def operators(self, device: Device) -> OperatorSet:
        """Return the operator forms that MIGraphX documents, up to opset 19.

        MIGraphX itself detects primitive attention.
        """
        return OperatorSet(opset=19, elements=(DType.F32, DType.F16))

    def fingerprint(self, device: Device) -> str:
        """Return the versions of ONNX Runtime, the plug-in, ROCm and the driver, and the card."""
        driver = driver_of(adapter_of(device, _VENDOR))
        plugin = package_version(_PLUGIN) or "no plug-in"
        return f"{installed()} {plugin} ROCm {_rocm_version()} {driver} {device.name}"

    def memory(self, device: Device) -> MemoryInfo:
        """Return the adapter's memory, or the host's if the system does not report it."""
        return memory_of(adapter_of(device, _VENDOR))

    def compilation(self, device: Device) -> Compilation | None:
        """Return the properties: one program per size, which contains the weights."""
        return Compilation(ShapeSupport.STATIC, carries_weights=True)

    def compile(
        self,
        graph: Graph,
        device: Device,
        profile: ShapeProfile,
        folder: Path,
        progress: Progress,
        cancel: Cancellation,
    ) -> Artifact | None:
        """Compile for the profile's optimum sizes. Raises BackendError or RunCancelled."""
        from backends.onnx_runtime.static import compile_static

        return compile_static(graph, _provider_for(device), profile, folder, progress, cancel)

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        """Return a session for the graph. Raises BackendError or RunCancelled."""
        from backends.onnx_runtime.static import load_static

        return load_static(graph, _provider_for(device), artifact, progress, cancel)


def _packs() -> tuple[str, ...]:
    """Return the runtime pack that has the provider on this system, unless it is installed."""
    if sys.platform == "win32":
        return () if find_spec("windowsml") else ("windows-ml",)
    return ("amd-migraphx",) if lacks(_DISTRIBUTION) and not package_version(_PLUGIN) else ()


def _without_support(architecture: str) -> str | None:
    if architecture and architecture not in MIGRAPHX:
        return f"AMD does not list {architecture} for MIGraphX"
    return None


def _source() -> _Source:
    """Return the first available source of MIGraphX's provider, or the reason for none."""
    if sys.platform == "win32":
        try:
            return _Source(catalog_devices(_PROVIDER))
        except BackendError as error:
            return _Source(missing=str(error))
    missing = unusable(_PROVIDER, _DISTRIBUTION)
    if missing is None:
        fault = library_fault("migraphx")
        return _Source(missing=f"ROCm is absent or of another version: {fault}" if fault else None)
    if package_version(_PLUGIN) is None:
        return _Source(missing=missing)
    try:
        return _Source(plugin_devices(_PLUGIN))
    except BackendError as error:
        return _Source(missing=str(error))


def _provider_for(device: Device) -> "partial[Provider]":
    source, index = _source(), number_of(device, _VENDOR)
    if source.missing:
        raise BackendError(source.missing)
    if not source.devices:
        return partial(built_in, index)
    if index >= len(source.devices):
        raise BackendError(f"MIGraphX does not list {device.name}")
    return partial(plugged_in, source.devices[index])


def _rocm_version() -> str:
    try:
        return _ROCM_VERSION.read_text().strip()
    except OSError:
        return "none"
