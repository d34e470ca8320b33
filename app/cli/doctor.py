"""`safelight doctor`: is everything in place, and does every backend make the right picture?"""

import argparse
import platform
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import msgspec
import numpy as np
from PIL import Image

from app.cli.adapters import adapter_rows, find_adapters
from app.cli.devices import DeviceOutput, check_hardware, list_devices, unusable_words
from app.cli.quiet_log import write_problem
from app.cli.terminal import print_json, print_table
from app.installation import describe, faults, installed_root, repair_hint
from app.paths import Paths, find_paths, starter_checkpoint
from engine.api.request import GenerateRequest
from engine.cancel import CancelToken
from engine.devices.choice import Devices
from engine.errors import EngineError
from engine.families.identify import identify, require_complete
from engine.jobs.reporting import SilentReporter
from engine.jobs.runner import JobRunner
from engine.jobs.saving import PictureSaver
from engine.jobs.services import JobServices
from engine.output import Destination
from engine.packs import use_packs

_PACKAGES = ("safelight", "numpy", "onnx", "onnxruntime", "openvino", "PySide6-Essentials")
# Peak signal-to-noise ratio below which two backends do not make the same picture.
_SAME_PICTURE_DB = 25.0


class CheckOutput(msgspec.Struct, frozen=True):
    """One check in the JSON output."""

    name: str
    ok: bool
    detail: str


class DoctorOutput(msgspec.Struct, frozen=True):
    """The JSON output of `safelight doctor --json`."""

    ok: bool
    checks: tuple[CheckOutput, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Run every check; the exit status is 1 if one fails."""
    checks = tuple(_checks(find_paths(), quiet=options.json))
    ok = all(check.ok for check in checks)
    if options.json:
        print_json(DoctorOutput(ok, checks))
    else:
        rows = [("ok" if check.ok else "FAILED", check.name, check.detail) for check in checks]
        print_table(("", "CHECK", "DETAIL"), rows)
    return 0 if ok else 1


def _checks(paths: Paths, *, quiet: bool) -> Iterator[CheckOutput]:
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield CheckOutput("system", True, f"{system}, Python {platform.python_version()}")
    yield CheckOutput("packages", True, ", ".join(_versions()))
    yield from _installation()
    for name, folder in (("output folder", paths.output), ("cache folder", paths.cache)):
        yield _writable(name, folder)
    yield _starter()
    yield from _packs()
    yield from _adapters()
    devices = Devices(paths.cache)
    check_hardware(devices, "auto", quiet=quiet)
    found = list_devices(devices)
    yield from _verdicts(found, devices.choice())
    yield from _pictures(found, devices)


def _installation() -> Iterator[CheckOutput]:
    """Yield a check of every file that was installed; a checkout has none."""
    root = installed_root()
    if root is not None:
        found = tuple(faults(root))
        detail = f"{describe(found)}. {repair_hint()}" if found else f"{root}, as it was built"
        yield CheckOutput("installed files", not found, detail)


def _versions() -> Iterator[str]:
    for package in _PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except ModuleNotFoundError:  # importlib.metadata.PackageNotFoundError is one
            yield f"{package} not installed"


def _writable(name: str, folder: Path) -> CheckOutput:
    problem = write_problem(folder)
    return CheckOutput(name, not problem, f"{folder}: {problem}" if problem else str(folder))


def _starter() -> CheckOutput:
    try:
        checkpoint = identify(starter_checkpoint())
        require_complete(checkpoint)
    except EngineError as error:
        return CheckOutput("starter model", False, error.message)
    return CheckOutput("starter model", True, f"{checkpoint.family}, {checkpoint.path}")


def _packs() -> Iterator[CheckOutput]:
    """Yield a check for each active runtime pack, failed if it is left out."""
    used = use_packs()
    for pack in used.packs:
        yield CheckOutput("runtime pack", True, f"{pack.id} {pack.version}, {pack.folder}")
    for problem in used.problems:
        yield CheckOutput("runtime pack", False, problem)


def _adapters() -> Iterator[CheckOutput]:
    """Yield a check for each graphics processor; having none is no failure."""
    hardware = find_adapters()
    for row in adapter_rows(hardware.adapters):
        name, vendor, memory, driver, backends = row
        yield CheckOutput("adapter", True, f"{name} ({vendor}), {memory}, {driver}; {backends}")
    if not hardware.adapters:
        yield CheckOutput("adapter", True, "no display adapter was found")
    for note in hardware.notes:
        yield CheckOutput("adapter", True, note)


def _verdicts(devices: list[DeviceOutput], choice: str) -> Iterator[CheckOutput]:
    """Yield a check for each device's trial, failed if its result is wrong, and the choice."""
    for device in devices:
        if device.automatic and device.verdict:
            detail = f"{device.device or '-'}: {device.verdict}"
            yield CheckOutput(f"trial of {device.backend}", device.usable, detail)
    if choice and devices:
        first = devices[0]
        yield CheckOutput("choice", True, f"{first.backend} on {first.device}: {choice}")


def _pictures(found: list[DeviceOutput], devices: Devices) -> Iterator[CheckOutput]:
    """Yield a check for each backend: a picture of few steps, compared with the cpu backend's."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        reference: np.ndarray | None = None
        for device in sorted(found, key=lambda device: device.backend != "cpu"):
            if not device.automatic:
                continue
            name = f"picture on {device.backend}"
            if not device.usable:
                yield CheckOutput(name, True, f"not usable: {unusable_words(device)}")
                continue
            try:
                pixels, seconds = _picture(device.backend, Path(folder), devices)
            except EngineError as error:
                yield CheckOutput(name, False, f"{error.message} {error.detail}")
                continue
            reference = pixels if reference is None else reference
            likeness = _psnr(pixels, reference)
            detail = f"{seconds:.1f} s"
            if pixels is not reference:
                detail += f", {likeness:.0f} dB from the cpu backend's"
            yield CheckOutput(name, likeness >= _SAME_PICTURE_DB, detail)


def _picture(backend: str, folder: Path, devices: Devices) -> tuple[np.ndarray, float]:
    request = GenerateRequest(
        prompt="a red house by the sea at night",
        checkpoint=str(starter_checkpoint()),
        steps=8,
        seed=1,
        backend=backend,
    )
    saver = PictureSaver(Destination(folder, f"{backend}.png"))
    runner = JobRunner(JobServices.in_cache(folder / "cache", devices=devices))
    result = runner.run(request, saver, SilentReporter(), CancelToken())
    with Image.open(result.images[0].path) as image:
        return np.asarray(image, np.float32), result.timings.total_s


def _psnr(image: np.ndarray, reference: np.ndarray) -> float:
    error = float(np.mean((image - reference) ** 2))
    return 99.0 if error == 0 else float(10 * np.log10(255**2 / error))
