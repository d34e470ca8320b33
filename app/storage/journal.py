"""An append-only file of what happened, one JSON object a line, that survives whatever ends us.

The first line names the version. Lines are written and synced to the disk by a thread, so that no
one waits for the disk; what comes while it syncs goes with the next sync.
"""

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

import msgspec

from app.queue.job_list import Entry
from app.storage.aside import copy_aside, put_aside
from engine.api.texts import encode_json
from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import FULL, put_in_place, sync_file, sync_folder
from engine.regular_file import NONBLOCKING, open_regular
from engine.untrusted_json import JsonError, decode_json

VERSION = 1
# A line with two prompts of the longest kind, as JSON.
_MAX_LINE_BYTES = 32 << 20
_decoder = msgspec.json.Decoder[Entry](Entry)  # pyright: ignore[reportArgumentType]


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line."""

    journal: int


_header_decoder = msgspec.json.Decoder(Header)
_HEADER = encode_json(Header(journal=VERSION)) + b"\n"
_HEADER_BEGINS = b'{"journal"'


@dataclass(frozen=True, slots=True)
class JournalContent:
    """What a journal held, and what was wrong with it."""

    entries: tuple[Entry, ...]
    problem: ErrorInfo | None = None


def encode_entry(entry: Entry) -> bytes:
    """An entry as a line."""
    return encode_json(entry) + b"\n"


def read_journal(path: Path) -> JournalContent:
    """The entries of a journal; none where there is no file.

    A last line that was cut off is what a power cut leaves, and no problem. Other damage, or a
    journal of a newer Safelight, is put aside beside the file, and the problem says so.
    """
    try:
        with open_regular(path) as file:
            first = file.readline(_MAX_LINE_BYTES)
            if first and _is_newer(first):
                return JournalContent((), _newer_problem(put_aside(path, "newer")))
            file.seek(0)
            entries, damaged = _read_lines(file)
    except (FileNotFoundError, NotADirectoryError):
        return JournalContent(())
    except OSError as error:
        aside = put_aside(path, "unreadable")
        return JournalContent((), _unreadable_problem(path, aside, error))
    problem = _damage_problem(damaged, copy_aside(path, "damaged")) if damaged else None
    return JournalContent(tuple(entries), problem)


def rewrite_journal(path: Path, entries: Iterable[Entry]) -> ErrorInfo | None:
    """Put a journal with just these entries in the place of the old one; why that cannot be."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Prompts are nobody else's business.
        with open(fresh, "wb", opener=_open_private) as file:
            file.write(_HEADER)
            file.writelines(map(encode_entry, entries))
            file.flush()
            sync_file(file.fileno())
        put_in_place(fresh, path)
        with suppress(OSError):  # the old journal, if it comes back, is as good
            sync_folder(path.parent)
    except OSError as error:
        return _unwritable_problem(path, error)
    return None


class JournalWriter:
    """Appends to a journal on a thread of its own.

    `synced(n)` says that everything up to number `n` is on the disk, and `failed` that the disk
    does not take it; both are called on that thread. After a failure numbers are reported all the
    same: work goes on, and what could not be written is tried again with what comes next.
    `failed` is called once until it succeeds; `failing`: that was told already.
    """

    def __init__(
        self,
        path: Path,
        synced: Callable[[int], None],
        failed: Callable[[ErrorInfo], None],
        *,
        failing: bool = False,
    ) -> None:
        self._path = path
        self._synced = synced
        self._failed = failed
        self._last = 0
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._unwritten = b""
        self._failing = failing
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def append(self, line: bytes) -> int:
        """Have a line written; its number."""
        self._last += 1
        self._lines.put(line)
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
            if not written:
                continue
            self._unwritten += b"".join(written)
            self._write()
            done += len(written)
            self._synced(done)

    def _write(self) -> None:
        try:
            self._append_and_sync()
        except OSError as error:
            if not self._failing:
                self._failed(_unwritable_problem(self._path, error))
            self._failing = True
        else:
            self._unwritten = b""
            self._failing = False

    def _append_and_sync(self) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | NONBLOCKING | getattr(os, "O_BINARY", 0)
        descriptor = _open_private(self._path, flags)
        try:
            before = os.fstat(descriptor).st_size
            try:
                rest = memoryview(self._unwritten if before else _HEADER + self._unwritten)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                sync_file(descriptor)
            except OSError:
                # Half a line would spoil the next one.
                with suppress(OSError):
                    os.truncate(descriptor, before)
                raise
        finally:
            os.close(descriptor)


def _read_lines(file: BinaryIO) -> tuple[list[Entry], int]:
    """The entries, and how many lines are not."""
    entries: list[Entry] = []
    damaged = 0
    with_header = False
    while line := file.readline(_MAX_LINE_BYTES):
        if not line.endswith(b"\n"):
            # Cut off if it is the last, endless if it is not.
            damaged += bool(file.read(1))
        elif line.startswith(_HEADER_BEGINS) and _header(line) is not None:
            with_header = True
        else:
            try:
                entries.append(decode_json(line, _decoder))
            except JsonError:
                damaged += 1
    return entries, damaged + (not with_header and bool(entries))


def _header(line: bytes) -> Header | None:
    try:
        return decode_json(line, _header_decoder)
    except JsonError:
        return None


def _is_newer(line: bytes) -> bool:
    header = _header(line)
    return header is not None and header.journal > VERSION


def _open_private(path: str | Path, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _newer_problem(aside: Path | None) -> ErrorInfo:
    return ErrorInfo(
        ErrorCode.QUEUE_UNREADABLE,
        "The queue was left by a newer version of Safelight, and this one starts without it.",
        f"It was kept as {aside}." if aside else "",
    )


def _damage_problem(damaged: int, aside: Path | None) -> ErrorInfo:
    return ErrorInfo(
        ErrorCode.QUEUE_UNREADABLE,
        "A part of the queue's file is damaged; jobs may be missing.",
        f"The file was kept as {aside}." if aside else "",
        f"{damaged} lines could not be read",
    )


def _unreadable_problem(path: Path, aside: Path | None, error: OSError) -> ErrorInfo:
    kept = f"It was kept as {aside}. " if aside else ""
    return ErrorInfo(
        ErrorCode.QUEUE_UNREADABLE,
        f"The queue in {path} cannot be read: {error.strerror}.",
        f"{kept}See that the folder can be read, or choose another with SAFELIGHT_STATE.",
        str(error),
    )


def _unwritable_problem(path: Path, error: OSError) -> ErrorInfo:
    full = error.errno in FULL
    return ErrorInfo(
        ErrorCode.DISK_FULL if full else ErrorCode.OUTPUT_NOT_WRITABLE,
        f"The queue cannot be saved in {path.parent}: {error.strerror}. It goes on without.",
        "Free some space." if full else "Choose another folder with SAFELIGHT_STATE.",
        str(error),
    )
