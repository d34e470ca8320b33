"""The entries of a folder, as a person chooses among them."""

import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

_DIGITS = re.compile(r"([0-9]+)")


class FolderEntry(msgspec.Struct, frozen=True, gc=False):
    """A file or a folder; the size is in bytes, 0 for a folder."""

    path: str
    name: str
    is_folder: bool
    size: int
    modified_ns: int


def list_entries(folder: Path, patterns: Sequence[str]) -> tuple[FolderEntry, ...]:
    """Return the folders in a folder, then its files that fit a pattern such as `*.png`.

    Both are in the order of their names, where 2 comes before 10; case does not matter. Hidden
    entries, broken links and what is neither a file nor a folder are left out. Raises OSError.
    """
    with os.scandir(folder) as entries:
        found = [entry for os_entry in entries if (entry := _entry(os_entry, patterns)) is not None]
    return tuple(sorted(found, key=lambda entry: (not entry.is_folder, _order(entry.name))))


def _entry(entry: os.DirEntry[str], patterns: Sequence[str]) -> FolderEntry | None:
    if entry.name.startswith("."):
        return None
    try:
        is_folder = entry.is_dir()
        if not is_folder and not (fits(entry.name, patterns) and entry.is_file()):
            return None
        status = entry.stat()
    except OSError:
        return None
    size = 0 if is_folder else status.st_size
    return FolderEntry(entry.path, entry.name, is_folder, size, status.st_mtime_ns)


def fits(name: str, patterns: Sequence[str]) -> bool:
    """Return True if the name of a file fits one of the patterns."""
    return any(fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)


def _order(name: str) -> list[str | int]:
    parts = _DIGITS.split(name.casefold())
    # The parts between digits have the even places, whatever the name begins with.
    return [int(part) if at % 2 else part for at, part in enumerate(parts)]
