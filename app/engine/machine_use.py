"""The hardware that pictures are made on: the graphics card that is used, or none."""

from engine.api.machine import AdapterInfo, DeviceInfo, MachineInfo


def used_adapter(machine: MachineInfo, device: DeviceInfo) -> AdapterInfo | None:
    """Return the display adapter that a device is; None if it is the processor.

    Runtimes and the system may spell an adapter's name differently. Apple calls a processor and its
    graphics by one name: there the backend tells which is meant.
    """
    name = device.name.casefold()
    is_processor = name == machine.processor.casefold()
    for adapter in machine.adapters:
        other = adapter.name.casefold()
        can_be = not is_processor or device.backend in adapter.backends
        if name and can_be and (name in other or other in name):
            return adapter
    if is_processor:
        return None
    return next(
        (adapter for adapter in machine.adapters if device.backend in adapter.backends), None
    )


def idle_adapter(machine: MachineInfo, device: DeviceInfo | None) -> AdapterInfo | None:
    """Return a graphics card of its own memory that is not used; None if there is none."""
    used = used_adapter(machine, device) if device is not None else None
    if used is not None:
        return None
    return next((adapter for adapter in machine.adapters if adapter.integrated is False), None)
