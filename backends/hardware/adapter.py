"""A display adapter, described alike on Windows, macOS and Linux."""

from collections.abc import Iterable, Mapping
from enum import Enum

import msgspec


class PciId(msgspec.Struct, frozen=True):
    """Maker and model of a PCI device; printed as lspci does, `10de:2684`."""

    vendor: int
    device: int

    def __str__(self) -> str:
        return f"{self.vendor:04x}:{self.device:04x}"


class Adapter(msgspec.Struct, frozen=True):
    """A display adapter. An empty text or None means that the system does not report the value.

    Memory is in bytes: the adapter's own, or the part of the host's that an integrated adapter may
    use. `unusable` says why no backend can compute on the adapter.
    """

    vendor: str
    name: str
    pci: PciId | None = None
    # The place on the bus: "0000:01:00.0" on Linux.
    address: str = ""
    memory_total: int | None = None
    memory_free: int | None = None
    driver: str = ""
    driver_version: str = ""
    integrated: bool | None = None
    # "sm_89" for compute capability 8.9, or "gfx1103"; empty if the driver does not report it.
    architecture: str = ""
    # "GPU-" and 32 hexadecimal digits in groups, by which CUDA knows it; empty for other makers.
    uuid: str = ""
    unusable: str = ""


def of_maker(adapters: Iterable[Adapter], vendor: str) -> tuple[Adapter, ...]:
    """Return the adapters of one maker among these, in order."""
    return tuple(adapter for adapter in adapters if adapter.vendor == vendor)


class Role(Enum):
    """The kind of a vendor's display devices."""

    GPU = "a graphics processor"
    VIRTUAL = "the display of a virtual machine, not a graphics processor"
    BOARD = "the display of a server's management controller, not a graphics processor"


class Vendor(msgspec.Struct, frozen=True):
    """A maker of display adapters."""

    name: str
    role: Role = Role.GPU


AMD, NVIDIA, INTEL, APPLE, MICROSOFT = 0x1002, 0x10DE, 0x8086, 0x106B, 0x1414
# AMD's processors and chipsets, as opposed to its GPUs.
AMD_PROCESSORS = 0x1022

VENDORS: Mapping[int, Vendor] = {
    AMD: Vendor("AMD"),
    NVIDIA: Vendor("NVIDIA"),
    INTEL: Vendor("Intel"),
    APPLE: Vendor("Apple"),
    0x5143: Vendor("Qualcomm"),
    0x1ED5: Vendor("Moore Threads"),
    MICROSOFT: Vendor("Microsoft", Role.VIRTUAL),
    0x15AD: Vendor("VMware", Role.VIRTUAL),
    0x80EE: Vendor("VirtualBox", Role.VIRTUAL),
    0x1234: Vendor("QEMU", Role.VIRTUAL),
    0x1AF4: Vendor("Red Hat", Role.VIRTUAL),
    0x1B36: Vendor("Red Hat", Role.VIRTUAL),
    0x1AB8: Vendor("Parallels", Role.VIRTUAL),
    0x5853: Vendor("Xen", Role.VIRTUAL),
    0x1013: Vendor("Cirrus Logic", Role.VIRTUAL),
    0x1D0F: Vendor("Amazon", Role.VIRTUAL),
    0x1A03: Vendor("ASPEED", Role.BOARD),
    0x102B: Vendor("Matrox", Role.BOARD),
    0x126F: Vendor("Silicon Motion", Role.BOARD),
    0x19E5: Vendor("Huawei", Role.BOARD),
}

# Parts of the names, in lower case, of displays drawn by a processor or a program.
_SOFTWARE = ("llvmpipe", "softpipe", "swiftshader", "basic render", "basic display")
_VIRTUAL = (
    "virtual",
    "paravirtual",
    "hyper-v",
    "remote display",
    "indirect display",
    "displaylink",
    "spacedesk",
    "vmware",
    "virtio",
    "qxl",
    "parallels",
    "citrix",
)


def vendor_name(vendor: int | None) -> str:
    """Return the maker's name, or its PCI number if it is unknown."""
    if vendor is None:
        return ""
    known = VENDORS.get(vendor)
    return known.name if known else f"vendor {vendor:04x}"


def vendor_in(text: str) -> str:
    """Return the maker named in a text such as "NVIDIA GeForce RTX 4070", or ""."""
    words = text.lower()
    if "geforce" in words or "quadro" in words:
        return "NVIDIA"
    if "radeon" in words or "advanced micro devices" in words:
        return "AMD"
    names = (vendor.name for vendor in VENDORS.values())
    return next((name for name in names if name.lower() in words), "")


def no_processor(vendor: int | None, name: str) -> str:
    """Return why an adapter is not a graphics processor; empty if it is or may be one."""
    words = name.lower()
    if any(part in words for part in _SOFTWARE):
        return "it is drawn in software; no driver of a graphics processor is at work"
    known = VENDORS.get(vendor) if vendor is not None else None
    if known is not None and known.role is not Role.GPU:
        return f"it is {known.role.value}"
    if any(part in words for part in _VIRTUAL):
        return f"it is {Role.VIRTUAL.value}"
    return ""
