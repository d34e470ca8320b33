"""The share of the processor that a process takes where others want it, too.

Standard library only, so that small processes start at once.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

# nice(1) gives as much when no number is said: a tenth of a share beside a usual process.
_LOWER_NICE, _LOWEST_NICE = 10, 19
# Windows, SetPriorityClass: below the usual class; lowest for processor and disk.
_BELOW_NORMAL_PRIORITY_CLASS, _PROCESS_MODE_BACKGROUND_BEGIN = 0x4000, 0x00100000
# macOS, <sys/resource.h>: the calling process, and background priority for processor and disk.
_PRIO_DARWIN_PROCESS, _PRIO_DARWIN_BG = 4, 0x1000


def yield_to_others() -> None:
    """Give this process, and those that it starts, a small share beside others of the usual kind.

    Alone, it takes all that there is. Linux weighs sessions against each other, and the priorities
    of their processes within them alone (sched(7), autogroup), so a session of our own yields too.
    """
    if sys.platform == "win32":
        _set_windows_class(_BELOW_NORMAL_PRIORITY_CLASS)
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
        _set_windows_class(_PROCESS_MODE_BACKGROUND_BEGIN)
        return
    with suppress(OSError):
        os.nice(_LOWEST_NICE)
    with suppress(OSError):
        if sys.platform == "linux":
            # Covers the disk too: the kernel puts the process in the idle class of both.
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        elif sys.platform == "darwin":
            os.setpriority(_PRIO_DARWIN_PROCESS, 0, _PRIO_DARWIN_BG)


def _set_windows_class(priority: int) -> None:
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.SetPriorityClass(kernel.GetCurrentProcess(), priority)
