"""`safelight devices`: the display adapters, then each backend and device and how it did here."""

import argparse

import msgspec

from app.cli.adapters import AdapterOutput, adapter_rows, find_adapters
from app.cli.remedy_words import remedy_words
from app.cli.terminal import print_error, print_json, print_note, print_table, say
from app.paths import find_paths
from backends.base import Cancellation
from engine.api.machine import DeviceInfo, PrecisionFigures
from engine.api.remedies import InstallPack
from engine.devices.choice import Devices
from engine.errors import Cancelled, EngineError


class DeviceOutput(msgspec.Struct, frozen=True):
    """A device in the JSON output; `reason` says why it cannot be used.

    `install` names the runtime packs of which one would make it usable, if nothing else is missing.

    `verdict` is the result of its trial, with `figures` by precision: the median milliseconds of
    SD 1.5's blocks, and the difference from the cpu backend. `failure` is why an earlier job had
    to change to another device. `disturbed`: the computer was busy while the times were measured.
    """

    backend: str
    device: str
    usable: bool
    precisions: tuple[str, ...]
    automatic: bool
    runtime: str
    memory_total_bytes: int
    memory_free_bytes: int
    reason: str = ""
    install: tuple[str, ...] = ()
    verdict: str = ""
    figures: tuple[PrecisionFigures, ...] = ()
    failure: str = ""
    disturbed: bool = False


class DevicesOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight devices --json`; devices are in the order "auto" takes them.

    `notes` name other sources that disagree about the adapters; `choice` is why "auto" takes the
    first device.
    """

    adapters: tuple[AdapterOutput, ...]
    notes: tuple[str, ...]
    devices: tuple[DeviceOutput, ...]
    choice: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--recheck", action="store_true", help="try every device again, and forget what failed"
    )
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """List adapters and devices, after a trial of each device that has not been tried yet."""
    hardware = find_adapters()
    devices = Devices(find_paths().cache)
    check_hardware(devices, "auto", quiet=options.json, again=options.recheck)
    found, choice = list_devices(devices), devices.choice()
    if options.json:
        print_json(DevicesOutput(hardware.adapters, hardware.notes, tuple(found), choice))
        return 0
    if hardware.adapters:
        headings = ("ADAPTER", "VENDOR", "MEMORY", "DRIVER", "BACKENDS")
        print_table(headings, adapter_rows(hardware.adapters))
    else:
        say("No display adapter was found.")
    for note in hardware.notes:
        say(note)
    say()
    rows = [
        (device.backend, device.device or "-", _times(device), device_verdict(device))
        for device in found
    ]
    print_table(("BACKEND", "DEVICE", "BLOCKS OF SD 1.5", "VERDICT"), rows)
    if choice:
        say()
        say(f"auto takes {found[0].backend} on {found[0].device}: {choice}.")
    return 0


def check_hardware(
    devices: Devices,
    wanted: str,
    *,
    quiet: bool = False,
    again: bool = False,
    cancel: Cancellation | None = None,
) -> None:
    """Try the new devices, or with `again` all, if `wanted` is "auto".

    An error of the trials is printed, not raised: the processor works without them. Raises
    Cancelled.
    """
    if wanted != "auto" or not (again or devices.has_news()):
        return
    if not quiet:
        print_note("Checking your hardware, once.")
    try:
        for _ in devices.verify(again=again, cancel=cancel):
            pass
    except EngineError as error:
        if isinstance(error, Cancelled):
            raise
        print_error(error.info)


def list_devices(devices: Devices) -> list[DeviceOutput]:
    """Return the devices of every backend, in the order that "auto" takes."""
    return [_output(device) for device in devices.listed()]


def device_verdict(device: DeviceOutput) -> str:
    """Return in a few words, for a table, if a device is usable."""
    if not device.usable:
        return f"not usable: {unusable_words(device)}"
    if device.failure:
        return f"usable, but it failed in an earlier job: {device.failure}"
    wrong = [f"{f.precision} is wrong: {f.problem}" for f in device.figures if f.problem]
    right = "usable" if device.automatic else "usable on request"
    busy = ["measured while the computer was busy"] if device.disturbed and device.figures else []
    return "; ".join([right, *wrong, *busy])


def unusable_words(device: DeviceOutput) -> str:
    """Return why the device cannot be used, and how to install the pack that it lacks."""
    if not device.install:
        return device.reason
    return f"{device.reason}. {remedy_words(InstallPack(pack=device.install[0]))}"


def _output(device: DeviceInfo) -> DeviceOutput:
    return DeviceOutput(
        backend=device.backend,
        device=device.name,
        usable=not device.unusable,
        precisions=device.precisions,
        automatic=device.automatic,
        runtime=device.runtime,
        memory_total_bytes=device.memory_total_bytes,
        memory_free_bytes=device.memory_free_bytes,
        reason=device.unusable,
        install=device.install,
        verdict=device.verdict,
        figures=device.figures,
        failure=device.failure,
        disturbed=device.disturbed,
    )


def _times(device: DeviceOutput) -> str:
    """Return the measured times as "bf16 39 ms, f32 98 ms", else the precisions alone."""
    right = [f for f in device.figures if not f.problem]
    if not right:
        return ", ".join(device.precisions) or "-"
    return ", ".join(f"{f.precision} {milliseconds(f.milliseconds)}" for f in right)


def milliseconds(value: float) -> str:
    """Return a time as "3.1 ms" or "310 ms"."""
    return f"{value:.0f} ms" if value >= 100 else f"{value:.1f} ms"
