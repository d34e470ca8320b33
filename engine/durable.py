"""Durable writes: syncing files and names to the disk itself.

Standard library only: the app's journal and the engine's pictures both depend on it.
"""

import errno
import math
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

# Errors of a disk that is full, or on which this user has no room left.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# Errors of link() on file systems without hard links: FAT, exFAT, some network shares.
_NO_LINKS = frozenset(
    {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL}
)
# The most that a rename waits for other programs: virus scanners, indexers and programs that
# synchronise folders open what was just written, and Windows renames neither an open file nor a
# folder with one in it. What is large takes them longer, and took long to make.
_PATIENCE_S, LONG_PATIENCE_S = 2.0, 15.0
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.01, 0.5


def room_needed(size: int) -> float:
    """Return a number of bytes as MB, rounded up to tenths: a small file needs some room, too."""
    return math.ceil(max(size, 1) / 1e5) / 10


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


def open_part(folder: Path) -> tuple[int, Path]:
    """Make an empty file in a folder, for this user alone; return descriptor and path.

    Not by `tempfile`, which on Windows takes a folder that may not be written to for a name that is
    taken, and tries 2^31 others (github.com/python/cpython/issues/66305). Raises OSError.
    """
    path = folder / f".{token_hex(8)}.part"
    only_ours = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | only_ours, 0o600), path


def require_new_files(folder: Path) -> None:
    """Make a folder, if it is missing. Raises OSError unless files can be made in it."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, part = open_part(folder)
    os.close(descriptor)
    with suppress(OSError):  # where another program looks into it
        part.unlink()


def replace_file(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Replace a file's content in one step: readers see the old or the new. Raises OSError.

    Makes the folder. `durable` waits until the content is on the disk itself.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = open_part(path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                sync_file(file.fileno())
        put_in_place(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if durable:
        with suppress(OSError):  # the old file, if it comes back, is as good
            sync_folder(path.parent)


def put_in_place(part: Path, path: Path, patience_s: float | None = None) -> None:
    """Give a file its final name. A folder of that name, which we never make, is moved aside.

    `patience_s` is how long other programs may hold the file; a while by default. Raises OSError.
    """
    try:
        _rename(part.replace, path, patience_s)
    except OSError:
        if not path.is_dir():
            raise
        path.rename(path.with_name(f"{path.name}.aside-{token_hex(4)}"))
        part.replace(path)


def rename_folder(folder: Path, final: Path) -> None:
    """Give a new folder its final name, which is free. Raises OSError."""
    _rename(folder.rename, final, LONG_PATIENCE_S)


def rename_without_overwrite(temporary: Path, final: Path, patience_s: float | None = None) -> None:
    """Rename a file in one step. Raises FileExistsError if the name is taken; OSError."""
    if sys.platform == "win32":
        _rename(temporary.rename, final, patience_s)  # refuses an existing name there
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


def _rename(rename: Callable[[Path], object], final: Path, patience_s: float | None) -> None:
    """Rename to `final`; wait while another program holds what is renamed. Raises OSError."""
    end = time.monotonic() + (_PATIENCE_S if patience_s is None else patience_s)
    wait_s = _SHORTEST_WAIT_S
    while True:
        try:
            rename(final)
        except PermissionError:
            # Windows also says so of a folder in the place of a file.
            if time.monotonic() > end or final.is_dir():
                raise
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
        else:
            return
