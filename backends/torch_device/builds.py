"""The build of PyTorch for this machine's hardware, as torchruntime chooses it."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from backends.hardware.adapter import APPLE, VENDORS, Adapter

_PACKS = {"cu": "torch-cuda", "rocm": "torch-rocm", "xpu": "torch-xpu", "mps": "torch-mps"}


def pack_for(adapters: Sequence[Adapter]) -> tuple[str, ...]:
    """Return the runtime pack with the build for these adapters; none where only a processor is."""
    if any(adapter.vendor == VENDORS[APPLE].name for adapter in adapters):
        return ("torch-mps",)
    chosen = _torch_platform(adapters)
    return tuple(pack for prefix, pack in _PACKS.items() if chosen.startswith(prefix))


def _torch_platform(adapters: Sequence[Adapter]) -> str:
    """Return torchruntime's name of the build, such as "cu128" or "rocm6.4"; empty if it has none.

    It knows devices by their PCI ids, and no machine with cards of AMD and of Intel.
    """
    keys = [
        (f"{adapter.pci.vendor:04x}", f"{adapter.pci.device:04x}")
        for adapter in adapters
        if adapter.pci and not adapter.unusable
    ]
    if not keys or not find_spec("torchruntime"):
        return ""
    import sqlite3

    try:
        database: Any = import_module("torchruntime.device_db")
        detection: Any = import_module("torchruntime.platform_detection")
        return str(detection.get_torch_platform(database.get_device_infos(keys)))
    except (ImportError, KeyError, NotImplementedError, sqlite3.Error):
        return ""
