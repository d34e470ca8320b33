"""Removes versions that are neither used nor gone back to any more."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from app.versions.trees import LIST
from engine.file_lock import FileLock

REMOVED = ".removed-"


def remove_version(folder: Path) -> None:
    """Remove a version's folder: first its name, so that no half of it is ever used.

    Raises OSError if it is in use on Windows.
    """
    gone = folder.with_name(f"{REMOVED}{folder.name}-{token_hex(4)}")
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def remove_others(versions: Path, kept: set[str]) -> None:
    """Remove all versions but these; those in use stay until the next time."""
    with suppress(OSError), os.scandir(versions) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = Path(entry.path)
            if entry.name not in kept and (path / LIST).is_file() and not _is_in_use(path):
                with suppress(OSError):
                    remove_version(path)


def hold(folder: Path) -> FileLock | None:
    """Keep a version from being removed while this process runs; None if it has no list."""
    try:
        return FileLock(folder / LIST, shared=True)
    except OSError:
        return None


def _is_in_use(folder: Path) -> bool:
    """Return True if a process holds the version."""
    try:
        FileLock(folder / LIST).release()
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
