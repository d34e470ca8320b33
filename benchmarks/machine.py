"""A description of the machine and the package versions, stored with the measurements."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from backends import hardware

_PACKAGES = (
    "safelight",
    "onnxruntime",
    "openvino",
    "torch",
    "diffusers",
    "tensorrt-rtx",
    "stable-diffusion-cpp-python",
)


def describe() -> dict[str, object]:
    """Return processor, cores, memory, system and package versions."""
    found = ((package, _version(package)) for package in _PACKAGES)
    return {
        "processor": hardware.cpu_name(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": f"{hardware.host_memory().total / 1e9:.0f} GB",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "packages": ", ".join(f"{package} {number}" for package, number in found if number),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
