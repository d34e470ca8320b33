"""Checks of paths of unknown origin, typed by a user or named in a stranger's picture.

No function raises: a path may be longer than the system allows, hold a null character, lead through
a folder without access, or be a circle of links.
"""

import errno
import os
import stat
from pathlib import Path

from engine.api.sentences import Sentence, as_it_is, sentence

_TOO_LONG = sentence("its name is longer than this system takes")
_KINDS = {
    stat.S_IFDIR: sentence("it is a folder"),
    stat.S_IFCHR: sentence("it is a device"),
    stat.S_IFBLK: sentence("it is a device"),
    stat.S_IFIFO: sentence("it is a pipe"),
    stat.S_IFSOCK: sentence("it is a socket"),
}


def exists(path: str | Path) -> bool:
    """True if there is anything at the path."""
    return os.path.exists(path)  # noqa: PTH110 (pathlib's raises)


def is_file(path: str | Path) -> bool:
    """True for a file or a link to one."""
    return os.path.isfile(path)  # noqa: PTH113 (pathlib's raises)


def file_status(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return an entry's status; None if it is no file, or vanished since it was listed."""
    try:
        return entry.stat() if entry.is_file() else None
    except OSError:
        return None


def is_folder(path: str | Path) -> bool:
    """True for a folder or a link to one."""
    return os.path.isdir(path)  # noqa: PTH112 (pathlib's raises)


def is_same_place(path: Path, other: Path) -> bool:
    """True for two names of one file or folder, as with and without capitals on macOS."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False


def why_no_file(path: str | Path) -> Sentence | None:
    """Return why no file can be read at a path, as the end of a sentence; None if one can."""
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)  # noqa: PTH116 (pathlib's does the same)
    except (FileNotFoundError, NotADirectoryError):
        return sentence("there is no such file")
    except OSError as error:
        return _TOO_LONG if error.errno == errno.ENAMETOOLONG else as_it_is(str(error.strerror))
    except ValueError:
        return sentence("its name has a character that no file's has")
    return _KINDS.get(kind)


def is_too_long(path: str | Path) -> bool:
    """True if the system allows no name, or no path, of this length."""
    return why_no_file(path) == _TOO_LONG
