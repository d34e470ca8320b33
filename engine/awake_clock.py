"""The clock by which work is timed: it stands still while the computer sleeps."""

import sys
import time

if sys.platform == "win32":
    import ctypes

    # All other clocks of Windows count sleep. This one is in units of 100 ns:
    # https://learn.microsoft.com/windows/win32/sysinfo/interrupt-time
    _REALTIME = ctypes.WinDLL("api-ms-win-core-realtime-l1-1-1.dll")
    _REALTIME.QueryUnbiasedInterruptTimePrecise.argtypes = (ctypes.POINTER(ctypes.c_ulonglong),)
    _REALTIME.QueryUnbiasedInterruptTimePrecise.restype = None
    _PER_SECOND = 10_000_000

    def awake_seconds() -> float:
        """Return the seconds that the computer was awake since some moment."""
        count = ctypes.c_ulonglong()
        _REALTIME.QueryUnbiasedInterruptTimePrecise(ctypes.byref(count))
        return count.value / _PER_SECOND

else:

    def awake_seconds() -> float:
        """Return the seconds that the computer was awake since some moment."""
        # CLOCK_MONOTONIC of Linux and mach_absolute_time of macOS stand still, too.
        return time.monotonic()
