"""The adapters of a Mac, from `system_profiler SPDisplaysDataType -json`."""

import json
import platform
import re
from collections.abc import Iterator
from typing import Any, cast

from backends.base import MemoryInfo
from backends.hardware.adapter import (
    AMD,
    APPLE,
    INTEL,
    NVIDIA,
    Adapter,
    PciId,
    no_processor,
    vendor_in,
    vendor_name,
)
from backends.hardware.numbers import hexadecimal, size
from backends.hardware.reading import output_of

_COMMAND = ("/usr/sbin/system_profiler", "SPDisplaysDataType", "-json")
# system_profiler also looks for displays, which takes a second or two.
_SECONDS = 20
_NUMBER = re.compile(r"\(0x([0-9a-f]{4})\)", re.ASCII | re.IGNORECASE)
_CHIP = re.compile(r"kHW_(Apple)(M[0-9]+)(Pro|Max|Ultra)?Item", re.ASCII)
# The whole report that a command gave.
_given: dict[tuple[str, ...], str] = {}
_NUMBERS = {"Apple": APPLE, "AMD": AMD, "Intel": INTEL, "NVIDIA": NVIDIA}


def read() -> str:
    """Return the report of system_profiler, which is asked once in a process.

    Nobody puts another graphics processor into a Mac, and each job asks many times.
    """
    if _COMMAND not in _given:
        text = output_of(_COMMAND, _SECONDS)
        if not describe(text, MemoryInfo(0, 0, integrated=True)):
            return text  # it may have been cut off, or come too late
        _given[_COMMAND] = text
    return _given[_COMMAND]


def describe(text: str, host: MemoryInfo, system: str | None = None) -> tuple[Adapter, ...]:
    """Return the adapters in a report; none if it is malformed. Drivers come with the system."""
    try:
        report: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    version = f"macOS {system if system is not None else platform.mac_ver()[0]}"
    return tuple(_adapter(entry, host, version) for entry in _entries(report))


def _entries(report: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(report, dict):
        return
    displays = cast("dict[str, Any]", report).get("SPDisplaysDataType")
    if isinstance(displays, list):
        for entry in cast("list[Any]", displays):
            if isinstance(entry, dict):
                yield cast("dict[str, Any]", entry)


def _adapter(entry: dict[str, Any], host: MemoryInfo, system: str) -> Adapter:
    name = _name(entry)
    vendor = _vendor(entry, name)
    number = _NUMBERS.get(vendor)
    device = hexadecimal(_string(entry, "spdisplays_device-id"))
    integrated = number in (APPLE, INTEL) or (_string(entry, "sppci_bus") == "spdisplays_builtin")
    own = size(_string(entry, "spdisplays_vram") or _string(entry, "_spdisplays_vram"))
    return Adapter(
        vendor=vendor,
        name=name or "display",
        # Apple's own GPUs have no numbers: they are not on a PCI bus.
        pci=PciId(number, device) if number and device is not None else None,
        memory_total=host.total if integrated else own,
        memory_free=host.free if integrated else None,
        driver="Metal" if _metal(entry) else "",
        driver_version=system,
        integrated=integrated,
        unusable=no_processor(number, name) or ("" if _metal(entry) else "it has no Metal driver"),
    )


def _name(entry: dict[str, Any]) -> str:
    """Return the model; the first Macs with an M1 report only the key of its name."""
    name = _string(entry, "sppci_model") or _string(entry, "_name")
    match = _CHIP.fullmatch(name)
    return " ".join(part for part in match.groups() if part) if match else name


def _vendor(entry: dict[str, Any], name: str) -> str:
    """Return the vendor, "sppci_vendor_Apple", "Intel" or "AMD (0x1002)"; else from the name."""
    text = _string(entry, "spdisplays_vendor")
    match = _NUMBER.search(text)
    if match:
        return vendor_name(int(match[1], 16))
    return vendor_in(text) or vendor_in(name)


def _metal(entry: dict[str, Any]) -> bool:
    """True if Metal works: the key's name changed over the years, its value names a family."""
    keys = ("spdisplays_mtlgpufamilysupport", "spdisplays_metalfamily", "spdisplays_metal")
    return any(
        _string(entry, key).startswith(("spdisplays_m", "spdisplays_supported")) for key in keys
    )


def _string(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    return value.strip() if isinstance(value, str) else ""
