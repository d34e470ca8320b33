"""Rows of pictures by id, for painting: those fetched lately are kept."""

import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from app.gallery.database import connect, index_errors
from app.gallery.marks import MarkStore
from app.gallery.reading import find_picture, identities_of, read_rows
from app.gallery.rows import GalleryRow, Marks

# A row takes about 2 kB.
_MOST_ROWS = 5000
# The GUI thread does not wait for other programs.
_PATIENCE_S = 0.005


class RowCache:
    """Reads rows on the thread that asks; an index that is closed has none."""

    def __init__(self) -> None:
        self._index: Path | None = None
        self._connection: sqlite3.Connection | None = None
        self._marks: MarkStore | None = None
        self._rows: OrderedDict[int, GalleryRow] = OrderedDict()

    def open(self, index: Path, marks: MarkStore) -> None:
        """Read from this index from now on. It is opened when it is first asked."""
        self.close()
        self._index, self._marks = index, marks

    def close(self) -> None:
        """Let go of the index."""
        self._rows.clear()
        self._index = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection | None:
        """Return the open index; None if it is closed."""
        if self._connection is None and self._index is not None:
            with index_errors():
                self._connection = connect(self._index, patience_s=_PATIENCE_S)
        return self._connection

    def get(self, ids: Sequence[int]) -> list[GalleryRow]:
        """Return the rows of ids in their order, without those that are gone.

        Raises IndexBusyError, IndexDamagedError and sqlite3.Error, as all methods here do.
        """
        missing = [id_ for id_ in ids if id_ not in self._rows]
        connection = self._connected() if missing else None
        if connection is not None and self._marks is not None:
            for row in read_rows(connection, missing, self._marks.of):
                self._rows[row.id] = row
        found = [row for id_ in ids if (row := self._rows.get(id_)) is not None]
        for row in found:
            self._rows.move_to_end(row.id)
        while len(self._rows) > _MOST_ROWS:
            self._rows.popitem(last=False)
        return found

    def find(self, path: Path) -> int | None:
        """Return the id of a file's picture."""
        connection = self._connected()
        return find_picture(connection, path) if connection is not None else None

    def identities(self, ids: Sequence[int]) -> set[bytes]:
        """Return the identities of pictures that have one; those of kept rows without the disk."""
        kept = {id_: self._rows[id_].identity for id_ in ids if id_ in self._rows}
        known = {identity for identity in kept.values() if identity is not None}
        missing = [id_ for id_ in ids if id_ not in kept]
        connection = self._connected() if missing else None
        return known | identities_of(connection, missing) if connection is not None else known

    def mark(self, marks: Mapping[bytes, Marks]) -> tuple[int, ...]:
        """Give kept rows new marks, by identity; return their ids."""
        changed = [
            row for row in self._rows.values() if row.identity is not None and row.identity in marks
        ]
        for row in changed:
            if row.identity is not None:
                self._rows[row.id] = msgspec.structs.replace(row, marks=marks[row.identity])
        return tuple(row.id for row in changed)

    def forget(self) -> None:
        """Read every row anew from now on."""
        self._rows.clear()
