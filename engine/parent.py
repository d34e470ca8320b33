"""Ends a process together with the process that started it, even if it hangs.

The app starts the engine, and the engine starts compilers. The end of a pipe stops them too, but a
native call that never returns would keep it from being noticed. On Windows the app holds the engine
and its children in a job object that ends with the app.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import sleep

_PR_SET_PDEATHSIG = 1
_POLL_S = 0.5


def die_with_parent(parent: int | None) -> None:
    """End this process when its parent ends, or at once if it has ended.

    `parent` is the parent's process id, because it may have ended before this call; None means the
    present parent.
    """
    expected = os.getppid() if parent is None else parent
    if sys.platform == "linux":
        _ask_for_signal()
        if os.getppid() != expected:  # it died before the signal was asked for
            os._exit(0)
    elif sys.platform != "win32":
        arguments = (expected, os.getppid, lambda: os._exit(0))
        Thread(target=watch, args=arguments, name="parent", daemon=True).start()


def die_first(parent: int | None, pipe: int) -> None:
    """End this process when its parent ends or closes the pipe, and first when memory runs out.

    `pipe` is a descriptor that nothing more is read from.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
    die_with_parent(parent)

    def wait_for_the_end() -> None:
        while os.read(pipe, 1):
            pass
        os._exit(0)

    Thread(target=wait_for_the_end, name="parent's pipe", daemon=True).start()


def watch(
    parent: int, read: Callable[[], int], gone: Callable[[], None], every_s: float = _POLL_S
) -> None:
    """Call `gone` once `read` no longer returns `parent`."""
    while read() == parent:
        sleep(every_s)
    gone()


def _ask_for_signal() -> None:
    """Ask Linux to kill this process when the thread that started it ends."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
