"""An append-only file of entries, one JSON object a line, that survives a crash or a power cut.

Its first line is a header with the version and the kind of the journal. A thread writes the lines
and syncs them to the disk, so nobody waits for the disk; lines that come during a sync are written
and synced together after it.
"""

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO, Generic, TypeVar

import msgspec

from app.storage.aside import copy_aside, put_aside
from app.storage.full_disk import make_room
from engine.api.sentences import NO_WORDS, Sentence, completed, sentence
from engine.api.texts import encode_json
from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import FULL, put_in_place, sync_file, sync_folder
from engine.regular_file import NONBLOCKING, open_when_free
from engine.untrusted_json import JsonError, decode_json

VERSION = 1
# A line with two prompts of the greatest length, as JSON.
_MAX_LINE_BYTES = 32 << 20
_PIECE_BYTES = 1 << 16
_HEADER_BEGINS = b'{"journal"'

Entry = TypeVar("Entry")


class _Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a journal. The oldest journals, all of the queue, name no kind."""

    journal: int
    kind: str = ""


_header_decoder = msgspec.json.Decoder(_Header)


class JournalWords(msgspec.Struct, frozen=True):
    """Sentences for a person about one kind of journal.

    `unreadable` has the fields {path} and {reason}, `unwritable` {folder} and {reason}.
    """

    newer: Sentence
    damaged: Sentence
    unreadable: Sentence
    unwritable: Sentence


class JournalKind(msgspec.Struct, Generic[Entry], frozen=True):
    """A kind of journal: its name in the header, its entries, and how its problems are told.

    `decoder` reads an entry from a line; `code` is that of a journal that cannot be read.
    """

    name: str
    decoder: msgspec.json.Decoder[Entry]
    code: ErrorCode
    words: JournalWords

    @property
    def header(self) -> bytes:
        """The first line of such a journal."""
        return encode_json(_Header(journal=VERSION, kind=self.name)) + b"\n"


class JournalContent(msgspec.Struct, Generic[Entry], frozen=True):
    """The entries of a journal, and what was wrong with its file."""

    entries: tuple[Entry, ...]
    problem: ErrorInfo | None = None


class Journal(msgspec.Struct, Generic[Entry], frozen=True):
    """A journal in one file."""

    path: Path
    kind: JournalKind[Entry]

    def read(self) -> JournalContent[Entry]:
        """Return the entries; none where there is no file.

        A last line that is cut off, as a power cut leaves it, is no problem. If other lines are
        damaged, a copy of the file is kept beside it; a journal of another kind, or of a newer
        Safelight, is put aside. The problem names the file that was kept.
        """
        try:
            with open_when_free(self.path) as file:
                header = _header(file.readline(_MAX_LINE_BYTES)) or _Header(journal=VERSION)
                is_newer = header.journal > VERSION
                is_ours = header.kind in ("", self.kind.name)
                file.seek(0)
                found = _read_lines(file, self.kind.decoder) if is_ours and not is_newer else None
        except (FileNotFoundError, NotADirectoryError):
            return JournalContent(())
        except OSError as error:
            aside = put_aside(self.path, "unreadable")
            return JournalContent((), self._unreadable(aside, error))
        # Windows renames no open file.
        if found is None:
            aside = put_aside(self.path, "newer" if is_newer else "foreign")
            return JournalContent((), self._newer(aside) if is_newer else self._foreign(aside))
        entries, damaged = found
        problem = self._damaged(damaged, copy_aside(self.path, "damaged")) if damaged else None
        return JournalContent(tuple(entries), problem)

    def rewrite(self, entries: Iterable[Entry]) -> ErrorInfo | None:
        """Replace the journal by one with these entries; return why that failed."""
        fresh = self.path.with_name(f"{self.path.name}.new")
        content = b"".join((self.kind.header, *map(_line, entries)))
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Prompts are private.
            with open(fresh, "wb", opener=_open_private) as file:
                file.write(content)
                file.flush()
                sync_file(file.fileno())
            put_in_place(fresh, self.path)
            with suppress(OSError):  # the old journal, if it comes back, is as good
                sync_folder(self.path.parent)
        except OSError as error:
            return self.unwritable(error, len(content))
        return None

    def unwritable(self, error: OSError, size: int) -> ErrorInfo:
        """Return the error for a journal in which `size` bytes cannot be written."""
        full = error.errno in FULL
        words = self.kind.words.unwritable
        return ErrorInfo(
            ErrorCode.DISK_FULL if full else ErrorCode.OUTPUT_NOT_WRITABLE,
            completed(words, folder=self.path.parent, reason=error.strerror),
            make_room(self.path.parent, size)
            if full
            else sentence("Choose another folder with SAFELIGHT_STATE."),
            str(error),
        )

    def _newer(self, aside: Path | None) -> ErrorInfo:
        hint = _kept_as(aside)
        return ErrorInfo(self.kind.code, self.kind.words.newer, hint)

    def _foreign(self, aside: Path | None) -> ErrorInfo:
        hint = _kept_as(aside)
        return ErrorInfo(self.kind.code, self.kind.words.damaged, hint, "a journal of another kind")

    def _damaged(self, lines: int, aside: Path | None) -> ErrorInfo:
        hint = _kept_as(aside)
        detail = f"{lines} lines could not be read"
        return ErrorInfo(self.kind.code, self.kind.words.damaged, hint, detail)

    def _unreadable(self, aside: Path | None, error: OSError) -> ErrorInfo:
        look = sentence("See that the folder can be read, or choose another with SAFELIGHT_STATE.")
        return ErrorInfo(
            self.kind.code,
            completed(self.kind.words.unreadable, path=self.path, reason=error.strerror),
            sentence("{kept} {look}", kept=_kept_as(aside), look=look) if aside else look,
            str(error),
        )


class JournalWriter(Generic[Entry]):
    """Appends to a journal on a thread of its own.

    `synced(n)` reports that all entries up to number `n` are on the disk, `failed` that the disk
    does not take them; both are called on that thread. After a failure `synced` is called all
    the same: work goes on, and the unwritten entries are written with the next ones. `failed` is
    called once for failures in a row; with `failing`, such a row was reported before.
    """

    def __init__(
        self,
        journal: Journal[Entry],
        synced: Callable[[int], None],
        failed: Callable[[ErrorInfo], None],
        *,
        failing: bool = False,
    ) -> None:
        self._journal = journal
        self._synced = synced
        self._failed = failed
        self._last = 0
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._unwritten = b""
        self._failing = failing
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def append(self, entry: Entry) -> int:
        """Queue an entry to be written; return its number, from 1 on."""
        self._last += 1
        self._lines.put(_line(entry))
        return self._last

    def close(self) -> None:
        """Write what was appended, and end the thread."""
        self._lines.put(None)
        self._thread.join()

    def _run(self) -> None:
        done, open_ = 0, True
        while open_:
            lines = [self._lines.get()]
            while not self._lines.empty():
                lines.append(self._lines.get())
            open_ = None not in lines
            written = list(filter(None, lines))
            self._unwritten += b"".join(written)
            # Also at the end without a new entry: the disk may take now what it refused.
            if not self._unwritten:
                continue
            self._write()
            done += len(written)
            self._synced(done)

    def _write(self) -> None:
        try:
            self._append_and_sync()
        except OSError as error:
            if not self._failing:
                self._failed(self._journal.unwritable(error, len(self._unwritten)))
            self._failing = True
        else:
            self._unwritten = b""
            self._failing = False

    def _append_and_sync(self) -> None:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | NONBLOCKING | getattr(os, "O_BINARY", 0)
        descriptor = _open_private(self._journal.path, flags)
        try:
            before = _end_of_lines(descriptor)
            try:
                rest = memoryview(
                    self._unwritten if before else self._journal.kind.header + self._unwritten
                )
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                sync_file(descriptor)
            except OSError:
                # Remove a half-written line, which would spoil the next one.
                with suppress(OSError):
                    os.truncate(descriptor, before)
                raise
        finally:
            os.close(descriptor)


def _end_of_lines(descriptor: int) -> int:
    """Cut off a last line that a power cut left without its end; return the size of the file.

    The next line would be one with it, and lost. Raises OSError.
    """
    size = end = os.fstat(descriptor).st_size
    piece_bytes = 1
    while end:
        begin = max(0, end - piece_bytes)
        os.lseek(descriptor, begin, os.SEEK_SET)
        at = os.read(descriptor, end - begin).rfind(b"\n")
        if at >= 0:
            end = begin + at + 1
            break
        end, piece_bytes = begin, _PIECE_BYTES
    if end < size:
        os.truncate(descriptor, end)
    return end


def _kept_as(aside: Path | None) -> Sentence:
    return sentence("The file was kept as {name}.", name=aside) if aside else NO_WORDS


def _line(entry: object) -> bytes:
    return encode_json(entry) + b"\n"


def _read_lines(file: BinaryIO, decoder: msgspec.json.Decoder[Entry]) -> tuple[list[Entry], int]:
    """Return the entries and the number of damaged lines; a missing header counts as one."""
    entries: list[Entry] = []
    damaged = 0
    with_header = False
    while line := file.readline(_MAX_LINE_BYTES):
        if not line.endswith(b"\n"):
            # A last line was cut off; any other is longer than the limit, which is damage.
            damaged += bool(file.read(1))
        elif line.startswith(_HEADER_BEGINS) and _header(line) is not None:
            with_header = True
        else:
            try:
                entries.append(decode_json(line, decoder))
            except JsonError:
                damaged += 1
    return entries, damaged + (not with_header and bool(entries))


def _header(line: bytes) -> _Header | None:
    try:
        return decode_json(line, _header_decoder)
    except JsonError:
        return None


def _open_private(path: str | Path, flags: int) -> int:
    return os.open(path, flags, 0o600)
