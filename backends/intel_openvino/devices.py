"""OpenVINO's devices on this machine, their properties, and why some are missing.

A GPU is matched with the operating system's adapter by its place on the bus, which Intel's driver
writes into the device's UUID: vendor, device, revision and PCI domain of two bytes each, lowest
first, then bus, device and function (DEVICE_UUID of real machines agrees: see the tests).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends import hardware
from backends.base import BackendError, Device, MemoryInfo, Precision
from backends.hardware import Adapter, PciId
from backends.intel_openvino import options

if TYPE_CHECKING:
    import openvino as ov

BACKEND = "intel_openvino"
_ROOT = Path("/")
_INTEL = 0x8086
_CARD = "DISCRETE"
_GUIDE = "docs.openvino.ai, Configurations for Intel GPU"


class Identity(msgspec.Struct, frozen=True):
    """The model of a GPU and its bus address, such as "0000:03:00.0"."""

    pci: PciId
    address: str


def found(
    core: "ov.Core", adapters: Sequence[Adapter], cpu_name: str, *, rounds: bool = False
) -> list[Device]:
    """List cards, integrated GPUs, the processor, then the NPU, which is never automatic.

    `rounds`: the processor rounds to 8 bits (`backends.intel_openvino.rounding`).
    Intel adapters that are not among OpenVINO's devices are listed with the reason.
    """
    names = list(core.available_devices)
    gpus = [name for name in names if name.startswith("GPU") and _is_intel(core, name)]
    gpus.sort(key=lambda name: not _is_card(core, name))
    listed = [_gpu(core, name, adapters) for name in gpus]
    cpu = Device(BACKEND, "cpu", cpu_name, _cpu_precisions(core, rounds=rounds))
    return [
        *listed,
        cpu,
        *(_npu(core, name) for name in names if name.startswith("NPU")),
        *_unseen(core, adapters, gpus),
    ]


def target(device: Device) -> str:
    """Return OpenVINO's name of a device."""
    return device.id.upper()


def rounding_precisions(device: Device) -> frozenset[Precision]:
    """Return the precisions in which a device rounds what it multiplies with blocks to 8 bits."""
    return options.ROUNDING if Precision.INT8 in device.precisions else frozenset()


def driver(core: "ov.Core", device: Device) -> str:
    """Return the version of a device's driver, or "unknown"."""
    if device.id.startswith("npu"):
        keys = (options.NPU_DRIVER, options.NPU_COMPILER)
        return "/".join(str(_read(core, target(device), key, "unknown")) for key in keys)
    return str(_read(core, target(device), options.GPU_DRIVER, "unknown"))


def gpu_memory(core: "ov.Core", device: Device, adapters: Sequence[Adapter]) -> MemoryInfo:
    """Return a card's memory, or the host's for an integrated GPU.

    OpenVINO reports only the memory that this process holds; the system's figure for free memory,
    if lower, includes what other processes hold.
    """
    name = target(device)
    if not _is_card(core, name):
        return hardware.host_memory()
    adapter = adapter_of(core, name, adapters)
    total = int(_read(core, name, options.GPU_MEMORY, 0))
    if not total and adapter is not None:
        total = adapter.memory_total or 0
    if not total:  # a card without memory would be refused every job
        return hardware.host_memory()
    held = sum(dict(_read(core, name, options.GPU_MEMORY_USED, {})).values())
    free = max(0, total - held)
    if adapter is not None and adapter.memory_free is not None:
        free = min(free, adapter.memory_free)
    return MemoryInfo(total=total, free=free, integrated=False)


def needs_large_buffers(core: "ov.Core", target: str, largest_tensor: int) -> bool:
    """True if a tensor of this size is larger than a GPU's default largest buffer."""
    if not target.startswith("GPU"):
        return False
    limit = int(_read(core, target, options.GPU_LARGEST_BUFFER, 0))
    return 0 < limit < largest_tensor


def require_target(device: Device, runs_on: object) -> None:
    """Raise BackendError if a network was compiled for another device than requested.

    `runs_on`: EXECUTION_DEVICES of the compiled network, a name or several.
    """
    names = [runs_on] if isinstance(runs_on, str) else [str(name) for name in runs_on]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownArgumentType]
    wanted = target(device)
    # A machine's only GPU may be called GPU, GPU.0, or as it was requested.
    aliases = {wanted, wanted.removesuffix(".0"), f"{wanted}.0"}
    elsewhere = [name for name in names if name.strip("()") not in aliases]
    if elsewhere or not names:
        raise BackendError(f"OpenVINO runs it on {', '.join(elsewhere) or 'nothing'}, not {wanted}")


def identity(uuid: str) -> Identity | None:
    """Return model and bus address from a DEVICE_UUID; None if the form is not Intel's."""
    digits = uuid.replace("-", "")
    if not re.fullmatch(r"[0-9a-fA-F]{32}", digits):
        return None
    raw = bytes.fromhex(digits)
    vendor, device, domain = (int.from_bytes(raw[i : i + 2], "little") for i in (0, 2, 6))
    if vendor != _INTEL:
        return None
    return Identity(PciId(vendor, device), f"{domain:04x}:{raw[8]:02x}:{raw[9]:02x}.{raw[10]:x}")


