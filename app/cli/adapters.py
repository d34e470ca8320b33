"""The machine's display adapters, as `devices` and `doctor` show them."""

from collections.abc import Sequence

import msgspec

from backends.hardware import Adapter, list_adapters, second_opinions
from backends.preference import backends_for
from backends.registry import find


class AdapterOutput(msgspec.Struct, frozen=True):
    """An adapter in the JSON output; null and empty text mean that the system does not say.

    `backends` names those that may use it, the preferred first; `reason` says why there is none.
    """

    vendor: str
    name: str
    pci: str
    address: str
    memory_total_bytes: int | None
    memory_free_bytes: int | None
    driver: str
    driver_version: str
    integrated: bool | None
    architecture: str
    backends: tuple[str, ...]
    reason: str


class AdaptersFound(msgspec.Struct, frozen=True):
    """The adapters, and notes on other sources that disagree about them."""

    adapters: tuple[AdapterOutput, ...]
    notes: tuple[str, ...]


def find_adapters() -> AdaptersFound:
    """Return the graphics processors of this machine."""
    found = list_adapters()
    outputs = tuple(_output(adapter) for adapter in found)
    return AdaptersFound(outputs, second_opinions(found) if found else ())


def adapter_rows(adapters: Sequence[AdapterOutput]) -> list[tuple[str, ...]]:
    """Return a table row for each adapter: name, vendor, memory, driver, backends or why none."""
    return [
        (
            adapter.name,
            adapter.vendor or "-",
            memory_text(adapter),
            driver_text(adapter) or "-",
            ", ".join(adapter.backends) or f"none: {adapter.reason}",
        )
        for adapter in adapters
    ]


def memory_text(adapter: AdapterOutput) -> str:
    """Return the memory as "11.2 of 12.0 GB free", with ", shared" for integrated adapters."""
    if adapter.memory_total_bytes is None:
        return "-"
    total = f"{adapter.memory_total_bytes / 2**30:.1f} GB"
    if adapter.memory_free_bytes is not None:
        total = f"{adapter.memory_free_bytes / 2**30:.1f} of {total} free"
    return f"{total}, shared" if adapter.integrated else total


def driver_text(adapter: AdapterOutput) -> str:
    """Return the driver's name and version."""
    return " ".join(filter(None, (adapter.driver, adapter.driver_version)))


def _output(adapter: Adapter) -> AdapterOutput:
    backends = tuple(name for name in backends_for(adapter) if find(name))
    reason = adapter.unusable or "no backend of this version is made for it"
    return AdapterOutput(
        vendor=adapter.vendor,
        name=adapter.name,
        pci=str(adapter.pci or ""),
        address=adapter.address,
        memory_total_bytes=adapter.memory_total,
        memory_free_bytes=adapter.memory_free,
        driver=adapter.driver,
        driver_version=adapter.driver_version,
        integrated=adapter.integrated,
        architecture=adapter.architecture,
        backends=backends,
        reason="" if backends else reason,
    )
