"""What verdicts depend on, told without importing any vendor's runtime.

Versions of what is installed, the adapters with their drivers, the processor, and our own backends
and graphs. Where any of it changes every verdict is earned anew: a driver's change is rarely its
own adapter's affair alone, and a trial takes seconds.
"""

import platform
import sys
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import backends
from backends import hardware
from backends.hardware import Adapter
from engine import compile as compiling
from engine import devices, graphs, weights

# How the names of runtimes begin, and of what they compute with.
_RUNTIMES = (
    "amd",
    "intel",
    "migraphx",
    "nvidia",
    "onnx",
    "openvino",
    "pytorch",
    "rocm",
    "tensorrt",
    "torch",
    "triton",
    "windowsml",
)


def machine_fingerprint() -> str:
    """The state of this machine's hardware, drivers and runtimes as 64 hexadecimal digits."""
    # On a Mac drivers come with the system, and to list its adapters takes a second.
    adapters = () if sys.platform == "darwin" else hardware.list_adapters()
    return fingerprint_of(installed_runtimes(map(Path, sys.path)), adapters)


def fingerprint_of(runtimes: tuple[str, ...], adapters: tuple[Adapter, ...]) -> str:
    """The fingerprint of a machine with these; what changes from hour to hour does not count."""
    of_adapters = sorted(
        (a.vendor, a.name, str(a.pci), a.address, a.driver, a.driver_version, a.unusable)
        for a in adapters
    )
    system = (platform.system(), platform.release(), platform.machine(), hardware.cpu_name())
    sources = map(_source, (backends, compiling, devices, graphs, weights))
    ours = (version("safelight"), sys.version_info[:2], *sources)
    return sha256(repr((ours, system, of_adapters, runtimes)).encode()).hexdigest()


def _source(package: ModuleType) -> list[tuple[str, int, int]]:
    """Which files a package is made of, as they are now: what a trial runs, and how it judges."""
    files = (path for folder in package.__path__ for path in Path(folder).rglob("*.py"))
    facts = ((path.name, path.stat()) for path in files)
    return sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in facts)


def installed_runtimes(path: Iterable[Path]) -> tuple[str, ...]:
    """The runtimes that Python would find, as "openvino-2026.2.1"; names of folders tell."""
    found = {
        entry.stem
        for folder in path
        if folder.is_dir()
        for entry in folder.glob("*.dist-info")
        if entry.name.casefold().startswith(_RUNTIMES)
    }
    return tuple(sorted(found))
