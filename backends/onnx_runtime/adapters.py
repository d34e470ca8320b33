"""Facts about a provider's device, from the system's list of adapters."""

from backends import hardware
from backends.base import Device, MemoryInfo
from backends.hardware import of_maker, visible_cards, with_hidden


def adapters_of(vendor: str | None = None) -> tuple[hardware.Adapter, ...]:
    """List all adapters in the order of device numbers, or those of a maker.

    A maker's that are hidden from its own runtime are unusable.
    """
    found = hardware.list_adapters()
    return found if vendor is None else with_hidden(of_maker(found, vendor))


def adapter_of(device: Device, vendor: str | None = None) -> hardware.Adapter | None:
    """Return the adapter with a device's number; None if it is gone."""
    adapters, index = adapters_of(vendor), int(device.id)
    return adapters[index] if index < len(adapters) else None


def number_of(device: Device, vendor: str) -> int:
    """Return the number by which a maker's runtime knows a device."""
    return visible_cards(of_maker(hardware.list_adapters(), vendor)).number(int(device.id))


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
