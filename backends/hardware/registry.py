"""Windows' registry: drivers of displays, with memory sizes over 4 GB; the processor's name.

Entries of drivers stay after a card is removed, so they describe adapters but do not prove them.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from backends.hardware.adapter import PciId

CLASS_KEY = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
_PROCESSOR_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_MOST_ENTRIES = 256
_PCI = re.compile(r"PCI\\VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})", re.ASCII | re.IGNORECASE)
_VALUES = (
    "DriverDesc",
    "DriverVersion",
    "ProviderName",
    "MatchingDeviceId",
    "HardwareInformation.qwMemorySize",
    "HardwareInformation.MemorySize",
)

# A value of the registry: a string, a number (DWORD, QWORD), bytes (BINARY) or a list of strings.
Value = str | int | bytes | list[str] | None


class RegistryEntry(msgspec.Struct, frozen=True):
    """A display driver's entry. `pci` is None for displays without a card."""

    description: str
    provider: str
    version: str
    pci: PciId | None
    memory: int | None


def read_registry() -> tuple[RegistryEntry, ...]:
    """Return the entries of this machine; none if there is no registry."""
    if sys.platform != "win32":
        return ()
    return tuple(parse_entry(values) for values in _read_class())


def read_processor() -> str:
    """Return the marketing name of this machine's processor; empty if there is no registry."""
    if sys.platform != "win32":
        return ""
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _PROCESSOR_KEY) as key:
            return _string(winreg.QueryValueEx(key, "ProcessorNameString")[0])
    except OSError:
        return ""


def parse_entry(values: Mapping[str, Value]) -> RegistryEntry:
    """Read an entry from its values, whatever their types."""
    match = _PCI.search(_string(values.get("MatchingDeviceId")))
    sizes = (
        _number(values.get(f"HardwareInformation.{name}"))
        for name in ("qwMemorySize", "MemorySize")
    )
    return RegistryEntry(
        description=_string(values.get("DriverDesc")),
        provider=_string(values.get("ProviderName")),
        version=_string(values.get("DriverVersion")),
        pci=PciId(int(match[1], 16), int(match[2], 16)) if match else None,
        memory=next((_bytes(size) for size in sizes if size), None),
    )


def _string(value: Value) -> str:
    return value.strip() if isinstance(value, str) else ""


def _number(value: Value) -> int | None:
    """Read a size: drivers store numbers, or 4 or 8 bytes, least significant first."""
    if isinstance(value, bytes):
        return int.from_bytes(value, "little") if len(value) in (4, 8) else None
    return value if isinstance(value, int) and value >= 0 else None


def _bytes(size: int) -> int:
    """Return a size in bytes; a number below 2^20 is in megabytes, as Microsoft documents."""
    return size if size >= 1 << 20 else size << 20


def _read_class() -> Iterator[Mapping[str, Value]]:
    if sys.platform != "win32":
        return
    import winreg

    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, CLASS_KEY) as drivers:
            for index in range(_MOST_ENTRIES):
                name = winreg.EnumKey(drivers, index)
                try:
                    with winreg.OpenKey(drivers, name) as entry:
                        yield dict(_read_entry(entry))
                except OSError:  # "Properties" may be opened by the system alone.
                    continue
    except OSError:  # EnumKey's way to say that there is no more.
        return


def _read_entry(entry: Any) -> Iterator[tuple[str, Value]]:
    if sys.platform != "win32":
        return
    import winreg

    for name in _VALUES:
        try:
            yield name, winreg.QueryValueEx(entry, name)[0]
        except OSError:
            continue
