"""NVIDIA's management library through ctypes, if the driver has installed it.

It belongs to the driver, not to an SDK. Names and structures: NVML API reference, nvml.h of driver
560 (nvmlInit_v2, nvmlDeviceGetMemoryInfo, nvmlDeviceGetPciInfo_v3).
"""

import ctypes
import sys
from typing import Any

import msgspec

_LIBRARY = "nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1"
# Folders of the driver's libraries in NixOS and WSL, besides the loader's own.
_FOLDERS = ("", "/run/opengl-driver/lib/", "/usr/lib/wsl/lib/")
_TEXT_BYTES = 96
_MOST_DEVICES = 64


class NvmlDevice(msgspec.Struct, frozen=True):
    """A GPU as NVML sees it. Memory is None for a GPU without its own (GB10)."""

    name: str
    address: str
    pci: int
    memory_total: int | None
    memory_free: int | None
    capability: tuple[int, int] | None
    uuid: str = ""


class Nvml(msgspec.Struct, frozen=True):
    """The driver's version and its GPUs; empty if the library is missing or refuses."""

    driver: str = ""
    devices: tuple[NvmlDevice, ...] = ()


class _Memory(ctypes.Structure):
    """nvmlMemory_t."""

    _fields_ = (
        ("total", ctypes.c_uint64),
        ("free", ctypes.c_uint64),
        ("used", ctypes.c_uint64),
    )


class _Pci(ctypes.Structure):
    """nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3; `identity` is device and vendor, 0x268410de."""

    _fields_ = (
        ("legacy_bus_id", ctypes.c_char * 16),
        ("domain", ctypes.c_uint),
        ("bus", ctypes.c_uint),
        ("device", ctypes.c_uint),
        ("identity", ctypes.c_uint),
        ("subsystem", ctypes.c_uint),
        ("bus_id", ctypes.c_char * 32),
    )


def read_nvml() -> Nvml:
    """Return the driver and GPUs of this machine."""
    for folder in _FOLDERS:
        try:
            return ask(ctypes.CDLL(folder + _LIBRARY))
        except OSError:
            continue
    return Nvml()


def ask(library: Any) -> Nvml:
    """Return the driver and GPUs by a loaded library, whose attributes are nvml.h's functions."""
    try:
        if library.nvmlInit_v2() != 0:
            return Nvml()
    except AttributeError:
        return Nvml()
    try:
        return Nvml(_driver(library), tuple(_devices(library)))
    except AttributeError:  # A driver so old that it lacks one of the functions.
        return Nvml()
    finally:
        library.nvmlShutdown()


def _driver(library: Any) -> str:
    text = ctypes.create_string_buffer(_TEXT_BYTES)
    failed = library.nvmlSystemGetDriverVersion(text, ctypes.c_uint(_TEXT_BYTES))
    return "" if failed else text.value.decode(errors="replace")


def _devices(library: Any) -> list[NvmlDevice]:
    count = ctypes.c_uint()
    if library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
        return []
    found = (_device(library, index) for index in range(min(count.value, _MOST_DEVICES)))
    return [device for device in found if device is not None]


def _device(library: Any, index: int) -> NvmlDevice | None:
    handle, pci = ctypes.c_void_p(), _Pci()
    if library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle)) != 0:
        return None
    if library.nvmlDeviceGetPciInfo_v3(handle, ctypes.byref(pci)) != 0:
        return None
    name = ctypes.create_string_buffer(_TEXT_BYTES)
    library.nvmlDeviceGetName(handle, name, ctypes.c_uint(_TEXT_BYTES))
    uuid, memory = ctypes.create_string_buffer(_TEXT_BYTES), _Memory()
    library.nvmlDeviceGetUUID(handle, uuid, ctypes.c_uint(_TEXT_BYTES))
    has_memory = library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0
    major, minor = ctypes.c_int(), ctypes.c_int()
    told = library.nvmlDeviceGetCudaComputeCapability(
        handle, ctypes.byref(major), ctypes.byref(minor)
    )
    return NvmlDevice(
        name=name.value.decode(errors="replace"),
        address=f"{pci.domain:04x}:{pci.bus:02x}:{pci.device:02x}.0",
        pci=pci.identity,
        memory_total=memory.total if has_memory else None,
        memory_free=memory.free if has_memory else None,
        capability=(major.value, minor.value) if told == 0 else None,
        uuid=uuid.value.decode(errors="replace"),
    )
