"""The share of the processor that a process takes where others want it, too.

Standard library only, so that small processes start at once.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

# nice(1) gives as much when no number is said: a tenth of a share beside a usual process.
_LOWER_NICE, _LOWEST_NICE = 10, 19
# macOS, <sys/resource.h>: the calling process, and background priority for processor and disk.
_PRIO_DARWIN_PROCESS, _PRIO_DARWIN_BG = 4, 0x1000


def yield_to_others() -> None:
    """Give this process, and those that it starts, a small share beside others of the usual kind.

    Alone, it takes all that there is. Linux weighs sessions against each other, and the priorities
    of their processes within them alone (sched(7), autogroup), so a session of our own yields too.
    Windows favours the window in front by itself, and gives no fast core of a hybrid processor to
    what is below the normal class (github.com/fastbuild/fastbuild/issues/1012): nothing is lowered
    there.
    """
    if sys.platform == "win32":
        _use_every_core()
        return
    with suppress(OSError):
        os.nice(_LOWER_NICE)
    if sys.platform == "linux" and os.getsid(0) == os.getpid():
        # Absent where the kernel has no such groups.
        with suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(_LOWER_NICE), "ascii")


def take_no_time_from_others() -> None:
    """Have this process run only when no other wants the processor, and read when none reads."""
    if sys.platform == "win32":
        _stay_in_the_background()
        return
    with suppress(OSError):
        os.nice(_LOWEST_NICE)
    with suppress(OSError):
        if sys.platform == "linux":
            # Covers the disk too: the kernel puts the process in the idle class of both.
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        elif sys.platform == "darwin":
            os.setpriority(_PRIO_DARWIN_PROCESS, 0, _PRIO_DARWIN_BG)


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    # SetPriorityClass: lowest for processor and disk.
    _PROCESS_MODE_BACKGROUND_BEGIN = 0x00100000
    # SetProcessInformation, processthreadsapi.h: the version, and control of the speed.
    _PROCESS_POWER_THROTTLING, _VERSION, _EXECUTION_SPEED = 4, 1, 1

    class _PowerThrottling(ctypes.Structure):
        """PROCESS_POWER_THROTTLING_STATE of the Windows API."""

        _fields_ = (
            ("version", wintypes.ULONG),
            ("control", wintypes.ULONG),
            ("state", wintypes.ULONG),
        )

    def _use_every_core() -> None:
        """Have the process count as one that is looked at, also where its window is minimised."""
        throttling = _PowerThrottling(version=_VERSION, control=_EXECUTION_SPEED, state=0)
        kernel, process = _own_process()
        size = ctypes.sizeof(throttling)
        kernel.SetProcessInformation(
            process, _PROCESS_POWER_THROTTLING, ctypes.byref(throttling), size
        )

    def _stay_in_the_background() -> None:
        kernel, process = _own_process()
        kernel.SetPriorityClass(process, _PROCESS_MODE_BACKGROUND_BEGIN)

    def _own_process() -> tuple[ctypes.WinDLL, int]:
        """Return Windows' library, with the types of its functions, and our pseudo handle, -1.

        Without types it would be cut to 32 bits, and be no handle.
        """
        handle, number = wintypes.HANDLE, wintypes.DWORD
        kernel = ctypes.WinDLL("kernel32")
        kernel.GetCurrentProcess.argtypes, kernel.GetCurrentProcess.restype = (), handle
        kernel.SetPriorityClass.argtypes = (handle, number)
        kernel.SetProcessInformation.argtypes = (handle, ctypes.c_int, ctypes.c_void_p, number)
        return kernel, kernel.GetCurrentProcess()
