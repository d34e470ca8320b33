"""The kernel's answers about memory on a card, played by an ioctl that fills them in."""

import ctypes
import struct
from pathlib import Path

import pytest

from backends.hardware import intel_memory
from backends.hardware.intel_memory import CardMemory

_SYSTEM, _CARD = 0, 1


def region(kind: int, size: int, figure: int) -> bytes:
    return struct.pack("=HHIQQ", kind, 0, 4096, size, figure).ljust(88, b"\0")


I915 = struct.pack("=I12x", 2) + region(_SYSTEM, 64 << 30, 64 << 30)
XE = struct.pack("=II", 2, 0) + region(_SYSTEM, 64 << 30, 1 << 30)


@pytest.mark.parametrize(
    ("unallocated", "free"), [(5 << 30, 5 << 30), (6 << 30, None), ((1 << 64) - 1, None)]
)
def test_i915_tells_what_is_free_only_to_administrators(unallocated: int, free: int | None) -> None:
    answer = I915 + region(_CARD, 6 << 30, unallocated)
    assert intel_memory.i915_memory(answer) == CardMemory(6 << 30, free)


@pytest.mark.parametrize(("used", "free"), [(2 << 30, 10 << 30), (0, None)])
def test_xe_tells_what_is_used_only_to_administrators(used: int, free: int | None) -> None:
    assert intel_memory.xe_memory(XE + region(_CARD, 12 << 30, used)) == CardMemory(12 << 30, free)


def test_a_processors_graphics_have_no_memory_of_their_own() -> None:
    assert intel_memory.i915_memory(I915) is None
    assert intel_memory.xe_memory(XE) is None


def test_i915_is_asked_for_the_length_and_then_for_the_content() -> None:
    answer = I915 + region(_CARD, 6 << 30, 6 << 30)

    def ioctl(handle: int, request: int, query: ctypes.Array[ctypes.c_char]) -> None:
        # DRM_IOWR(0x40 + 0x39, struct drm_i915_query) of 16 bytes, as i915_drm.h has it
        assert (handle, request) == (7, 3222299769)
        count, _, item = struct.unpack("=IIQ", query.raw)
        kind, length, _, place = struct.unpack("=QiIQ", ctypes.string_at(item, 24))
        assert (count, kind) == (1, 4)
        if length:
            assert length == len(answer)
            ctypes.memmove(place, answer, length)
        else:
            ctypes.memmove(item + 8, struct.pack("=i", len(answer)), 4)

    assert intel_memory.ask_i915(7, ioctl) == CardMemory(6 << 30, None)


def test_xe_is_asked_for_the_size_and_then_for_the_content() -> None:
    answer = XE + region(_CARD, 12 << 30, 0)

    def ioctl(handle: int, request: int, query: ctypes.Array[ctypes.c_char]) -> None:
        # DRM_IOWR(0x40 + 0x00, struct drm_xe_device_query) of 40 bytes, as xe_drm.h has it
        assert (handle, request) == (7, 3223872576)
        _, kind, length, place = struct.unpack_from("=QIIQ", query.raw)
        assert (len(query), kind) == (40, 1)
        if length:
            assert length == len(answer)
            ctypes.memmove(place, answer, length)
        else:
            struct.pack_into("=I", query, 12, len(answer))

    assert intel_memory.ask_xe(7, ioctl) == CardMemory(12 << 30, None)


@pytest.mark.parametrize("length", [0, -22, 1 << 20])
def test_an_answer_of_excessive_length_is_ignored(length: int) -> None:
    def ioctl(_handle: int, _request: int, query: ctypes.Array[ctypes.c_char]) -> None:
        item = struct.unpack("=IIQ", query.raw)[2]
        ctypes.memmove(item + 8, struct.pack("=i", length), 4)

    assert intel_memory.ask_i915(7, ioctl) is None


def test_a_missing_node_or_one_that_is_no_device_has_no_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, driver in (("file", "xe"), ("file", "i915"), ("nothing", "xe"), ("file", "amdgpu")):
        assert intel_memory.read_card_memory(tmp_path / name, driver) is None
