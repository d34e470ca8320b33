"""NVIDIA's cards as TensorRT sees them: compute capability, driver, and reasons against one."""

import re
from collections.abc import Callable, Iterable

import msgspec

from backends import hardware
from backends.base import BackendError, Device, MemoryInfo, MissingPack, Precision
from backends.hardware import Adapter

Capability = tuple[int, int]
# Open drivers, which have no CUDA (github.com/torvalds/linux, drivers/gpu/drm/nouveau).
_WITHOUT_CUDA = ("nouveau", "nova", "nova_core")
_DRIVER = re.compile(r"([0-9]{3,4})\.([0-9]{1,4})", re.ASCII)
_ARCHITECTURE = re.compile(r"sm_([0-9]{1,2})([0-9])", re.ASCII)
# NVIDIA's names of the generations (developer.nvidia.com/cuda/gpus).
_GENERATIONS = (
    ((12, 0), "Blackwell"),
    ((10, 0), "datacentre Blackwell"),
    ((9, 0), "Hopper"),
    ((8, 9), "Ada"),
    ((8, 6), "Ampere"),
    ((8, 0), "datacentre Ampere"),
    ((7, 5), "Turing"),
    ((7, 0), "Volta"),
    ((6, 0), "Pascal"),
    ((0, 0), "older"),
)


class Card(msgspec.Struct, frozen=True):
    """A card that CUDA can use. `driver` is its version's first two numbers, (0, 0) if unknown."""

    adapter: Adapter
    capability: Capability
    driver: tuple[int, int]

    @property
    def generation(self) -> str:
        """The generation, such as "compute capability 8.9, Ada"."""
        named = next(name for least, name in _GENERATIONS if self.capability >= least)
        return f"compute capability {self.capability[0]}.{self.capability[1]}, {named}"


# A backend's judgement of a card: its precisions there, or why it cannot be used.
Judge = Callable[[Card], tuple[Precision, ...] | MissingPack | str]


def devices(backend: str, adapters: Iterable[Adapter], judge: Judge) -> list[Device]:
    """List NVIDIA's adapters as devices, usable or with the reason; at least one entry."""
    found = [_device(backend, adapter, judge) for adapter in nvidia_adapters(adapters)]
    nothing = Device(backend, "none", "NVIDIA", unusable="no NVIDIA graphics card found")
    return found or [nothing]


def nvidia_adapters(adapters: Iterable[Adapter]) -> tuple[Adapter, ...]:
    """Return NVIDIA's adapters among these; those that are hidden from CUDA are unusable."""
    return hardware.with_hidden(hardware.of_maker(adapters, "NVIDIA"))


def _device(backend: str, adapter: Adapter, judge: Judge) -> Device:
    card = card_of(adapter)
    said = card if isinstance(card, str) else judge(card)
    id_, name = identity(adapter), adapter.name
    if isinstance(said, MissingPack):
        return Device(backend, id_, name, unusable=said.sentence, install=(said.pack,))
    if isinstance(said, str):
        return Device(backend, id_, name, unusable=said)
    return Device(backend, id_, name, said)


def identity(adapter: Adapter) -> str:
    """Return the card's bus address, "0000:01:00.0", or its PCI id if that is unknown."""
    return adapter.address or str(adapter.pci or adapter.name)


def card_of(adapter: Adapter) -> Card | str:
    """Return the card, or why CUDA cannot use it."""
    if adapter.unusable:
        return adapter.unusable
    if adapter.driver in _WITHOUT_CUDA:
        return f"its driver is {adapter.driver}; NVIDIA's own is needed"
    architecture = _ARCHITECTURE.fullmatch(adapter.architecture)
    if not architecture:
        # TensorRT's runtimes query NVML, too.
        return "NVIDIA's driver does not answer (NVML)"
    version = _DRIVER.match(adapter.driver_version)
    return Card(
        adapter,
        (int(architecture[1]), int(architecture[2])),
        (int(version[1]), int(version[2])) if version else (0, 0),
    )


def too_old(card: Card, least: tuple[int, int], what: str) -> str | None:
    """Return a sentence if the driver is older than `what` needs; else None."""
    if card.driver >= least or card.driver == (0, 0):
        return None
    return f"driver {card.adapter.driver_version} is too old: {what} needs {least[0]} or newer"


def adapter_of(device: Device) -> Adapter:
    """Return the present adapter of a device. Raises BackendError if it is gone."""
    for adapter in nvidia_adapters(hardware.list_adapters()):
        if identity(adapter) == device.id:
            return adapter
    raise BackendError(f"{device.name} is no longer there")


def told_of(device: Device) -> str:
    """Return a device's driver, card and architecture for fingerprints, or the card alone."""
    try:
        adapter = adapter_of(device)
    except BackendError:
        return f"without a driver {device.name}"
    return f"driver {adapter.driver_version} {device.name} {adapter.architecture}".rstrip()


def memory_of(device: Device) -> MemoryInfo:
    """Return a device's memory, as NVIDIA's driver reports it. Raises BackendError."""
    adapter = adapter_of(device)
    total, free = adapter.memory_total, adapter.memory_free
    if total is None or free is None:
        raise BackendError(f"NVIDIA's driver does not tell the memory of {device.name}")
    return MemoryInfo(total, free, bool(adapter.integrated))
