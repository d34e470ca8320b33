"""The time that all processors of this machine spent and were busy, as the system counts it."""

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

_COUNTS = Path("/proc/stat")
# Linux's columns before those of guests, which are in the first ones already, and the idle ones.
_COLUMNS, _IDLE = 8, (3, 4)
_FILETIME_S = 1e-7
# host_statistics(3) of macOS: HOST_CPU_LOAD_INFO, and its counts: user, system, idle, nice.
_CPU_LOAD, _STATES, _MAC_IDLE = 3, 4, 2


class ProcessorTimes(msgspec.Struct, frozen=True):
    """Seconds since some time in the past, added up over all processors.

    `busy_s` are those in which any program ran, or another machine on the same hardware. Systems
    count in steps of up to a 64th of a second on each processor.
    """

    all_s: float
    busy_s: float


def processor_times(counts: Path = _COUNTS) -> ProcessorTimes | None:
    """Return the times until now; None where the system does not tell.

    `counts` is Linux's file of them.
    """
    if sys.platform == "win32":
        return _windows_times()
    if sys.platform == "darwin":
        return _mac_times()
    try:
        name, *texts = counts.read_text().partition("\n")[0].split()
        ticks = [int(text) for text in texts[:_COLUMNS]]
    except (OSError, ValueError):
        return None
    if name != "cpu" or len(ticks) < _COLUMNS:
        return None
    return _of_ticks(ticks, sum(ticks[number] for number in _IDLE))


def _of_ticks(ticks: list[int], idle: int) -> ProcessorTimes:
    second = os.sysconf("SC_CLK_TCK")
    return ProcessorTimes(sum(ticks) / second, (sum(ticks) - idle) / second)


def _windows_times() -> ProcessorTimes | None:
    # The kernel's time includes that in which nothing ran.
    idle, kernel, user = (ctypes.c_uint64() for _ in range(3))
    if sys.platform == "win32":
        library = ctypes.WinDLL("kernel32")
        library.GetSystemTimes.argtypes = (ctypes.c_void_p,) * 3
        pointers = (ctypes.byref(value) for value in (idle, kernel, user))
        if not library.GetSystemTimes(*pointers):
            return None
    spent = kernel.value + user.value
    return ProcessorTimes(spent * _FILETIME_S, (spent - idle.value) * _FILETIME_S)


def _mac_times(read: Callable[..., int] | None = None) -> ProcessorTimes | None:
    """Return macOS' times; `read` is host_statistics(3) of the system."""
    ticks, count = (ctypes.c_uint32 * _STATES)(), ctypes.c_uint32(_STATES)
    host = 0
    if read is None:
        system = ctypes.CDLL(None)
        system.mach_host_self.restype = ctypes.c_uint32
        host, read = system.mach_host_self(), system.host_statistics
    wanted = (ctypes.c_uint32(host), ctypes.c_int(_CPU_LOAD))
    if read(*wanted, ticks, ctypes.byref(count)):
        return None
    return _of_ticks(list(ticks), ticks[_MAC_IDLE])
