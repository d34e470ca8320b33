"""The processor and main memory of the host, read from the operating system."""

import ctypes
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from backends.base import MemoryInfo
from backends.hardware import registry

_CGROUP = Path("/sys/fs/cgroup")
_KEPT_FILES = ("active_file", "inactive_file")
_PROCESSORS = Path("/sys/devices/system/cpu")


def cpu_name() -> str:
    """Return the processor's marketing name, or its architecture if the name is unknown."""
    if sys.platform == "win32":
        return registry.read_processor() or platform.machine()
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    named = _mac_value(b"machdep.cpu.brand_string", 256) if sys.platform == "darwin" else b""
    return (
        named.rstrip(b"\0").decode(errors="replace") or platform.processor() or platform.machine()
    )


def cpu_cores(processors: Path = _PROCESSORS) -> int:
    """Return the cores that this process may use, each once though it may run several threads.

    Where the system does not tell which threads share a core, each counts as one. `processors` is
    Linux's folder of them.
    """
    if sys.platform != "linux":
        return os.cpu_count() or 1
    return _cores(os.sched_getaffinity(0), processors)


def core_cache_bytes(processors: Path = _PROCESSORS) -> int:
    """Return a core's share of the second cache, in bytes; 0 where the system does not tell.

    `processors` is Linux's folder of them.
    """
    for cache in processors.glob("cpu0/cache/index*"):
        with suppress(OSError, ValueError):
            if (cache / "level").read_text().strip() == "2":
                kilobytes = (cache / "size").read_text().strip().removesuffix("K")
                sharing = _numbers((cache / "shared_cpu_list").read_text())
                return int(kilobytes) * 1024 // _cores(sharing, processors)
    return 0


def _cores(numbers: Iterable[int], processors: Path) -> int:
    files = [processors / f"cpu{number}" / "topology/core_cpus_list" for number in numbers]
    return len({file.read_text() if file.exists() else str(file) for file in files})


def _numbers(text: str) -> Iterator[int]:
    """Return the numbers of a list like 0-3,8."""
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def host_memory() -> MemoryInfo:
    """Return main memory in bytes, within the limits of the container of this process."""
    if sys.platform == "win32":
        return _windows_memory()
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if sys.platform != "linux":
        return MemoryInfo(total=total, free=_mac_free(total), integrated=True)
    free = _meminfo("MemAvailable") or total // 2
    limit, used = _cgroup_bytes("memory.max"), _cgroup_bytes("memory.current")
    if limit is not None and used is not None:
        held = used - min(used, _cgroup_file_bytes())
        total, free = min(total, limit), min(free, max(0, limit - held))
    return MemoryInfo(total=total, free=free, integrated=True)


def private_bytes(process: int | None = None) -> int | None:
    """Return a process' anonymous memory in bytes (not backed by files); None if unknown.

    `process` is the process' id; None stands for this process.
    """
    if sys.platform != "linux":
        return None
    try:
        status = Path(f"/proc/{process or 'self'}/status").read_text()
    except OSError:  # it ended
        return None
    for line in status.splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return None


def _meminfo(key: str) -> int | None:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return None


def _cgroup_bytes(name: str) -> int | None:
    try:
        text = (_CGROUP / name).read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _cgroup_file_bytes() -> int:
    """Return the bytes of files that a container keeps in memory until it needs that.

    They count as used, such as a model that was read; without them `host_memory` would shrink by
    each file, while MemAvailable does not.
    """
    try:
        lines = (_CGROUP / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    counts = (line.partition(" ") for line in lines)
    return sum(int(count) for name, _, count in counts if name in _KEPT_FILES)


def _mac_free(total: int) -> int:
    """Return the free bytes by kern.memorystatus_level (% of `total`); half if that is unknown."""
    value = _mac_value(b"kern.memorystatus_level", ctypes.sizeof(ctypes.c_int))
    level = int.from_bytes(value, sys.byteorder, signed=True) if value else -1
    return total * level // 100 if 0 <= level <= 100 else total // 2


def _mac_value(name: bytes, most: int, read: Callable[..., int] | None = None) -> bytes:
    """Return a value of macOS' kernel, at most so many bytes; nothing if it has none of that name.

    `read` is sysctlbyname(3) of the system.
    """
    read = read or ctypes.CDLL(None).sysctlbyname
    value, size = ctypes.create_string_buffer(most), ctypes.c_size_t(most)
    failed = read(name, value, ctypes.byref(size), None, ctypes.c_size_t(0))
    return b"" if failed else value.raw[: size.value]


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("unused", ctypes.c_uint64 * 5),
    )


def _windows_memory() -> MemoryInfo:
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    if sys.platform == "win32":
        kernel = ctypes.WinDLL("kernel32")
        kernel.GlobalMemoryStatusEx.argtypes = (ctypes.c_void_p,)
        kernel.GlobalMemoryStatusEx(ctypes.byref(status))
    return MemoryInfo(total=status.total, free=status.available, integrated=True)
