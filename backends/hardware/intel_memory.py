"""Memory of Intel's discrete GPUs on Linux, read from the kernel because sysfs lacks it.

Structures and numbers: include/uapi/drm/i915_drm.h (DRM_I915_QUERY_MEMORY_REGIONS) and xe_drm.h
(DRM_XE_DEVICE_QUERY_MEM_REGIONS) of Linux 6.12.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

_I915_QUERY, _I915_MEMORY_REGIONS = 0xC0106479, 4
_XE_QUERY, _XE_MEMORY_REGIONS = 0xC0286440, 1
# Both drivers number memory on the card as class 1.
_ON_CARD = 1
_I915_HEADER, _XE_HEADER = 16, 8
# i915: class, instance, padding, size, unallocated. xe: class, instance, page size, size, used.
_REGION = struct.Struct("=HHIQQ")
_REGION_BYTES = 88
_MOST_BYTES = 1 << 16

Ioctl = Callable[[int, int, ctypes.Array[ctypes.c_char]], object]


class CardMemory(msgspec.Struct, frozen=True):
    """A card's memory in bytes; `free` is None if the kernel reports it only to administrators."""

    total: int
    free: int | None


def read_card_memory(node: Path, driver: str) -> CardMemory | None:
    """Return the memory of the card behind a render node.

    None if it has no memory of its own or the kernel refuses the query.
    """
    if sys.platform != "linux" or driver not in ("i915", "xe"):
        return None
    from fcntl import ioctl

    try:
        handle = os.open(node, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return ask_i915(handle, ioctl) if driver == "i915" else ask_xe(handle, ioctl)
    except OSError:
        return None
    finally:
        os.close(handle)


def ask_i915(handle: int, ioctl: Ioctl) -> CardMemory | None:
    """Return i915's memory, queried for the length, then for the content. Raises OSError."""
    item = ctypes.create_string_buffer(24)
    query = ctypes.create_string_buffer(struct.pack("=IIQ", 1, 0, ctypes.addressof(item)), 16)
    struct.pack_into("=QiIQ", item, 0, _I915_MEMORY_REGIONS, 0, 0, 0)
    ioctl(handle, _I915_QUERY, query)
    length = struct.unpack_from("=Qi", item)[1]
    if not 0 < length <= _MOST_BYTES:
        return None
    answer = ctypes.create_string_buffer(length)
    struct.pack_into("=QiIQ", item, 0, _I915_MEMORY_REGIONS, length, 0, ctypes.addressof(answer))
    ioctl(handle, _I915_QUERY, query)
    return i915_memory(answer.raw)


def ask_xe(handle: int, ioctl: Ioctl) -> CardMemory | None:
    """Return xe's memory, queried for the size, then for the content. Raises OSError."""
    query = ctypes.create_string_buffer(40)
    struct.pack_into("=QIIQ", query, 0, 0, _XE_MEMORY_REGIONS, 0, 0)
    ioctl(handle, _XE_QUERY, query)
    length = struct.unpack_from("=QII", query)[2]
    if not 0 < length <= _MOST_BYTES:
        return None
    answer = ctypes.create_string_buffer(length)
    struct.pack_into("=QIIQ", query, 0, 0, _XE_MEMORY_REGIONS, length, ctypes.addressof(answer))
    ioctl(handle, _XE_QUERY, query)
    return xe_memory(answer.raw)


def i915_memory(answer: bytes) -> CardMemory | None:
    """Parse drm_i915_query_memory_regions. Without privileges "unallocated" equals the size."""
    regions = _regions(answer, _I915_HEADER)
    total, unallocated = sum(size for size, _ in regions), sum(rest for _, rest in regions)
    if not total:
        return None
    return CardMemory(total, unallocated if unallocated < total else None)


def xe_memory(answer: bytes) -> CardMemory | None:
    """Parse drm_xe_query_mem_regions. Without privileges "used" is 0."""
    regions = _regions(answer, _XE_HEADER)
    total, used = sum(size for size, _ in regions), sum(used for _, used in regions)
    if not total:
        return None
    return CardMemory(total, total - used if 0 < used <= total else None)


def _regions(answer: bytes, header: int) -> list[tuple[int, int]]:
    """Return the size and the other figure (unallocated or used) of each region on the card."""
    found: list[tuple[int, int]] = []
    for offset in range(header, len(answer) - _REGION_BYTES + 1, _REGION_BYTES):
        kind, _, _, size, figure = _REGION.unpack_from(answer, offset)
        if kind == _ON_CARD:
            found.append((size, figure))
    return found
