"""Second opinions on the adapters: ONNX Runtime's list, torchruntime's database.

They are used only to show disagreements; detection does not depend on them.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import msgspec

from backends.hardware.adapter import AMD, APPLE, INTEL, NVIDIA, VENDORS, Adapter, PciId
from backends.hardware.names import DatabaseEntry, torchruntime_entries

_BINDINGS = "onnxruntime.capi.onnxruntime_pybind11_state"
_GPU_VENDORS = (AMD, NVIDIA, INTEL)


class RuntimeDevice(msgspec.Struct, frozen=True):
    """A GPU as ONNX Runtime lists it; `discrete` is None if the list does not say."""

    pci: PciId
    discrete: bool | None


def second_opinions(adapters: Sequence[Adapter]) -> tuple[str, ...]:
    """Return a sentence for each tool that identifies one of these adapters differently."""
    numbers = {adapter.pci for adapter in adapters if adapter.pci}
    entries = torchruntime_entries(numbers)
    return (*database_differences(adapters, entries), *runtime_differences(adapters, _listed()))


def database_differences(
    adapters: Sequence[Adapter], entries: Sequence[DatabaseEntry]
) -> tuple[str, ...]:
    """Return a sentence per adapter that is a card only to us, or only to torchruntime."""
    known = {entry.pci: entry.discrete for entry in entries}
    return tuple(
        f"torchruntime's database takes {adapter.name} for {_kind(not adapter.integrated)}; "
        f"here it is {_kind(adapter.integrated)}."
        for adapter in adapters
        if adapter.pci in known and adapter.integrated is known[adapter.pci]
    )


def runtime_differences(
    adapters: Sequence[Adapter], listed: Sequence[RuntimeDevice] | None
) -> tuple[str, ...]:
    """Return a sentence per GPU that ONNX Runtime lists differently, or that one list lacks."""
    return tuple(_runtime_differences(adapters, listed)) if listed is not None else ()


def _runtime_differences(
    adapters: Sequence[Adapter], listed: Sequence[RuntimeDevice]
) -> Iterator[str]:
    theirs = {device.pci: device for device in listed}
    ours = {adapter.pci for adapter in adapters}
    for device in listed:
        vendor = VENDORS.get(device.pci.vendor)
        # Apple's GPUs have no numbers to compare.
        if device.pci not in ours and device.pci.vendor != APPLE:
            maker = f"{vendor.name} " if vendor else ""
            yield f"ONNX Runtime lists a GPU that the system does not: {maker}{device.pci}."
    for adapter in adapters:
        if not adapter.pci or adapter.unusable or adapter.pci.vendor not in _GPU_VENDORS:
            continue
        device = theirs.get(adapter.pci)
        if device is None:
            yield f"ONNX Runtime does not list {adapter.name}."
        elif adapter.integrated is not None and device.discrete == adapter.integrated:
            yield (
                f"ONNX Runtime takes {adapter.name} for {_kind(not device.discrete)}; "
                f"here it is {_kind(adapter.integrated)}."
            )


def _kind(integrated: bool | None) -> str:
    return "part of the processor" if integrated else "a card of its own"


def _listed() -> tuple[RuntimeDevice, ...] | None:
    """Return ONNX Runtime's list; None if it is not installed or too old for a list."""
    if not find_spec("onnxruntime"):
        return None
    try:
        bindings: Any = import_module(_BINDINGS)
        devices: Any = bindings.get_hardware_devices()
    except (ImportError, AttributeError, RuntimeError):
        return None
    return tuple(runtime_device(device) for device in devices if device.type.name == "GPU")


def runtime_device(device: Any) -> RuntimeDevice:
    """Read an OrtHardwareDevice: vendor_id, device_id, and "Discrete" in its metadata."""
    said = dict(device.metadata).get("Discrete")
    return RuntimeDevice(
        pci=PciId(device.vendor_id, device.device_id),
        discrete=None if said is None else said == "1",
    )
