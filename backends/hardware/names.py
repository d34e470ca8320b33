"""Names of PCI devices: from torchruntime's database, the system's pci.ids, or finally lspci."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec

from backends.hardware.adapter import VENDORS, PciId, Role
from backends.hardware.reading import output_of, read_bytes

_PCI_IDS = (
    "usr/share/misc/pci.ids",
    "usr/share/hwdata/pci.ids",
    "usr/share/pci.ids",
)
_PCI_IDS_BYTES = 8 << 20
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_LSPCI_LINE = re.compile(
    r"(?P<address>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) "
    r"[^\[\]]*\[(?P<kind>[0-9a-f]{4})\]: "
    r"(?P<text>.*)\[(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})\]",
    re.ASCII,
)
_MAKER = re.compile(
    r"^(?:NVIDIA Corporation|Intel Corporation|Advanced Micro Devices, Inc\. \[AMD/ATI\]) *"
)
_IDS_LINE = re.compile(r"(\t?)([0-9a-f]{4})  (.+)", re.ASCII)


class DatabaseEntry(msgspec.Struct, frozen=True):
    """A device's entry in torchruntime's database."""

    pci: PciId
    name: str
    discrete: bool


class ListedFunction(msgspec.Struct, frozen=True):
    """A line of `lspci -nn`: address with domain, class such as 0x0300, and name."""

    address: str
    kind: int
    pci: PciId
    name: str


def torchruntime_entries(wanted: Collection[PciId]) -> tuple[DatabaseEntry, ...]:
    """Return torchruntime's entries for these devices; none if it is not installed."""
    if not wanted or not find_spec("torchruntime"):
        return ()
    import sqlite3

    keys = sorted({(f"{pci.vendor:04x}", f"{pci.device:04x}") for pci in wanted})
    try:
        database: Any = import_module("torchruntime.device_db")
        rows: list[Any] = database.get_device_infos(keys)
    except (ImportError, sqlite3.Error):
        return ()
    return tuple(
        DatabaseEntry(
            pci=PciId(int(found.vendor_id, 16), int(found.device_id, 16)),
            name=marketing_name(found.device_name),
            discrete=found.is_discrete,
        )
        for found in rows
    )


def look_up_names(
    wanted: Collection[PciId], known: Iterable[DatabaseEntry], root: Path
) -> Mapping[PciId, str]:
    """Return a name for each device that has one; lspci is used for the remaining GPUs."""
    names = {entry.pci: entry.name for entry in known}
    for path in _PCI_IDS:
        missing = {pci for pci in wanted if pci not in names}
        if missing:
            text = read_bytes(root / path, _PCI_IDS_BYTES).decode(errors="replace")
            names |= dict(parse_pci_ids(text, missing))
    if any(pci not in names and _may_be_gpu(pci) for pci in wanted):
        listed = parse_lspci(output_of(("lspci", "-nn")))
        names |= {line.pci: line.name for line in listed if line.name and line.pci not in names}
    return names


def parse_pci_ids(text: str, wanted: Collection[PciId]) -> Iterator[tuple[PciId, str]]:
    """Yield the names of these devices in a pci.ids file. The classes at its end are left out."""
    vendor = -1
    for line in takewhile(lambda line: not line.startswith("C "), text.split("\n")):
        match = _IDS_LINE.fullmatch(line)
        if not match:
            continue
        indent, number, name = match.groups()
        if not indent:
            vendor = int(number, 16)
        elif (pci := PciId(vendor, int(number, 16))) in wanted:
            yield pci, marketing_name(name)


def parse_lspci(text: str) -> tuple[ListedFunction, ...]:
    """Return the devices of `lspci -nn`, -nnk or -vnn; other lines are ignored."""
    found: list[ListedFunction] = []
    for line in text.split("\n"):
        match = _LSPCI_LINE.match(line)
        if not match:
            continue
        pci = PciId(int(match["vendor"], 16), int(match["device"], 16))
        address = match["address"]
        found.append(
            ListedFunction(
                address=address if address.count(":") == 2 else f"0000:{address}",
                kind=int(match["kind"], 16),
                pci=pci,
                name=_lspci_name(match["text"]),
            )
        )
    return tuple(found)


def marketing_name(text: str) -> str:
    """Return a device's sales name: GeForce RTX 3070 for "GA104 [GeForce RTX 3070]"."""
    brackets = _BRACKETS.findall(text)
    return (brackets[-1] if brackets else text).strip()


def _may_be_gpu(pci: PciId) -> bool:
    vendor = VENDORS.get(pci.vendor)
    return vendor is None or vendor.role is Role.GPU


def _lspci_name(text: str) -> str:
    """Return the name without the maker, e.g. of "NVIDIA Corporation GA104"; "" for "Device"."""
    name = _MAKER.sub("", text.strip(), count=1)
    return "" if name.endswith("Device") else marketing_name(name)
