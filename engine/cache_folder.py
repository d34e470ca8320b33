"""A cache folder on disk: entries that can be made again, up to a size limit.

An entry is a file or a folder named after its content, written under a name that ends in
`UNFINISHED` and then renamed. The least recently used entries are removed first. An entry that any
process holds stays.
"""

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Collection
from pathlib import Path
from secrets import token_hex

import msgspec

from engine.file_lock import FileLock
from engine.file_paths import is_folder

UNFINISHED = ".part"
_DAY_S = 24 * 3600
# An unfinished entry of this age was abandoned by its process.
_ABANDONED_S = _DAY_S


class Entry(msgspec.Struct, frozen=True):
    """An entry: `bytes` on disk, `last_used` in seconds since 1970."""

    name: str
    path: Path
    bytes: int
    last_used: float


class CacheFolder:
    """The entries of a folder whose names end in `suffix`.

    For entries that are folders, `marker` is the name of the file in them that exists once the
    entry is complete; its time of change is the entry's last use, and holding the entry locks it.
    Entries that are files are their own markers.
    """

    def __init__(self, folder: Path, cap_bytes: int, suffix: str = "", marker: str = "") -> None:
        self.folder, self.cap_bytes = folder, cap_bytes
        self._suffix, self._marker = suffix, marker

    def path(self, name: str) -> Path:
        """Return the path of an entry with this name, whether it exists or not."""
        return self.folder / f"{name}{self._suffix}"

    def entries(self) -> list[Entry]:
        """Return every complete entry, by name."""
        found: list[Entry] = []
        for path in sorted(self.folder.glob(f"*{self._suffix}")):
            if path.suffix == UNFINISHED:
                continue
            with contextlib.suppress(OSError):  # no entry, or removed meanwhile
                last_used = self._marked(path).stat().st_mtime
                name = path.name.removesuffix(self._suffix)
                found.append(Entry(name, path, _size(path), last_used))
        return found

    def hold(self, name: str) -> FileLock | None:
        """Keep an entry from being removed until the lock is released; None if there is none.

        The entry counts as used now.
        """
        marker = self._marked(self.path(name))
        try:
            lock = FileLock(marker, shared=True)
        except OSError:
            return None
        with contextlib.suppress(OSError):  # a cache that cannot be written to
            os.utime(marker)
        return lock

    def remove(self, names: Collection[str] = ()) -> None:
        """Delete the entries of these names, or all if none are named; held entries stay."""
        for entry in self.entries():
            if not names or entry.name in names:
                self._remove(entry.path)

    def make_room(self, needed: int) -> None:
        """Delete the least recently used entries until `needed` more bytes fit, if possible.

        They must fit under the cap and on the disk.
        """
        self._sweep()
        now = time.time()
        entries = sorted(self.entries(), key=lambda entry: recency(entry.last_used, now))
        excess = sum(entry.bytes for entry in entries) + needed - self.cap_bytes
        excess = max(excess, needed - self.free())
        for entry in entries:
            if excess <= 0:
                return
            if self._remove(entry.path):
                excess -= entry.bytes

    def free(self) -> int:
        """Return the bytes that are free on the folder's disk. Raises OSError.

        A folder that is missing will lie where its nearest parent does.
        """
        there = next(filter(is_folder, (self.folder, *self.folder.parents)), self.folder)
        return shutil.disk_usage(there).free

    def _remove(self, path: Path) -> bool:
        """Delete an entry that nobody holds; return whether it is gone."""
        try:
            lock = FileLock(self._marked(path))
        except OSError:
            return False
        if sys.platform == "win32":
            lock.release()  # or our own handle would keep it; those of others do
        # Renamed first, so that no half of it is ever found. Windows neither renames nor deletes a
        # file that is open or mapped; the entry then stays in the list.
        gone = unfinished(path)
        try:
            path.rename(gone)
        except OSError:
            return False
        finally:
            lock.release()
        delete(gone)
        return True

    def _sweep(self) -> None:
        """Delete unfinished entries of processes that were killed."""
        for path in self.folder.glob("*"):
            is_whole = path.suffix != UNFINISHED and self._marked(path).exists()
            with contextlib.suppress(OSError):
                # One from the future is not being written, either.
                if not is_whole and abs(time.time() - path.stat().st_mtime) > _ABANDONED_S:
                    delete(path)

    def _marked(self, path: Path) -> Path:
        return path / self._marker if self._marker else path


def recency(last_used: float, now: float) -> float:
    """Return when something was last used, both in s since 1970, to compare it with others.

    That is 0 where it would be later than tomorrow: a clock was wrong, and nothing else would be
    kept until then.
    """
    return last_used if last_used < now + _DAY_S else 0.0


def unfinished(path: Path) -> Path:
    """Return a unique name next to an entry, for the entry being written or deleted."""
    return path.with_name(f"{path.name}.{token_hex(4)}{UNFINISHED}")


def delete(path: Path) -> None:
    """Delete a file or a folder as far as possible; a missing one is no error."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if not file.is_dir())
