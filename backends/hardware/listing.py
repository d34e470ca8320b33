"""The display adapters of this machine."""

import sys
from pathlib import Path

from backends.hardware import linux, macos, windows
from backends.hardware.adapter import Adapter
from backends.hardware.dxcore import read_dxcore
from backends.hardware.host import host_memory
from backends.hardware.names import look_up_names, torchruntime_entries
from backends.hardware.nvml import read_nvml
from backends.hardware.registry import read_registry

_ROOT = Path("/")


def list_adapters() -> tuple[Adapter, ...]:
    """List every display adapter, usable or with the reason why not. Never raises."""
    if sys.platform == "win32":
        return windows.describe(read_dxcore(), read_registry(), read_nvml(), {}, host_memory())
    if sys.platform == "darwin":
        return macos.describe(macos.read(), host_memory())
    files = linux.read(_ROOT)
    wanted = {function.pci for function in files.adapters} - {None}
    ids = {pci for pci in wanted if pci is not None}
    names = look_up_names(ids, torchruntime_entries(ids), _ROOT)
    return linux.describe(files, read_nvml(), names, host_memory())
