"""The hardware of this machine, as the engine tells the app of it."""

from backends.hardware import Adapter, cpu_name, host_memory, list_adapters
from backends.preference import backends_for
from engine.api.machine import AdapterInfo, MachineInfo


def this_machine() -> MachineInfo:
    """Return the processor, the memory and the display adapters; reads the system anew."""
    return MachineInfo(
        processor=cpu_name(),
        memory_total_bytes=host_memory().total,
        adapters=tuple(map(_info, list_adapters())),
    )


def _info(adapter: Adapter) -> AdapterInfo:
    return AdapterInfo(
        vendor=adapter.vendor,
        name=adapter.name,
        pci=str(adapter.pci or ""),
        memory_total_bytes=adapter.memory_total,
        driver=adapter.driver,
        driver_version=adapter.driver_version,
        integrated=adapter.integrated,
        architecture=adapter.architecture,
        backends=backends_for(adapter),
        unusable=adapter.unusable,
    )
