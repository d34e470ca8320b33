"""Renaming and deleting as on Windows, for tests: neither works for a file that is open.

Python opens files there without FILE_SHARE_DELETE (`_wopen`), and MoveFileExW and DeleteFileW fail
with ERROR_SHARING_VIOLATION or ERROR_ACCESS_DENIED, which Python raises as PermissionError. The
same holds for mapped files, and for folders with such files in them. Files that this process has
open are those that Linux lists.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from engine import durable

_DESCRIPTORS, _MAPS = Path("/proc/self/fd"), Path("/proc/self/maps")
# The place of a path in a line of `maps`, after its five other columns.
_COLUMNS = 5


class WindowsFiles:
    """Functions in the place of `os.rename`, `os.replace`, `os.unlink` and `os.rmdir`.

    `refused` has the paths that were refused.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.refused: list[str] = []
        for name in ("rename", "replace", "unlink", "remove", "rmdir"):
            monkeypatch.setattr(os, name, self._guarded(getattr(os, name)))

    def _guarded(self, act: Any) -> Any:
        def guarded(path: Any, *others: Any, **options: Any) -> Any:
            places: list[str | os.PathLike[str]] = [path, *others[:1]]
            for place in places:
                self._require_free(os.fspath(place), options.get("dir_fd"))
            return act(path, *others, **options)

        return guarded

    def _require_free(self, path: str | bytes, folder: int | None) -> None:
        above = Path.cwd() if folder is None else (_DESCRIPTORS / str(folder)).readlink()
        place = above / os.fsdecode(path)
        place = place.parent.resolve() / place.name
        for held in _held():
            if held == place or place in held.parents:
                self.refused.append(str(place))
                raise PermissionError(errno.EACCES, "The file is open (as on Windows)", str(place))


class Scanner:
    """A program that looks into a file, and closes it after so many waits of ours."""

    def __init__(self, path: Path, waits: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = waits
        self._file: BinaryIO = path.open("rb")
        monkeypatch.setattr(durable.time, "sleep", self._wait)

    def _wait(self, _seconds: float) -> None:
        self.left -= 1
        if self.left == 0:
            self._file.close()

    def close(self) -> None:
        self._file.close()


def _held() -> Iterator[Path]:
    """Yield the paths of this process' open and mapped files, not of folders."""
    for descriptor in _DESCRIPTORS.iterdir():
        with suppress(OSError):
            path = descriptor.readlink()
            if path.is_absolute() and not path.is_dir():
                yield path
    for line in _MAPS.read_text().splitlines():
        columns = line.split(maxsplit=_COLUMNS)
        if len(columns) > _COLUMNS and columns[_COLUMNS].startswith("/"):
            yield Path(columns[_COLUMNS])
