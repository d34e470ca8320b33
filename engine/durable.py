"""What is written stays written: syncing files and names to the disk itself.

Standard library only: the app's journal and the engine's pictures make the same promise.
"""

import errno
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

# What a disk answers that has no room, or gives this user none.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def sync_file(descriptor: int) -> None:
    """Wait until the bytes are on the disk itself. Raises OSError."""
    if sys.platform == "darwin":
        import fcntl

        # fsync stops at the drive's cache on macOS; some file systems have only that.
        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Make a new name durable; on Windows NTFS's journal does. Raises OSError."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync_file(descriptor)
    except OSError as error:
        # Some network file systems cannot sync folders.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Give a file this content at once: whoever reads it finds the old or the new. Raises OSError.

    Makes the folder. `durable` waits until it is on the disk itself.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                sync_file(file.fileno())
        put_in_place(Path(name), path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if durable:
        with suppress(OSError):  # the old file, if it comes back, is as good
            sync_folder(path.parent)


def put_in_place(part: Path, path: Path) -> None:
    """Give a file its name. A folder of that name, which no program of ours made, is put aside.

    Raises OSError.
    """
    try:
        part.replace(path)
    except OSError:
        if not path.is_dir():
            raise
        path.rename(tempfile.mkdtemp(dir=path.parent, prefix=f"{path.name}.aside-"))
        part.replace(path)
