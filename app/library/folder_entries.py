"""The entries of a folder, as a person chooses among them."""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
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


def list_names(
    folder: Path, beginning: str, patterns: Sequence[str], most: int
) -> tuple[tuple[str, bool], ...]:
    """Return names in a folder that begin with a text, at most so many, and if each is a folder.

    Order, and what is left out, are those of `list_entries`; hidden entries are among them where
    the text begins with a dot. Case does not matter. A folder that cannot be read has none.
    """
    typed = beginning.casefold()
    found: list[tuple[str, bool]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_hidden = entry.name.startswith(".") and not typed
            if is_hidden or not entry.name.casefold().startswith(typed):
                continue
            # A link that leads nowhere, or in a circle, is neither.
            with suppress(OSError):
                is_folder = entry.is_dir()
                if is_folder or (fits(entry.name, patterns) and entry.is_file()):
                    found.append((entry.name, is_folder))
    return tuple(sorted(found, key=lambda each: (not each[1], _order(each[0])))[:most])


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
