"""Opens regular files at paths that may hold a folder, or a pipe without a writer."""

import errno
import os
import stat
import time
from io import BufferedReader
from pathlib import Path

# Opening a pipe must not block; Windows has no such files, and no such flag.
NONBLOCKING = getattr(os, "O_NONBLOCK", 0)
# So often, and so many seconds each time, a file is waited for that another program holds.
_HELD_TIMES, _HELD_S = 5, 0.1


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading. Raises OSError, also for a folder, a pipe or a device."""
    flags = os.O_RDONLY | NONBLOCKING | getattr(os, "O_BINARY", 0)
    file = open(path, "rb", opener=lambda name, _: os.open(name, flags))  # noqa: SIM115
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "It is not a regular file", str(path))


def open_when_free(path: Path) -> BufferedReader:
    """Open a file as `open_regular` does; half a second is waited for one that a program holds.

    On Windows a program can keep all others from a file for a moment, as some do that back it up.
    """
    for _ in range(_HELD_TIMES):
        try:
            return open_regular(path)
        except PermissionError:
            if not os.access(path, os.R_OK):
                raise
            time.sleep(_HELD_S)
    return open_regular(path)


def read_bounded(path: Path, most_bytes: int) -> bytes:
    """Return a file's bytes. Raises OSError as `open_regular` does, and if it is longer."""
    with open_regular(path) as file:
        return _bounded(file, path, most_bytes)


def read_when_free(path: Path, most_bytes: int) -> bytes:
    """Return a file's bytes as `read_bounded` does; waits for it as `open_when_free` does."""
    with open_when_free(path) as file:
        return _bounded(file, path, most_bytes)


def _bounded(file: BufferedReader, path: Path, most_bytes: int) -> bytes:
    content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return content
