"""The adapters of a Linux machine, from sysfs and procfs, without starting a program.

Files: PCI (Documentation/ABI/testing/sysfs-bus-pci), amdgpu's mem_info_* and gpu_metrics
(Documentation/gpu/amdgpu), the KFD topology, /proc/driver/nvidia. In a container without /sys the
files of NVIDIA's driver remain.
"""

import platform
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from backends.base import MemoryInfo
from backends.hardware.adapter import (
    AMD,
    AMD_PROCESSORS,
    INTEL,
    MICROSOFT,
    NVIDIA,
    Adapter,
    PciId,
    no_processor,
    vendor_name,
)
from backends.hardware.intel_memory import CardMemory, read_card_memory
from backends.hardware.numbers import decimal, hexadecimal
from backends.hardware.nvidia import hidden_adapter, nvidia_models, version_in, with_nvml
from backends.hardware.nvml import Nvml
from backends.hardware.reading import entries, link_name, read_bytes, read_text

_DISPLAY, _ACCELERATOR = 0x03, 0x12
# Drivers that reserve a device for a virtual machine.
_SET_ASIDE = ("vfio-pci", "pci-stub", "pciback", "xen-pciback")


class PciFiles(msgspec.Struct, frozen=True):
    """One function of a PCI device: the contents of its sysfs files; `kind` is its class code."""

    address: str
    vendor: str
    device: str
    kind: str
    driver: str = ""
    product: str = ""
    vram_total: str = ""
    vram_used: str = ""
    gtt_total: str = ""
    gtt_used: str = ""
    metrics: bytes = b""
    card_memory: CardMemory | None = None

    @property
    def pci(self) -> PciId | None:
        """The PCI numbers, if the files hold any."""
        vendor, device = hexadecimal(self.vendor), hexadecimal(self.device)
        return None if vendor is None or device is None else PciId(vendor, device)

    @property
    def is_adapter(self) -> bool:
        """True for displays, and for AMD's Instinct cards, which have none."""
        kind = (hexadecimal(self.kind) or 0) >> 16
        return kind == _DISPLAY or (kind == _ACCELERATOR and hexadecimal(self.vendor) == AMD)


class LinuxFiles(msgspec.Struct, frozen=True):
    """The contents of all files read: PCI functions, KFD's nodes, NVIDIA's texts, versions."""

    functions: tuple[PciFiles, ...] = ()
    kfd_nodes: tuple[str, ...] = ()
    nvidia_gpus: tuple[str, ...] = ()
    nvidia_version: str = ""
    modules: tuple[tuple[str, str], ...] = ()
    kernel: str = ""

    @property
    def adapters(self) -> tuple[PciFiles, ...]:
        """The PCI functions that are display adapters."""
        return tuple(function for function in self.functions if function.is_adapter)


def read(
    root: Path, card_memory: Callable[[Path, str], CardMemory | None] = read_card_memory
) -> LinuxFiles:
    """Read the files under `root`, which is / except in tests."""
    functions = tuple(
        _read_function(folder, root, card_memory)
        for folder in entries(root / "sys/bus/pci/devices")
    )
    drivers = sorted({function.driver for function in functions if function.is_adapter} - {""})
    nvidia = root / "proc/driver/nvidia"
    nodes = entries(root / "sys/class/kfd/kfd/topology/nodes")
    return LinuxFiles(
        functions=functions,
        kfd_nodes=tuple(read_text(node / "properties") for node in nodes),
        nvidia_gpus=tuple(read_text(gpu / "information") for gpu in entries(nvidia / "gpus")),
        nvidia_version=read_text(nvidia / "version"),
        modules=tuple(
            (name, read_text(root / "sys/module" / name / "version")) for name in drivers
        ),
        kernel=platform.release(),
    )


def _read_function(
    folder: Path, root: Path, card_memory: Callable[[Path, str], CardMemory | None]
) -> PciFiles:
    function = PciFiles(
        address=folder.name,
        vendor=read_text(folder / "vendor"),
        device=read_text(folder / "device"),
        kind=read_text(folder / "class"),
        driver=link_name(folder / "driver"),
    )
    if not function.is_adapter:
        return function
    nodes = [entry.name for entry in entries(folder / "drm") if entry.name.startswith("renderD")]
    return msgspec.structs.replace(
        function,
        product=read_text(folder / "product_name"),
        vram_total=read_text(folder / "mem_info_vram_total"),
        vram_used=read_text(folder / "mem_info_vram_used"),
        gtt_total=read_text(folder / "mem_info_gtt_total"),
        gtt_used=read_text(folder / "mem_info_gtt_used"),
        metrics=read_bytes(folder / "gpu_metrics", 4),
        card_memory=card_memory(root / "dev/dri" / nodes[0], function.driver) if nodes else None,
    )


def describe(
    files: LinuxFiles, nvml: Nvml, names: Mapping[PciId, str], host: MemoryInfo
) -> tuple[Adapter, ...]:
    """Return the adapters in bus order, then those that only NVIDIA's driver lists."""
    found = [_describe(function, files, names, host) for function in files.adapters]
    found = list(_with_texts(found, files))
    return _with_nvml(found, nvml, host)