def adapter_of(core: "ov.Core", name: str, adapters: Sequence[Adapter]) -> Adapter | None:
    """Return the adapter of an OpenVINO device; None if it cannot be identified."""
    who = identity(str(_read(core, name, options.UUID, "")))
    if who is None:
        return None
    same = [adapter for adapter in adapters if adapter.pci == who.pci]
    placed = [adapter for adapter in same if adapter.address == who.address]
    return (placed or [adapter for adapter in same if not adapter.address] or [None])[0]


def _gpu(core: "ov.Core", name: str, adapters: Sequence[Adapter]) -> Device:
    """Return a GPU of OpenVINO's as a device; half precision first, if the GPU has it."""
    id_ = name.lower() if "." in name else f"{name.lower()}.0"
    title = str(_read(core, name, options.FULL_NAME, name))
    adapter = adapter_of(core, name, adapters)
    # Drivers call all integrated GPUs of a generation the same; the system may know the name.
    if adapter is not None and adapter.name:
        title = adapter.name
    capabilities = _read(core, name, options.CAPABILITIES, ())
    precisions = (Precision.F16, Precision.F32) if "FP16" in capabilities else (Precision.F32,)
    return Device(BACKEND, id_, title, precisions)


def _npu(core: "ov.Core", name: str) -> Device:
    title = str(_read(core, name, options.FULL_NAME, name))
    return Device(BACKEND, name.lower(), title, (Precision.F16,), automatic=False)


def _cpu_precisions(core: "ov.Core", *, rounds: bool) -> tuple[Precision, ...]:
    """Return single precision, and the others that the processor has instructions for."""
    half = "BF16" in core.get_property("CPU", options.CAPABILITIES)
    return (
        *((Precision.BF16,) if half else ()),
        Precision.F32,
        *((Precision.INT8,) if rounds else ()),
    )


def _unseen(core: "ov.Core", adapters: Sequence[Adapter], gpus: Sequence[str]) -> list[Device]:
    """List Intel adapters that match none of OpenVINO's GPUs."""
    matched = [adapter_of(core, name, adapters) for name in gpus]
    missing = [a for a in adapters if a.pci and a.pci.vendor == _INTEL and a not in matched]
    if None in matched:  # an unidentified GPU may be any of them
        missing = missing[matched.count(None) :]
    taken = {_gpu(core, name, adapters).id for name in gpus}
    ids = (f"gpu.{n}" for n in range(len(gpus) + len(missing)) if f"gpu.{n}" not in taken)
    return [
        Device(BACKEND, id_, adapter.name, unusable=adapter.unusable or why_unseen(core, adapter))
        for id_, adapter in zip(ids, missing, strict=False)
    ]


def why_unseen(
    core: "ov.Core", adapter: Adapter, system: str = sys.platform, root: Path = _ROOT
) -> str:
    """Return a sentence on why OpenVINO lacks an Intel adapter's device, and what to do."""
    try:
        core.get_property("GPU", options.AVAILABLE_DEVICES)
    except RuntimeError as error:
        if "libOpenCL" in str(error):
            return (
                "OpenVINO needs OpenCL, whose loader libOpenCL.so.1 is not installed: install "
                "ocl-icd-libopencl1 and Intel's compute runtime, intel-opencl-icd"
            )
        return f"OpenVINO's GPU plug-in does not start: {error}"
    if system == "win32":
        return "its driver has no OpenCL for OpenVINO: install Intel's current graphics driver"
    return _closed(adapter, root) or (
        "Intel's compute runtime is not installed or does not know it: install intel-opencl-icd "
        f"({_GUIDE})"
    )


def _closed(adapter: Adapter, root: Path) -> str:
    """Return why the adapter's render node may not be opened; empty if it may."""
    drm = root / "sys" / "bus" / "pci" / "devices" / adapter.address / "drm"
    if not adapter.address or not drm.is_dir():
        return ""
    nodes = (root / "dev" / "dri" / entry.name for entry in sorted(drm.glob("renderD*")))
    return next(filter(None, map(hardware.closed_reason, nodes)), "")


def _is_card(core: "ov.Core", name: str) -> bool:
    return str(_read(core, name, options.KIND, "")).endswith(_CARD)


def _is_intel(core: "ov.Core", name: str) -> bool:
    """True for Intel's GPUs: OpenVINO 2026 lists others too, which have better backends."""
    architecture = str(_read(core, name, options.ARCHITECTURE, ""))
    return "vendor=" not in architecture or f"vendor=0x{_INTEL:x}" in architecture


def _read(core: "ov.Core", name: str, key: str, otherwise: Any) -> Any:
    """Return a property, or `otherwise` if the device or this version of OpenVINO lacks it."""
    try:
        return core.get_property(name, key)
    except (RuntimeError, TypeError):  # a type that its Python binding does not know
        return otherwise
