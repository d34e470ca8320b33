"""The pictures of the output folder, newest first. The list follows the files."""

import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from heapq import merge
from pathlib import Path

import msgspec
from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from app.background import Background
from engine.api.saving import PICTURE_SUFFIXES
from engine.file_paths import is_folder

# Changes to the folder come in bursts: a picture is a temporary file, a rename and a sync.
_SETTLE_MS = 100
# Beyond this many separate places, or rows, a list is filled anew rather than patched.
_MOST_PATCHES, _MOST_ROWS = 50, 1000
_PIECE = 2000


class Picture(msgspec.Struct, frozen=True, gc=False):
    """A picture file, not opened: its path, time of change (ns since 1970) and size in bytes."""

    path: str
    modified_ns: int
    size: int


class Change(msgspec.Struct, frozen=True, gc=False):
    """The steps from one list to another: rows to remove, last first, then rows to insert."""

    removed: tuple[tuple[int, int], ...]
    inserted: tuple[tuple[int, int], ...]
    # The other list, and its pictures by path.
    after: list[Picture]
    by_path: dict[str, Picture]


def is_picture(path: Path) -> bool:
    """Return True if a file has the suffix of a picture."""
    return path.suffix.lower() in PICTURE_SUFFIXES


class GalleryStore(QObject):
    """The pictures of one folder as a list with a signal before and after each change.

    Ranges are (first, last) rows, both included, as item models want them. A folder that cannot be
    read is an empty list; it may be there later.
    """

    inserting = Signal(int, int)
    inserted = Signal(int, int)
    removing = Signal(int, int)
    removed = Signal(int, int)
    resetting = Signal()
    was_reset = Signal()

    def __init__(self, folder: Path, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = folder
        self._background = background
        self._pictures: list[Picture] = []
        self._by_path: dict[str, Picture] = {}
        self._scanning = False
        self._stale = False
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._on_folder_changed)
        self._settled = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settled.timeout.connect(self.refresh)

    def __len__(self) -> int:
        return len(self._pictures)

    def __getitem__(self, row: int) -> Picture:
        return self._pictures[row]

    @property
    def snapshot(self) -> tuple[Picture, ...]:
        """The present pictures, newest first."""
        return tuple(self._pictures)

    def row_of(self, path: str) -> int | None:
        """Return the row of a picture; None if it is not in the list."""
        picture = self._by_path.get(path)
        if picture is None:
            return None
        row = bisect_left(self._pictures, _newest_first(picture), key=_newest_first)
        return row if self._pictures[row : row + 1] == [picture] else None

    def open(self, folder: Path) -> None:
        """Follow another folder from now on."""
        if folder != self.folder:
            self.folder = folder
            watched = self._watcher.directories()
            if watched:
                self._watcher.removePaths(watched)
            self.refresh()

    def refresh(self) -> None:
        """Read the folder again, on another thread."""
        if self._scanning:
            self._stale = True
            return
        self._scanning = True
        before, folder = tuple(self._pictures), self.folder
        self._background.run(lambda: compare(before, list_pictures(folder)), self._apply)

    def refresh_soon(self) -> None:
        """Read the folder again once changes to it have paused."""
        self._settled.start()

    def _on_folder_changed(self, _folder: str) -> None:
        self.refresh_soon()

    def _apply(self, change: Change) -> None:
        self._scanning = False
        self._by_path = change.by_path
        places = len(change.removed) + len(change.inserted)
        if places > _MOST_PATCHES or abs(len(change.after) - len(self._pictures)) > _MOST_ROWS:
            self._fill(change)
        else:
            self._patch(change)
        self._watch()
        if self._stale:
            self._stale = False
            self.refresh()

    def _fill(self, change: Change) -> None:
        self.resetting.emit()
        self._pictures = change.after
        self.was_reset.emit()

    def _patch(self, change: Change) -> None:
        for first, last in change.removed:
            self.removing.emit(first, last)
            del self._pictures[first : last + 1]
            self.removed.emit(first, last)
        for first, last in change.inserted:
            self.inserting.emit(first, last)
            self._pictures[first:first] = change.after[first : last + 1]
            self.inserted.emit(first, last)

    def _watch(self) -> None:
        """Watch the folder, which may have been made, or made anew, since it was last watched."""
        if not self._watcher.directories() and is_folder(self.folder):
            self._watcher.addPath(str(self.folder))
            # To find the changes between the scan and the watching.
            self._stale = True


def list_pictures(folder: Path) -> list[Picture]:
    """Return the pictures of a folder, newest first, without hidden files and folders."""
    # Sorted in pieces: one sort of a hundred thousand would hold up every thread of Python.
    pieces: list[list[Picture]] = [[]]
    for picture in _pictures(folder):
        if len(pieces[-1]) == _PIECE:
            pieces.append([])
        pieces[-1].append(picture)
    for piece in pieces:
        piece.sort(key=_newest_first)
    return list(pieces[0] if len(pieces) == 1 else merge(*pieces, key=_newest_first))


def _newest_first(picture: Picture) -> tuple[int, str]:
    return -picture.modified_ns, picture.path


def _pictures(folder: Path) -> Iterator[Picture]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.name.lower().endswith(PICTURE_SUFFIXES):
                    continue
                picture = _picture(entry)
                if picture is not None:
                    yield picture
    except OSError:
        return


def _picture(entry: os.DirEntry[str]) -> Picture | None:
    """Return an entry's picture; None if it is no file, or vanished since it was listed."""
    try:
        if not entry.is_file():
            return None
        status = entry.stat()
    except OSError:
        return None
    return Picture(entry.path, status.st_mtime_ns, status.st_size)


def compare(before: Sequence[Picture], after: list[Picture]) -> Change:
    """Return the steps from one list to another in the same order; pictures in both stay.

    Walks along both lists in Python steps, between which other threads can run.
    """
    removed: list[int] = []
    inserted: list[int] = []
    row = 0
    for position, picture in enumerate(after):
        key = _newest_first(picture)
        while row < len(before) and _newest_first(before[row]) < key:
            removed.append(row)
            row += 1
        if row < len(before) and before[row] == picture:
            row += 1
        else:
            inserted.append(position)
    removed.extend(range(row, len(before)))
    return Change(
        tuple(reversed(_ranges(removed))),
        tuple(_ranges(inserted)),
        after,
        {picture.path: picture for picture in after},
    )


def _ranges(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Return ascending rows as (first, last) ranges without gaps."""
    ranges: list[tuple[int, int]] = []
    for row in rows:
        if ranges and ranges[-1][1] == row - 1:
            ranges[-1] = (ranges[-1][0], row)
        else:
            ranges.append((row, row))
    return ranges
