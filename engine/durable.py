"""Durable writes: syncing files and names to the disk itself.

Standard library only: the app's journal and the engine's pictures both depend on it.
"""

import errno
import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

# Errors of a disk that is full, or on which this user has no room left.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# Errors of link() on file systems without hard links: FAT, exFAT, some network shares.
_NO_LINKS = frozenset(
    {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL}
)


def sync_file(descriptor: int) -> None:
    """Wait until the bytes are on the disk itself. Raises OSError."""
    if sys.platform == "darwin":
        import fcntl

        # On macOS fsync stops at the drive's cache; some file systems support nothing else.
        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Make a new name durable; on Windows NTFS's journal does that. Raises OSError."""
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
    """Replace a file's content in one step: readers see the old or the new. Raises OSError.

    Makes the folder. `durable` waits until the content is on the disk itself.
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
    """Give a file its final name. A folder of that name, which we never make, is moved aside.

    Raises OSError.
    """
    try:
        part.replace(path)
    except OSError:
        if not path.is_dir():
            raise
        path.rename(tempfile.mkdtemp(dir=path.parent, prefix=f"{path.name}.aside-"))
        part.replace(path)


def rename_without_overwrite(temporary: Path, final: Path) -> None:
    """Rename a file in one step. Raises FileExistsError if the name is taken; OSError."""
    if sys.platform == "win32":
        temporary.rename(final)  # refuses an existing name there
        return
    try:
        os.link(temporary, final)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Only a writer that begins at this moment could slip in between.
        if os.path.lexists(final):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(final)) from error
        temporary.rename(final)
    else:
        # The file is safe under its name, whatever becomes of the other one.
        with suppress(OSError):
            temporary.unlink()


def rename_to_free(temporary: Path, names: Iterable[str]) -> Path:
    """Rename a file to the first of names without end that is free; its path. Raises OSError."""
    for name in names:
        with suppress(FileExistsError):
            rename_without_overwrite(temporary, temporary.with_name(name))
            return temporary.with_name(name)
    raise AssertionError("the names have no end")
