"""Keeps the computer from going to sleep while something is made that nobody has to touch it for.

Windows sleeps some minutes after the last key, however busy the processor or the card is. The
screen goes dark all the same, and a lid that is closed, or Sleep in the menu, acts at once.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager

# EXECUTION_STATE, winbase.h: until the thread's next call; the system is needed.
_CONTINUOUS, _SYSTEM_REQUIRED = 0x80000000, 0x00000001


@contextmanager
def staying_awake() -> Generator[None]:
    """Keep the computer awake within the block, which one thread enters and leaves."""
    _set_state(_CONTINUOUS | _SYSTEM_REQUIRED)
    try:
        yield
    finally:
        _set_state(_CONTINUOUS)


def _set_state(state: int) -> None:
    """Tell Windows what this thread needs; each call replaces the thread's last one."""
    if sys.platform == "win32":
        import ctypes
        from ctypes import wintypes

        kernel = ctypes.WinDLL("kernel32")
        kernel.SetThreadExecutionState.argtypes = (wintypes.DWORD,)
        kernel.SetThreadExecutionState(state)