def _describe(
    function: PciFiles, files: LinuxFiles, names: Mapping[PciId, str], host: MemoryInfo
) -> Adapter:
    pci = function.pci
    vendor = pci.vendor if pci else None
    given = function.product or (names.get(pci, "") if pci else "")
    integrated = _integrated(function, files)
    total, free = _memory(function, integrated, host)
    return Adapter(
        vendor=vendor_name(vendor),
        name=given or f"{vendor_name(vendor) or 'unknown'} {pci or 'display'}",
        pci=pci,
        address=function.address,
        memory_total=total,
        memory_free=free,
        driver=function.driver,
        driver_version=_driver_version(function.driver, files),
        integrated=integrated,
        architecture=_amd_architecture(function, files.kfd_nodes),
        unusable=_unusable(function, given),
    )


def _integrated(function: PciFiles, files: LinuxFiles) -> bool | None:
    pci = function.pci
    on_first_bus = _bus(function.address) == 0
    if pci is None or pci.vendor not in (AMD, NVIDIA, INTEL):
        return None
    if pci.vendor == NVIDIA:
        return False
    if pci.vendor == INTEL:
        return function.card_memory is None and on_first_bus
    # gpu_metrics begins with a length (2 bytes) and its format: 1 for cards, 2 and 3 for APUs.
    if len(function.metrics) > 2 and function.metrics[2] in (1, 2, 3):
        return function.metrics[2] != 1
    # A GPU inside a processor shares its slot with the processor's other parts.
    slot = function.address.rpartition(".")[0]
    neighbours = (other.pci for other in files.functions if other.address.startswith(slot + "."))
    return on_first_bus or any(other and other.vendor == AMD_PROCESSORS for other in neighbours)


def _memory(
    function: PciFiles, integrated: bool | None, host: MemoryInfo
) -> tuple[int | None, int | None]:
    """Return total and free bytes; an APU's include the host memory amdgpu may map (GTT)."""
    if function.card_memory is not None:
        return function.card_memory.total, function.card_memory.free
    total, used = decimal(function.vram_total), decimal(function.vram_used)
    if total is None:
        return (host.total, host.free) if integrated else (None, None)
    if integrated:
        total += decimal(function.gtt_total) or 0
        used = None if used is None else used + (decimal(function.gtt_used) or 0)
    return total, None if used is None else max(0, total - used)


def _driver_version(driver: str, files: LinuxFiles) -> str:
    """Return the module's own version, or the kernel's for a module without one."""
    if not driver:
        return ""
    own = dict(files.modules).get(driver, "")
    return own or f"Linux {files.kernel}"


def _unusable(function: PciFiles, name: str) -> str:
    pci = function.pci
    if pci and pci.vendor == MICROSOFT and function.driver == "dxgkrnl":
        return "it stands for the GPUs of the Windows host; only NVIDIA's driver reaches them"
    reason = no_processor(pci.vendor if pci else None, name)
    if reason:
        return reason
    if function.driver in _SET_ASIDE:
        return f"it is set aside for a virtual machine ({function.driver})"
    return "" if function.driver else "no driver is loaded for it"


def _amd_architecture(function: PciFiles, nodes: tuple[str, ...]) -> str:
    """Return "gfx1103" for KFD's gfx_target_version 110003; nodes match by their bus address."""
    for node in nodes:
        facts = dict(_facts(node))
        place, domain = facts.get("location_id", 0), facts.get("domain", 0)
        address = f"{domain:04x}:{place >> 8:02x}:{place >> 3 & 31:02x}.{place & 7}"
        version = facts.get("gfx_target_version", 0)
        if version and address == function.address:
            return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
    return ""


def _facts(node: str) -> Iterator[tuple[str, int]]:
    for line in node.split("\n"):
        key, _, value = line.partition(" ")
        number = decimal(value)
        if number is not None:
            yield key, number


def _with_texts(found: list[Adapter], files: LinuxFiles) -> Iterator[Adapter]:
    """Add facts from /proc/driver/nvidia: names, the driver's version, GPUs missing in sysfs."""
    version = version_in(files.nvidia_version)
    models = dict(nvidia_models(files.nvidia_gpus))
    for adapter in found:
        if adapter.driver == "nvidia":
            name = models.get(adapter.address) or adapter.name
            version_here = version or adapter.driver_version
            yield msgspec.structs.replace(adapter, name=name, driver_version=version_here)
        else:
            yield adapter
    for address in sorted(models.keys() - {adapter.address for adapter in found}):
        name = models[address] or "NVIDIA display"
        yield hidden_adapter(address, name, version)


def _with_nvml(found: list[Adapter], nvml: Nvml, host: MemoryInfo) -> tuple[Adapter, ...]:
    """Add memory, name and capability from the driver's own library, matched by bus address."""
    left = {device.address: device for device in nvml.devices}
    merged: list[Adapter] = []
    for adapter in found:
        device = left.pop(adapter.address, None)
        merged.append(with_nvml(adapter, device, nvml, host) if device else adapter)
    for device in left.values():
        hidden = hidden_adapter(device.address, device.name, nvml.driver)
        merged.append(with_nvml(hidden, device, nvml, host))
    return tuple(merged)


def _bus(address: str) -> int | None:
    """Return the bus in "0000:01:00.0"."""
    parts = address.split(":")
    return hexadecimal(parts[1]) if len(parts) == 3 else None
