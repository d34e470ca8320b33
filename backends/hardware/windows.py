"""The adapters of a Windows machine: DXCore lists them, the registry names their drivers."""

import re
from collections.abc import Mapping

import msgspec

from backends.base import MemoryInfo
from backends.hardware.adapter import (
    NVIDIA,
    Adapter,
    PciId,
    no_processor,
    vendor_in,
    vendor_name,
)
from backends.hardware.dxcore import DxcoreAdapter
from backends.hardware.nvidia import hidden_adapter, with_nvml
from backends.hardware.nvml import Nvml
from backends.hardware.registry import RegistryEntry

_NVIDIA_DIGITS = re.compile(r"([0-9])\.([0-9]{2})([0-9]{2})")


def describe(
    present: tuple[DxcoreAdapter, ...] | None,
    registry: tuple[RegistryEntry, ...],
    nvml: Nvml,
    names: Mapping[PciId, str],
    host: MemoryInfo,
) -> tuple[Adapter, ...]:
    """Return the adapters in DXCore's order; without DXCore, those in the registry.

    Microsoft's stand-in for a missing display driver is listed, too.
    """
    if present is None:
        found = [_from_registry(entry, names) for entry in registry]
    else:
        entries = {entry.pci: entry for entry in registry if entry.pci}
        found = [_from_dxcore(adapter, entries, host) for adapter in present]
        if not any(adapter.hardware for adapter in present):
            rest = (entry for entry in registry if "basic display" in entry.description.lower())
            found += [_from_registry(entry, names) for entry in rest]
    return _with_nvml(found, nvml, host)


def _from_dxcore(
    adapter: DxcoreAdapter, entries: Mapping[PciId, RegistryEntry], host: MemoryInfo
) -> Adapter:
    pci = PciId(adapter.vendor, adapter.device)
    entry = entries.get(pci)
    integrated = adapter.integrated if adapter.hardware else None
    total = adapter.dedicated or (entry.memory if entry else None)
    free = None
    if integrated:
        # An integrated adapter has its carve-out and the memory that the system shares with it:
        # half of main memory.
        total = (total or 0) + adapter.shared
        free = min(total, host.free)
    elif adapter.budget is not None and adapter.usage is not None and total:
        free = min(total, max(0, adapter.budget - adapter.usage))
    reason = no_processor(adapter.vendor, adapter.description)
    return Adapter(
        vendor=vendor_name(adapter.vendor),
        name=adapter.description or str(pci),
        pci=pci,
        memory_total=total,
        memory_free=free,
        driver=entry.provider if entry else "",
        driver_version=driver_version(adapter.vendor, adapter.driver_version),
        integrated=integrated,
        unusable=reason or ("" if adapter.hardware else "Windows draws it in software"),
    )


def _from_registry(entry: RegistryEntry, names: Mapping[PciId, str]) -> Adapter:
    vendor = entry.pci.vendor if entry.pci else None
    reason = no_processor(vendor, entry.description)
    if not reason and entry.pci is None:
        reason = "it is a display without a graphics processor"
    given = entry.description or (names.get(entry.pci, "") if entry.pci else "")
    return Adapter(
        vendor=vendor_name(vendor) or vendor_in(entry.provider),
        name=given or str(entry.pci or "display"),
        pci=entry.pci,
        memory_total=entry.memory,
        driver=entry.provider,
        driver_version=driver_version(vendor, entry.version),
        unusable=reason,
    )


def _with_nvml(found: list[Adapter], nvml: Nvml, host: MemoryInfo) -> tuple[Adapter, ...]:
    """Add NVML's facts, matched by PCI id and then by order: Windows lists no bus addresses."""
    left = list(nvml.devices)
    merged: list[Adapter] = []
    for adapter in found:
        numbers = adapter.pci and adapter.pci.device << 16 | adapter.pci.vendor
        device = next((device for device in left if device.pci == numbers), None)
        if device is None:
            merged.append(adapter)
            continue
        left.remove(device)
        merged.append(
            msgspec.structs.replace(with_nvml(adapter, device, nvml, host), address=device.address)
        )
    # Cards used only for computing (TCC) are missing in Windows' list.
    for device in left:
        alone = msgspec.structs.replace(
            hidden_adapter(device.address, device.name, nvml.driver), driver="NVIDIA"
        )
        merged.append(with_nvml(alone, device, nvml, host))
    return tuple(merged)


def driver_version(vendor: int | None, version: str) -> str:
    """Return Windows' version, for NVIDIA in NVIDIA's form: 32.0.15.6094 is 560.94."""
    match = _NVIDIA_DIGITS.search(version[-6:]) if vendor == NVIDIA else None
    return f"{match[1]}{match[2]}.{match[3]}" if match else version
