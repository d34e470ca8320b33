"""The picture files of a folder, newest first, and the steps from one list of them to another."""

import os
from collections.abc import Iterator, Sequence
from heapq import merge
from pathlib import Path

import msgspec

from engine.api.saving import PICTURE_SUFFIXES
from engine.file_paths import file_status

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


def list_pictures(folder: Path) -> list[Picture]:
    """Return the pictures of a folder, newest first, without hidden files and folders."""
    # Sorted in pieces: one sort of a hundred thousand would hold up every thread of Python.
    pieces: list[list[Picture]] = [[]]
    for picture in _pictures(folder):
        if len(pieces[-1]) == _PIECE:
            pieces.append([])
        pieces[-1].append(picture)
    for piece in pieces:
        piece.sort(key=newest_first)
    return list(pieces[0] if len(pieces) == 1 else merge(*pieces, key=newest_first))


def newest_first(picture: Picture) -> tuple[int, str]:
    """Return the key by which pictures are sorted: the newest first, then by path."""
    return -picture.modified_ns, picture.path


def _pictures(folder: Path) -> Iterator[Picture]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.name.lower().endswith(PICTURE_SUFFIXES):
                    continue
                if (status := file_status(entry)) is not None:
                    yield Picture(entry.path, status.st_mtime_ns, status.st_size)
    except OSError:
        return


def compare(before: Sequence[Picture], after: list[Picture]) -> Change:
    """Return the steps from one list to another in the same order; pictures in both stay.

    Walks along both lists in Python steps, between which other threads can run.
    """
    removed: list[int] = []
    inserted: list[int] = []
    row = 0
    for position, picture in enumerate(after):
        key = newest_first(picture)
        while row < len(before) and newest_first(before[row]) < key:
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
