"""A Windows job object that ends its processes when our process ends, however it ends.

Written to Microsoft's documentation of CreateJobObjectW and JOBOBJECT_EXTENDED_LIMIT_INFORMATION;
not yet run on Windows.
"""

import ctypes
import sys
from ctypes import wintypes

_EXTENDED_LIMIT_INFORMATION = 9
_KILL_ON_JOB_CLOSE = 0x2000
_PROCESS_TERMINATE_AND_SET_QUOTA = 0x0001 | 0x0100


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", wintypes.LARGE_INTEGER),
        ("PerJobUserTimeLimit", wintypes.LARGE_INTEGER),
        ("LimitFlags", wintypes.DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", wintypes.DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", wintypes.DWORD),
        ("SchedulingClass", wintypes.DWORD),
    )


class _IoCounters(ctypes.Structure):
    _fields_ = tuple(
        (f"{name}{kind}Count", ctypes.c_ulonglong)
        for kind in ("Operation", "Transfer")
        for name in ("Read", "Write", "Other")
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", _IoCounters),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


if sys.platform == "win32":

    class KillOnCloseJob:
        """A job of processes that the system ends when the last handle to the job is closed.

        Our process has the only handle and never closes it, so they end when our process does.
        """

        def __init__(self) -> None:
            """Create the job. Raises OSError."""
            self._kernel = _kernel()
            self._job = self._kernel.CreateJobObjectW(None, None)
            if not self._job:
                raise ctypes.WinError(ctypes.get_last_error())
            limits = _ExtendedLimits()
            limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
            size = ctypes.sizeof(limits)
            arguments = (self._job, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), size)
            if not self._kernel.SetInformationJobObject(*arguments):
                raise ctypes.WinError(ctypes.get_last_error())

        def add(self, pid: int) -> None:
            """Add a process to the job. Raises OSError."""
            process = self._kernel.OpenProcess(_PROCESS_TERMINATE_AND_SET_QUOTA, False, pid)
            if not process:
                raise ctypes.WinError(ctypes.get_last_error())
            try:
                if not self._kernel.AssignProcessToJobObject(self._job, process):
                    raise ctypes.WinError(ctypes.get_last_error())
            finally:
                self._kernel.CloseHandle(process)

    def _kernel() -> ctypes.WinDLL:
        """Return Windows' library, with the types of the functions above."""
        handle, number = wintypes.HANDLE, wintypes.DWORD
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
        kernel.CreateJobObjectW.restype = handle
        kernel.SetInformationJobObject.argtypes = (handle, ctypes.c_int, ctypes.c_void_p, number)
        kernel.OpenProcess.argtypes = (number, wintypes.BOOL, number)
        kernel.OpenProcess.restype = handle
        kernel.AssignProcessToJobObject.argtypes = (handle, handle)
        kernel.CloseHandle.argtypes = (handle,)
        return kernel
