"""Painted masks and pasted pictures that nothing names any more, removed some time after.

Finished pictures name the files that they were made with. So those that a job had are listed for
good, and are never removed; what else names one is in a document of the state folder.
"""

import logging
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from app.form.masks import FOLDERS, KEPT_NAME, remove_kept
from app.queue.jobs import Job
from app.storage.aside import put_aside
from engine.api.texts import encode_json
from engine.regular_file import read_bounded

FILE = "used-pictures.txt"
# A mask or picture that nothing names is removed so long after it was last made, in seconds.
KEPT_S = 14 * 24 * 3600
# Larger documents than any of ours.
_MOST_BYTES = 256 << 20
_NAMES = re.compile(KEPT_NAME.encode("ascii"))
_log = logging.getLogger(__name__)


class UsedPictures:
    """The list of files that jobs used. Its first line is the time when it was begun, in s.

    Files older than the list are never removed; while it cannot be written, no file is.
    """

    def __init__(self, state: Path) -> None:
        self._state, self._path = state, state / FILE
        self._names: set[bytes] = set()
        self._since = self._read()

    def note(self, *jobs: Job) -> None:
        """List the files that jobs name, before these begin."""
        new: list[bytes] = []
        for job in jobs:
            for name in _names_in(encode_json(job.request)):
                if name not in self._names:
                    self._names.add(name)
                    new.append(name)
        if new and self._since is not None:
            self._write(b"".join(name + b"\n" for name in new))

    def remove_unused(self, now: float | None = None) -> int:
        """Remove what nothing names; return the number of files. For a background thread."""
        if self._since is None:
            return 0
        before = (time.time() if now is None else now) - KEPT_S
        old = [path for path in self._kept() if self._since < _changed(path) < before]
        if not old:
            return 0
        try:
            named = self._names | set(self._named())
        except OSError as error:
            _log.info("what names masks cannot be read: %s", error)
            return 0
        unused = (path for path in old if path.name.encode() not in named)
        return sum(remove_kept(path, before) for path in unused)

    def _kept(self) -> Iterator[Path]:
        for folder in FOLDERS:
            with suppress(OSError):
                for path in (self._state / folder).iterdir():
                    if re.fullmatch(KEPT_NAME, path.name):
                        yield path

    def _named(self) -> Iterator[bytes]:
        """Yield the names in every document and journal of the state folder. Raises OSError."""
        for path in self._state.iterdir():
            if ".json" in path.name and path.is_file():
                yield from _names_in(read_bounded(path, _MOST_BYTES))

    def _read(self) -> float | None:
        """Return the time at which the list began; None if there can be none."""
        try:
            first, *names = read_bounded(self._path, _MOST_BYTES).split(b"\n")
            self._names.update(names)
            return float(first)
        except FileNotFoundError:
            began = time.time()
            return began if self._write(f"{began}\n".encode()) else None
        except (OSError, ValueError) as error:
            _log.info("the list of used pictures cannot be read: %s", error)
            # One that begins anew keeps all that is there.
            put_aside(self._path, "damaged")
            return None

    def _write(self, lines: bytes) -> bool:
        try:
            self._state.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(lines)
        except OSError as error:
            _log.info("the list of used pictures cannot be written: %s", error)
            self._since = None
            with suppress(OSError):
                self._path.unlink()
            return False
        return True


def _names_in(content: bytes) -> Iterator[bytes]:
    return (match[0] for match in _NAMES.finditer(content))


def _changed(path: Path) -> float:
    """Return a file's time of change, in s; infinity if it cannot be told."""
    try:
        return path.stat().st_mtime
    except OSError:
        return float("inf")
