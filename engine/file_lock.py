"""File locks that the system releases when their holder ends, however it ends.

They work between processes, and between two locks of one process. On a file system without locks
(some network ones) every lock succeeds: the files under them are renamed into place whole anyway.
"""

import os
import sys
from pathlib import Path

from engine.regular_file import NONBLOCKING

# Far beyond the end of any file: on Windows a locked range cannot be read by others.
_PLACE = 1 << 62


class FileLock:
    """A lock on an open file; it ends with `release` or with the process."""

    def __init__(self, path: Path, *, shared: bool = False, create: bool = False) -> None:
        """Take the lock, or raise BlockingIOError at once; other OSErrors if there is no such file.

        Any number of `shared` locks may exist together, but not along with one that is not shared.
        """
        flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY
        # Without O_NONBLOCK, opening a pipe of that name would block.
        flags |= getattr(os, "O_BINARY", 0) | NONBLOCKING
        self._descriptor = os.open(path, flags, 0o644)
        try:
            _lock(self._descriptor, shared=shared)
            _require_still_there(path, self._descriptor)
        except BaseException:
            os.close(self._descriptor)
            raise

    def release(self) -> None:
        """Release the lock; calling it again is harmless."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _require_still_there(path: Path, descriptor: int) -> None:
    """Raise BlockingIOError if the name now belongs to another file: ours was removed meanwhile."""
    if not os.path.samestat(path.stat(), os.fstat(descriptor)):
        raise BlockingIOError(f"{path} was replaced")


if sys.platform == "win32":
    import ctypes
    import msvcrt
    from ctypes import wintypes

    _FAIL_IMMEDIATELY, _EXCLUSIVE = 1, 2  # LockFileEx, fileapi.h
    _ERROR_LOCK_VIOLATION, _ERROR_IO_PENDING = 33, 997

    class _Overlapped(ctypes.Structure):
        _fields_ = (
            ("internal", ctypes.c_void_p),
            ("internal_high", ctypes.c_void_p),
            ("offset", wintypes.DWORD),
            ("offset_high", wintypes.DWORD),
            ("event", wintypes.HANDLE),
        )

    def _lock(descriptor: int, *, shared: bool) -> None:
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        numbers = (wintypes.DWORD,) * 4
        kernel.LockFileEx.argtypes = (wintypes.HANDLE, *numbers, ctypes.c_void_p)
        flags = _FAIL_IMMEDIATELY | (0 if shared else _EXCLUSIVE)
        place = _Overlapped(offset=_PLACE & 0xFFFFFFFF, offset_high=_PLACE >> 32)
        handle = msvcrt.get_osfhandle(descriptor)
        if not kernel.LockFileEx(handle, flags, 0, 1, 0, ctypes.byref(place)):
            number = ctypes.get_last_error()
            if number in (_ERROR_LOCK_VIOLATION, _ERROR_IO_PENDING):
                raise BlockingIOError("the file is locked")

else:
    import fcntl

    def _lock(descriptor: int, *, shared: bool) -> None:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            return  # no locks here
