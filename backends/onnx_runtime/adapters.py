"""Facts about a provider's device, from the system's list of adapters."""

from backends import hardware
from backends.base import Device, MemoryInfo


def adapters_of(vendor: str | None = None) -> tuple[hardware.Adapter, ...]:
    """List the adapters of a maker, or all, in the order of device numbers."""
    found = hardware.list_adapters()
    return tuple(adapter for adapter in found if vendor is None or adapter.vendor == vendor)


def adapter_of(device: Device, vendor: str | None = None) -> hardware.Adapter | None:
    """Return the adapter with a device's number; None if it is gone."""
    adapters, index = adapters_of(vendor), int(device.id)
    return adapters[index] if index < len(adapters) else None


def number_of(device: Device, vendor: str) -> int:
    """Return the number by which a maker's runtime knows a device.

    It counts in the order of the bus, and leaves out adapters that its driver does not have, such
    as one that is set aside for a virtual machine.
    """
    adapters, index = adapters_of(vendor), int(device.id)
    usable = [place for place, adapter in enumerate(adapters) if not adapter.unusable]
    usable.sort(key=lambda place: adapters[place].address)
    return usable.index(index) if index in usable else index


def driver_of(adapter: hardware.Adapter | None) -> str:
    """Return the driver's name and version, for fingerprints."""
    return f"{adapter.driver} {adapter.driver_version}" if adapter else "no driver"


def memory_of(adapter: hardware.Adapter | None) -> MemoryInfo:
    """Return an adapter's memory, or the host's memory if it is shared or unknown."""
    host = hardware.host_memory()
    if adapter is None or adapter.integrated or adapter.memory_total is None:
        return host
    free = adapter.memory_total if adapter.memory_free is None else adapter.memory_free
    return MemoryInfo(adapter.memory_total, min(free, adapter.memory_total), integrated=False)
