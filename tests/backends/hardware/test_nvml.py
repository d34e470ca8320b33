"""NVIDIA's library, played by functions with the same signatures."""

import ctypes
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from backends.hardware import nvml

_CARD = b"NVIDIA GeForce RTX 3060"
_UUID = b"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"


def saying(value: bytes) -> Callable[[int, int, int], int]:
    """A function that writes a text for a handle into a buffer of a size."""

    def say(_handle: int, buffer: int, _size: int) -> int:
        ctypes.memmove(buffer, value + b"\0", len(value) + 1)
        return 0

    return say


def library(*, has_memory: bool = True, status: int = 0) -> SimpleNamespace:
    """Callbacks through C, so that sizes and order of the structures are put to the test."""
    integer, pointer = ctypes.c_int, ctypes.c_void_p
    fill = ctypes.memmove

    def number(place: int, value: int) -> int:
        fill(place, value.to_bytes(4, "little"), 4)
        return 0

    def version(buffer: int, size: int) -> int:
        return saying(b"560.35.03")(0, buffer, size)

    def count(place: int) -> int:
        return number(place, 2)

    def handle(index: int, place: int) -> int:
        fill(place, (0x1000 + index).to_bytes(8, "little"), 8)
        return 0

    def pci(_handle: int, place: int) -> int:
        parts = (0, 0x0A, 0, 0x250310DE, 0x12341458)
        numbers = b"".join(part.to_bytes(4, "little") for part in parts)
        fill(place, b"0000:0A:00.0".ljust(16, b"\0") + numbers, 36)
        fill(place + 36, b"00000000:0A:00.0".ljust(32, b"\0"), 32)
        return 0

    def memory(_handle: int, place: int) -> int:
        if not has_memory:
            return 3  # NVML_ERROR_NOT_SUPPORTED
        sizes = (12 << 30, 10 << 30, 2 << 30)
        fill(place, b"".join(size.to_bytes(8, "little") for size in sizes), 24)
        return 0

    def capability(_handle: int, major: int, minor: int) -> int:
        return number(major, 8) or number(minor, 6)

    def function(kinds: tuple[Any, ...], body: Any) -> Any:
        return ctypes.CFUNCTYPE(integer, *kinds)(body)

    told = pointer, pointer, ctypes.c_uint
    return SimpleNamespace(
        nvmlInit_v2=function((), lambda: status),
        nvmlShutdown=function((), lambda: 0),
        nvmlSystemGetDriverVersion=function((pointer, ctypes.c_uint), version),
        nvmlDeviceGetCount_v2=function((pointer,), count),
        nvmlDeviceGetHandleByIndex_v2=function((ctypes.c_uint, pointer), handle),
        nvmlDeviceGetPciInfo_v3=function((pointer, pointer), pci),
        nvmlDeviceGetName=function(told, saying(_CARD)),
        nvmlDeviceGetUUID=function(told, saying(_UUID)),
        nvmlDeviceGetMemoryInfo=function((pointer, pointer), memory),
        nvmlDeviceGetCudaComputeCapability=function((pointer, pointer, pointer), capability),
    )


def test_the_librarys_facts_are_read() -> None:
    expected = nvml.NvmlDevice(
        name="NVIDIA GeForce RTX 3060",
        address="0000:0a:00.0",
        pci=0x250310DE,
        memory_total=12 << 30,
        memory_free=10 << 30,
        capability=(8, 6),
        uuid=_UUID.decode(),
    )
    assert nvml.ask(library()) == nvml.Nvml("560.35.03", (expected, expected))


def test_shared_memory_is_none() -> None:
    device = nvml.ask(library(has_memory=False)).devices[0]
    assert (device.memory_total, device.memory_free) == (None, None)


def test_a_driver_that_does_not_answer_has_no_devices() -> None:
    assert nvml.ask(library(status=9)) == nvml.Nvml()


def test_a_library_without_the_functions_has_no_devices() -> None:
    broken = library()
    del broken.nvmlDeviceGetPciInfo_v3
    assert nvml.ask(broken) == nvml.Nvml()
    assert nvml.ask(SimpleNamespace()) == nvml.Nvml()
