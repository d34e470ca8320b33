"""`safelight devices`: the display adapters, then each backend and device, usable or why not."""

import argparse

import msgspec

from app.cli.adapters import AdapterOutput, adapter_rows, find_adapters
from app.cli.terminal import print_json, print_table
from engine.jobs import devices

HELP = "list backends and devices"


class DeviceOutput(msgspec.Struct, frozen=True):
    """A device in the JSON output; `reason` says why it cannot be used."""

    backend: str
    device: str
    usable: bool
    precisions: tuple[str, ...]
    automatic: bool
    runtime: str
    memory_total_bytes: int
    memory_free_bytes: int
    reason: str = ""


class DevicesOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight devices --json`; devices are in order of preference.

    `notes` say where others disagree about the adapters.
    """

    adapters: tuple[AdapterOutput, ...]
    notes: tuple[str, ...]
    devices: tuple[DeviceOutput, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Look at the hardware and probe every backend."""
    hardware = find_adapters()
    found = list_devices()
    if options.json:
        print_json(DevicesOutput(hardware.adapters, hardware.notes, tuple(found)))
        return 0
    if hardware.adapters:
        headings = ("ADAPTER", "VENDOR", "MEMORY", "DRIVER", "BACKENDS")
        print_table(headings, adapter_rows(hardware.adapters))
    else:
        print("No display adapter was found.")
    for note in hardware.notes:
        print(note)
    print()
    rows = [
        (device.backend, device.device, ", ".join(device.precisions) or "-", _verdict(device))
        for device in found
    ]
    print_table(("BACKEND", "DEVICE", "PRECISION", "VERDICT"), rows)
    return 0


def list_devices() -> list[DeviceOutput]:
    """What every backend sees, in order of preference."""
    return [
        DeviceOutput(
            backend=device.backend,
            device=device.name,
            usable=not device.unusable,
            precisions=device.precisions,
            automatic=device.automatic,
            runtime=device.runtime,
            memory_total_bytes=device.memory_total_bytes,
            memory_free_bytes=device.memory_free_bytes,
            reason=device.unusable,
        )
        for device in devices.list_devices()
    ]


def _verdict(device: DeviceOutput) -> str:
    if not device.usable:
        return f"not usable: {device.reason}"
    return "usable" if device.automatic else "usable on request"
