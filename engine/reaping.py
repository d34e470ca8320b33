"""A process between the app and the engine on Linux: it waits for the engine's end, not the app.

Linux has whoever waits for a dead process free that process's entries in /proc, and spin until its
threads have freed theirs, which are of low priority and may have to wait for the processor. Threads
have entries once they were listed, and hwloc, by which OpenVINO places its own, lists them. It held
the window's thread up for as much as 0.2 s where an engine was killed on a busy machine.

Standard library only, and little of it: the process stays for as long as the engine does.
"""

import os
import signal
import sys
from typing import NoReturn

from engine.parent import die_with_parent


def go_on_in_child(parent: int) -> int:
    """Go on in a child of this process, which waits for it; return the child's parent.

    This process ends as the child does, with its exit status or by its signal, and each ends with
    the one above it, up to `parent`, the app. On Windows and macOS nothing happens, and `parent` is
    returned.
    """
    if sys.platform != "linux":
        return parent
    # Ctrl-C in the app's terminal is the app's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    between = os.getpid()
    child = os.fork()
    if child:
        die_with_parent(parent)
        _, status = os.waitpid(child, 0)
        _end_as(os.waitstatus_to_exitcode(status))
    return between


def _end_as(status: int) -> NoReturn:
    """End this process with an exit status, or by the signal of a negative one."""
    if status < 0:
        import resource

        # The child has left a core dump, if anybody wants one.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), -status)
    os._exit(status)
