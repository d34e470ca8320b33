"""Brings the index up to date with the files: folders are listed, new and changed files read.

Runs on one thread, which stops between files when told. Pictures are written some at a time, newest
first, so that the gallery is usable meanwhile; what was written before a kill is not read again.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event

import msgspec

from app.gallery.database import opened
from app.gallery.descriptions import UNKNOWN, read_description
from app.gallery.headers import Header, open_raw, read_header
from app.gallery.listing import Listing, list_folder
from app.gallery.marks import MarkStore
from app.gallery.precedence import Precedence
from app.gallery.rows import FolderState, Marks, Root, Trouble
from app.gallery.sidecars import read_sidecar
from app.gallery.storable import shown_path
from app.gallery.writing import (
    Found,
    Read,
    mark_found,
    mark_missing,
    note_folder,
    remove_below,
    remove_folder,
    remove_pictures,
    transaction,
    write_picture,
)
from engine.file_paths import is_folder
from engine.folders import is_settled

# A piece of the scan ends after as many pictures, or as many seconds, whichever comes first.
_PIECE, _PIECE_S = 200, 0.25


class Step(msgspec.Struct, frozen=True):
    """A part of a scan that is in the index: pictures read of those to read, and adopted marks."""

    done: int
    total: int
    adopted: dict[bytes, Marks]


class Scanned(msgspec.Struct, frozen=True):
    """The result of a scan: the folders to watch, and the state of each watched root.

    `unsettled` is true if files or folders changed so recently that they must be looked at again.
    """

    folders: tuple[str, ...]
    states: dict[Path, FolderState]
    unsettled: bool


class _Known(msgspec.Struct, frozen=True, gc=False):
    """A folder of the index."""

    id: int
    listed_ns: int
    device: int


class _Row(msgspec.Struct, frozen=True, gc=False):
    """A picture of the index, as far as listings are compared with it."""

    id: int
    found: Found
    missing: bool
    trouble: str


class _Unread(msgspec.Struct, frozen=True, gc=False):
    """A file to read; `rewritten` if its sidecar has another time than when it was last read."""

    folder: int
    path: str
    found: Found
    rewritten: bool = False


class _Told(msgspec.Struct, frozen=True, gc=False):
    """A file that was read, and the marks in its sidecar, which may have been `rewritten`."""

    read: Read
    sidecar: Marks | None
    rewritten: bool


class Scan:
    """One run over the roots, which gives way to searches.

    `thorough` lists all folders, else those that changed: by their times, or as the system `told`.
    On FAT and exFAT Windows leaves a folder's time as it is when a file is added.
    """

    def __init__(
        self,
        index: Path,
        marks: MarkStore,
        precedence: Precedence,
        stop: Event,
        tell: Callable[[Step], None],
        *,
        thorough: bool,
        told: frozenset[str] = frozenset(),
    ) -> None:
        self._index, self._marks, self._stop, self._tell = index, marks, stop, tell
        self._precedence, self._thorough, self._told = precedence, thorough, told
        self._known: dict[str, _Known] = {}
        self._children: dict[str, list[str]] = {}
        self._visited: list[str] = []
        self._unread: list[_Unread] = []
        self._unsettled = False
        self._changed = False

    def run(self, roots: tuple[Root, ...]) -> Scanned:
        """Scan. Raises IndexBusyError, IndexDamagedError and sqlite3.Error."""
        states: dict[Path, FolderState] = {}
        with opened(self._index) as connection:
            self._load(connection)
            for root in roots:
                states[root.path] = self._walk(connection, root)
            if not self._stop.is_set():
                self._forget_others(connection, roots)
            if self._changed:
                self._tell(Step(0, len(self._unread), {}))
            self._read_all(connection)
        # Where a missing folder will come: before the first picture there is none for it.
        missing = (root for root, state in states.items() if state is FolderState.MISSING)
        awaited = (next(filter(is_folder, root.parents), None) for root in missing)
        folders = (*self._visited, *(str(folder) for folder in awaited if folder is not None))
        return Scanned(tuple(dict.fromkeys(folders)), states, self._unsettled)

    def _load(self, connection: sqlite3.Connection) -> None:
        for number, path, listed_ns, device in connection.execute(
            "SELECT id, path, listed_ns, device FROM folders"
        ):
            folder = shown_path(path)
            self._known[folder] = _Known(number, listed_ns, device)
            self._children.setdefault(str(Path(folder).parent), []).append(folder)

    def _walk(self, connection: sqlite3.Connection, root: Root) -> FolderState:
        """Visit a root, and its subfolders where wanted; return the root's state."""
        waiting, reachable = [str(root.path)], True
        while waiting and not self._stop.is_set():
            self._precedence.give_way()
            folder = waiting.pop()
            subfolders = self._visit(connection, folder)
            if subfolders is None:
                reachable = reachable and folder != str(root.path)
                transaction(connection, lambda folder=folder: self._lose(connection, folder))
            elif root.with_subfolders:
                waiting += subfolders
        if not reachable:
            return FolderState.MISSING
        return FolderState.READY if os.access(root.path, os.W_OK) else FolderState.READ_ONLY

    def _visit(self, connection: sqlite3.Connection, folder: str) -> Iterable[str] | None:
        """Compare a folder with the index; return its subfolders, None if it is out of reach."""
        try:
            status = os.stat(folder)  # noqa: PTH116 (hundreds of folders)
            known, device = self._known.get(folder), _device(status)
            wanted = self._thorough or folder in self._told
            if not wanted and known and known.listed_ns == status.st_mtime_ns:
                self._visited.append(folder)
                return self._children.get(folder, ())
            listing = list_folder(folder, self._precedence.give_way)
        except (OSError, ValueError):
            return None
        if listing.is_empty and known is not None and known.device != device:
            return None  # the place where a drive was
        self._visited.append(folder)
        settled = self._is_settled(status.st_mtime_ns)
        listed_ns = status.st_mtime_ns if settled else 0
        if known is None or (known.listed_ns, known.device) != (listed_ns, device):
            known = self._note(connection, folder, listed_ns, device)
        self._compare(connection, folder, known.id, listing)
        return listing.subfolders

    def _is_settled(self, modified_ns: int) -> bool:
        settled = is_settled(modified_ns, time.time_ns())
        self._unsettled = self._unsettled or not settled
        return settled

    def _note(
        self, connection: sqlite3.Connection, folder: str, listed_ns: int, device: int
    ) -> _Known:
        number = note_folder(connection, folder, listed_ns, device)
        self._known[folder] = _Known(number, listed_ns, device)
        return self._known[folder]

    def _lose(self, connection: sqlite3.Connection, folder: str) -> None:
        self._changed = mark_missing(connection, Path(folder)) > 0 or self._changed

    def _compare(
        self, connection: sqlite3.Connection, folder: str, number: int, listing: Listing
    ) -> None:
        """Forget what is gone from a folder, and remember what there is to read."""
        rows = _rows(connection, number, self._precedence)
        found_again: list[int] = []
        for found in listing.pictures:
            row = rows.pop(found.name, None)
            if row is None or self._must_be_read(row, found):
                self._is_settled(found.modified_ns)
                path = str(Path(folder, found.name))
                rewritten = row is not None and row.found.sidecar_ns != found.sidecar_ns
                self._unread.append(_Unread(number, path, found, rewritten))
            elif row.missing:
                found_again.append(row.id)
        gone = [row.id for row in rows.values()]
        subfolders = frozenset(listing.subfolders)
        lost = [name for name in self._children.get(folder, ()) if name not in subfolders]
        if not (gone or lost or found_again):
            return

        def write() -> None:
            remove_pictures(connection, gone)
            mark_found(connection, found_again)
            for path in lost:
                remove_below(connection, Path(path))

        self._changed = True
        transaction(connection, write)

    def _must_be_read(self, row: _Row, found: Found) -> bool:
        is_locked = row.trouble == Trouble.UNREADABLE and self._thorough
        return row.found != found or is_locked

    def _forget_others(self, connection: sqlite3.Connection, roots: tuple[Root, ...]) -> None:
        """Forget the folders that are no longer watched, nor below a watched one."""
        kept = {str(root.path) for root in roots}
        whole = {str(root.path) for root in roots if root.with_subfolders}
        for folder in self._known:
            if folder not in kept and not whole.intersection(map(str, Path(folder).parents)):
                self._changed = True
                transaction(connection, lambda path=folder: remove_folder(connection, Path(path)))

    def _read_all(self, connection: sqlite3.Connection) -> None:
        self._unread.sort(key=lambda picture: picture.found.modified_ns)
        total = len(self._unread)
        while self._unread and not self._stop.is_set():
            adopted = self._write(connection, self._read_piece())
            self._tell(Step(total - len(self._unread), total, adopted))

    def _write(self, connection: sqlite3.Connection, piece: list[_Told]) -> dict[bytes, Marks]:
        """Write pictures that were read; return the marks that their sidecars state."""
        adopted: dict[bytes, Marks] = {}

        def write() -> None:
            for told in piece:
                write_picture(connection, told.read, self._marks_of(told, adopted))

        transaction(connection, write)
        return adopted

    def _read_piece(self) -> list[_Told]:
        """Read some files; return them with the marks in their sidecars."""
        piece: list[_Told] = []
        end = time.monotonic() + _PIECE_S
        while self._unread and len(piece) < _PIECE and not self._stop.is_set():
            self._precedence.give_way()
            unread = self._unread.pop()
            read = _read(unread)
            if read is not None:
                sidecar = read_sidecar(unread.path) if unread.found.sidecar_ns else None
                piece.append(_Told(read, sidecar, unread.rewritten))
            if time.monotonic() > end:
                break
        return piece

    def _marks_of(self, told: _Told, adopted: dict[bytes, Marks]) -> Marks:
        """Return a picture's marks; those of its sidecar, if that was written after ours."""
        identity, sidecar = told.read.header.identity, told.sidecar
        marks = self._marks.of(identity)
        if identity is None or sidecar is None or not self._is_later(told, identity):
            return marks
        # A rejected picture's sidecar has no place for its stars.
        rating = marks.rating if sidecar.rejected else sidecar.rating
        adopted[identity] = Marks(rating, marks.favourite, sidecar.rejected)
        return adopted[identity]

    def _is_later(self, told: _Told, identity: bytes) -> bool:
        """Tell whether a sidecar was written after a picture was marked.

        Marks of the future were given while the clock was ahead, so that their time tells nothing:
        a sidecar that has another time than at the last scan was written since. Our own has the
        time of its marks.
        """
        at, written, now = self._marks.at(identity), told.read.found.sidecar_ns, time.time_ns()
        return written > at or (told.rewritten and written <= now < at)


