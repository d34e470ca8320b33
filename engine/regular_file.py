"""Opens regular files at paths that may hold a folder, or a pipe without a writer."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

# Opening a pipe must not block; Windows has no such files, and no such flag.
NONBLOCKING = getattr(os, "O_NONBLOCK", 0)


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading. Raises OSError, also for a folder, a pipe or a device."""
    flags = os.O_RDONLY | NONBLOCKING | getattr(os, "O_BINARY", 0)
    file = open(path, "rb", opener=lambda name, _: os.open(name, flags))  # noqa: SIM115
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "It is not a regular file", str(path))


def read_bounded(path: Path, most_bytes: int) -> bytes:
    """Return a file's bytes. Raises OSError as `open_regular` does, and if it is longer."""
    with open_regular(path) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return content
