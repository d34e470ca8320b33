"""The end of the window's process, which nothing may hold up for ever."""

import logging
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager

# Three times as long as the engine and all files take to close on a slow disk.
PATIENCE_S = 15.0
_log = logging.getLogger(__name__)


@contextmanager
def ends_in_time() -> Generator[None]:
    """End the process when the body takes longer than `PATIENCE_S` seconds.

    A folder of a network that is gone holds the thread that reads it, and no program can wake it.
    What a person made is written before anything is waited for, and the engine ends with its
    pipe.
    """

    def end() -> None:
        _log.warning("A folder or disk does not answer; Safelight ends without it.")
        os._exit(0)

    timer = threading.Timer(PATIENCE_S, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
