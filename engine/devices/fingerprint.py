"""A fingerprint of everything that verdicts depend on, taken without importing vendors' runtimes.

It covers the versions of what is installed, the adapters with their drivers, the processor, the
sources of the backends and graphs, and variables that hide or renumber devices or change their
architecture. When any of these changes, every device is tried again: a changed driver rarely
affects one adapter alone, and a trial takes seconds.
"""

import os
import platform
import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import backends
from backends import hardware
from backends.hardware import Adapter
from engine import compile as compiling
from engine import devices, graphs, weights

# Prefixes of the distributions that count: runtimes, and the libraries they compute with.
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
# Variables by which the runtimes of CUDA, ROCm, Level Zero and Vulkan choose devices and drivers.
_STEERING = (
    *("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"),
    *("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"),
    "HSA_OVERRIDE_GFX_VERSION",
    *("ONEAPI_DEVICE_SELECTOR", "ZE_AFFINITY_MASK", "ZE_FLAT_DEVICE_HIERARCHY"),
    *("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "MESA_VK_DEVICE_SELECT", "DRI_PRIME"),
)


def machine_fingerprint() -> str:
    """Return a digest of this machine's hardware, drivers and runtimes: 64 hexadecimal digits."""
    # On a Mac the drivers come with the system, and listing its adapters takes a second.
    adapters = () if sys.platform == "darwin" else hardware.list_adapters()
    return fingerprint_of(installed_runtimes(map(Path, sys.path)), adapters, os.environ)


def fingerprint_of(
    runtimes: tuple[str, ...],
    adapters: tuple[Adapter, ...],
    environment: Mapping[str, str],
) -> str:
    """Return the fingerprint of a machine with these runtimes, adapters and variables.

    Changing facts, such as free memory, are left out.
    """
    of_adapters = sorted(
        (a.vendor, a.name, str(a.pci), a.address, a.driver, a.driver_version, a.unusable)
        for a in adapters
    )
    system = (platform.system(), platform.release(), platform.machine(), hardware.cpu_name())
    sources = map(_source, (backends, compiling, devices, graphs, weights))
    ours = (version("safelight"), sys.version_info[:2], *sources)
    steering = [(name, environment[name]) for name in _STEERING if name in environment]
    facts = ours, system, of_adapters, runtimes, steering
    return sha256(repr(facts).encode()).hexdigest()


def _source(package: ModuleType) -> list[tuple[str, int, int]]:
    """List a package's files with their sizes and times: the code that runs and judges a trial."""
    files = (path for folder in package.__path__ for path in Path(folder).rglob("*.py"))
    facts = ((path.name, path.stat()) for path in files)
    return sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in facts)


def installed_runtimes(path: Iterable[Path]) -> tuple[str, ...]:
    """List the installed runtimes as "openvino-2026.2.1", read from the names of folders."""
    found = {
        entry.stem
        for folder in path
        if folder.is_dir()
        for entry in folder.glob("*.dist-info")
        if entry.name.casefold().startswith(_RUNTIMES)
    }
    return tuple(sorted(found))
