"""A file that has arrived in part, beside a note of where it comes from."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from app.downloads.connection import Stopped
from app.downloads.source import Source
from engine.durable import LONG_PATIENCE_S, put_in_place, sync_file, sync_folder
from engine.regular_file import NONBLOCKING, open_regular
from engine.untrusted_json import JsonError, read_json

_BLOCK_BYTES = 1 << 20
_MOST_NOTE_BYTES = 64 << 10


class _Note(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of a part: `validator` is the server's ETag or date of change, for `If-Range`."""

    url: str
    validator: str
    size: int
    sha256: str


_decoder = msgspec.json.Decoder(_Note)


class Part:
    """The part of a file that has arrived, open for writing at its end.

    Its bytes are hashed from the disk when it is opened, and further ones as they are written.
    """

    def __init__(self, source: Source, folder: Path, stopped: Callable[[], bool]) -> None:
        """Open or make the part. Raises OSError and Stopped."""
        self.path = part_path(source, folder)
        self._source, self._folder = source, folder
        self._note_path = _note_path(source, folder)
        self._note = self._read_note()
        flags = os.O_RDWR | os.O_CREAT | NONBLOCKING | getattr(os, "O_BINARY", 0)
        self._file: BinaryIO = os.fdopen(os.open(self.path, flags, 0o644), "r+b", buffering=0)
        self._hash = hashlib.sha256()
        self.length = 0
        try:
            self._take_up(stopped)
        except BaseException:
            self._file.close()
            raise

    @property
    def is_whole(self) -> bool:
        """True if as many bytes are here as the file has."""
        return self.length == self._source.size

    @property
    def is_right(self) -> bool:
        """True if the bytes that are here are the whole file's, as far as its hash is known."""
        stated = self._source.sha256
        return self.is_whole and stated in ("", self._hash.hexdigest())

    def validator(self, url: str) -> str:
        """Return what this URL's server calls the file that the part is of; empty if unknown."""
        return self._note.validator if self._note and self._note.url == url else ""

    def restart(self, url: str = "", validator: str = "") -> None:
        """Drop what is here; what comes next is from this URL. Raises OSError."""
        self._file.seek(0)
        self._file.truncate()
        self._hash = hashlib.sha256()
        self.length = 0
        source = self._source
        self._note = _Note(url=url, validator=validator, size=source.size, sha256=source.sha256)
        # One that is half written counts as none, and nothing is here that it could cost.
        self._note_path.write_bytes(msgspec.json.encode(self._note))

    def write(self, content: bytes) -> None:
        """Append bytes. Raises OSError; those that were written until then are kept."""
        rest = memoryview(content)
        while rest:
            written = self._file.write(rest) or 0
            self._hash.update(rest[:written])
            self.length += written
            rest = rest[written:]

    def first_bytes(self) -> bytes:
        """Return the beginning of the file. Raises OSError."""
        self._file.seek(0)
        first = self._file.read(64)
        self._file.seek(self.length)
        return first

    def finish(self) -> Path:
        """Make the file durable under its name, and return its path. Raises OSError."""
        sync_file(self._file.fileno())
        self._file.close()
        final = self._folder / self._source.file_name
        put_in_place(self.path, final, LONG_PATIENCE_S)
        sync_folder(self._folder)
        self._note_path.unlink(missing_ok=True)
        return final

    def close(self) -> None:
        """Leave the part for another time; of one without bytes nothing stays."""
        self._file.close()
        if not self.length:
            with suppress(OSError):
                discard(self._source, self._folder)

    def _read_note(self) -> _Note | None:
        """Return the note, if it is one of a part of this file."""
        try:
            note = read_json(self._note_path, _decoder, _MOST_NOTE_BYTES)
        except (OSError, JsonError):
            return None
        source = self._source
        return note if (note.size, note.sha256) == (source.size, source.sha256) else None

    def _take_up(self, stopped: Callable[[], bool]) -> None:
        """Hash what is here, if it is a part of this file, and drop it otherwise."""
        if self._note is None or os.fstat(self._file.fileno()).st_size > self._source.size:
            self.restart()
            return
        for block in _blocks(self._file, stopped):
            self._hash.update(block)
            self.length += len(block)


def discard(source: Source, folder: Path) -> None:
    """Remove what has arrived of a file. Raises OSError."""
    part_path(source, folder).unlink(missing_ok=True)
    _note_path(source, folder).unlink(missing_ok=True)


def arrived(source: Source, folder: Path) -> int:
    """Return the number of bytes of a file that seem to be here, by the sizes on the disk."""
    whole = _size(folder / source.file_name) == source.size
    return source.size if whole else min(_size(part_path(source, folder)), source.size)


def part_path(source: Source, folder: Path) -> Path:
    """Return the place where a file's bytes are kept until all are here."""
    return folder / f"{source.file_name}.part"


def is_there(source: Source, folder: Path, stopped: Callable[[], bool]) -> bool:
    """True if the file is in the folder, with the right bytes. Raises Stopped."""
    try:
        with open_regular(folder / source.file_name) as file:
            if os.fstat(file.fileno()).st_size != source.size:
                return False
            found = hashlib.sha256()
            for block in _blocks(file, stopped):
                found.update(block)
    except OSError:
        return False
    return source.sha256 in ("", found.hexdigest())


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _note_path(source: Source, folder: Path) -> Path:
    return folder / f"{source.file_name}.part.json"


def _blocks(file: BinaryIO, stopped: Callable[[], bool]) -> Iterator[bytes]:
    while block := file.read(_BLOCK_BYTES):
        if stopped():
            raise Stopped
        yield block
