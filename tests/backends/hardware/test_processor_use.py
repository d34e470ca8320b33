"""The time of all processors is read as each system counts it."""

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from backends.hardware import processor_times
from backends.hardware.processor_use import _mac_times  # pyright: ignore[reportPrivateUsage]

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the file is Linux's")


@linux_only
def test_linux_counts_what_ran_without_guests(tmp_path: Path) -> None:
    counts = tmp_path / "stat"
    # User, nice, system, idle, waiting for disks, interrupts twice, stolen; guests are in user.
    counts.write_text("cpu  100 20 30 400 50 1 2 7 90 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    times = processor_times(counts)
    second = os.sysconf("SC_CLK_TCK")
    assert times is not None
    assert (times.all_s, times.busy_s) == (610 / second, 160 / second)


@linux_only
@pytest.mark.parametrize("text", ["", "cpu 1 2 3", "cpu a b c d e f g h", "intr 1 2 3 4 5 6 7 8"])
def test_a_file_that_tells_nothing_is_no_error(tmp_path: Path, text: str) -> None:
    counts = tmp_path / "stat"
    assert processor_times(counts) is None
    counts.write_text(text)
    assert processor_times(counts) is None


def test_work_is_counted_on_this_system() -> None:
    begin, own = processor_times(), time.process_time()
    assert begin is not None
    while time.process_time() - own < 0.1:
        pass
    end = processor_times()
    assert end is not None
    step = (os.cpu_count() or 1) / 64
    assert 0.1 - step <= end.busy_s - begin.busy_s <= end.all_s - begin.all_s + step


_POINTER = ctypes.POINTER(ctypes.c_uint32)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32, ctypes.c_int, _POINTER, _POINTER)
def host_statistics(_host: int, flavor: int, to: Any, count: Any) -> int:
    """Do as the header says: four counts for HOST_CPU_LOAD_INFO, an error for another flavor."""
    if flavor != 3 or count[0] < 4:
        return 4
    to[0], to[1], to[2], to[3] = 100, 30, 400, 20
    count[0] = 4
    return 0


@pytest.mark.skipif(sys.platform == "win32", reason="asks POSIX for the length of a tick")
def test_macos_counts_are_user_system_idle_nice() -> None:
    times = _mac_times(host_statistics)
    second = os.sysconf("SC_CLK_TCK")
    assert times is not None
    assert (times.all_s, times.busy_s) == (550 / second, 150 / second)


def test_macos_that_refuses_tells_nothing() -> None:
    assert _mac_times(lambda *_: 5) is None