def _rows(connection: sqlite3.Connection, folder: int, precedence: Precedence) -> dict[str, _Row]:
    """Return the pictures of a folder in the index by name."""
    rows: dict[str, _Row] = {}
    for number, name, modified_ns, size, sidecar_ns, missing, trouble in connection.execute(
        "SELECT id, name, modified_ns, size, sidecar_ns, missing, trouble FROM pictures"
        " WHERE folder = ?",
        (folder,),
    ):
        precedence.give_way()
        found = Found(shown_path(name), modified_ns, size, sidecar_ns)
        rows[found.name] = _Row(number, found, bool(missing), trouble)
    return rows


def _read(unread: _Unread) -> Read | None:
    """Read a file's header and texts; None if it is gone."""
    path = Path(unread.path)
    try:
        with open_raw(unread.path) as raw:
            header = read_header(raw)
        unreadable = header.trouble in (Trouble.EMPTY, Trouble.OTHER_FORMAT)
        description = UNKNOWN if unreadable else read_description(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        header, description = Header(trouble=Trouble.UNREADABLE), UNKNOWN
    return Read(unread.folder, unread.found, header, description)


def _device(status: os.stat_result) -> int:
    """Return the number of a file's disk with a sign, as SQLite keeps 64 bits; Windows has none."""
    return (status.st_dev + (1 << 63)) % (1 << 64) - (1 << 63)
