"""Searches of the index: a list of pictures in order, and those of them that words find."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from itertools import compress
from pathlib import Path

import msgspec

from app.gallery.database import IndexDamagedError, opened
from app.gallery.query import Condition, GalleryQuery, list_statement, word_statements
from app.gallery.rows import Results

_INTEGERS = msgspec.json.Decoder(list[int])


class _Listed(msgspec.Struct, frozen=True):
    """The pictures that a statement listed while the index had a number of changes."""

    statement: Condition
    number: int
    results: Results


class Searcher:
    """Searches for one thread at a time; keeps the last list, of which words choose.

    The list stays the same while a person types, and to make it takes as long as the rest.
    """

    def __init__(self) -> None:
        self._listed: _Listed | None = None

    def search(self, index: Path, query: GalleryQuery) -> Results:
        """Return the pictures that are asked for.

        Raises IndexBusyError, IndexDamagedError and sqlite3.Error.
        """
        statement, words = list_statement(query), word_statements(query.words)
        if not words.wanted and not words.unwanted:
            return self._list(index, statement)
        # SQLite works without Python's lock, so that both take no longer than one of them. The
        # index may change between the two: then it is searched again.
        with ThreadPoolExecutor(1) as beside:
            listing = beside.submit(self._list, index, statement)
            with opened(index) as connection:
                wanted = [_ids(connection, statement) for statement in words.wanted]
                unwanted = [_ids(connection, statement) for statement in words.unwanted]
            listed = listing.result()
        found = wanted.pop() if wanted else set(listed.ids)
        for others in wanted:
            found &= others
        for others in unwanted:
            found -= others
        chosen = list(map(found.__contains__, listed.ids))
        return Results(list(compress(listed.ids, chosen)), list(compress(listed.times, chosen)))

    def _list(self, index: Path, statement: Condition) -> Results:
        with opened(index) as connection:
            # Both statements see the same state of the index.
            connection.execute("BEGIN")
            changes = connection.execute("SELECT number FROM changes").fetchone()
            if changes is None:
                raise IndexDamagedError("no number of changes")
            kept, (number,) = self._listed, changes
            if kept is None or (kept.number, kept.statement) != (number, statement):
                ids, times = _integers(connection, statement)
                kept = self._listed = _Listed(statement, number, Results(ids, times))
        return kept.results


def _ids(connection: sqlite3.Connection, statement: Condition) -> set[int]:
    (ids,) = _integers(connection, statement)
    return set(ids)


def _integers(connection: sqlite3.Connection, statement: Condition) -> list[list[int]]:
    """Return the lists of a statement that gives one row of JSON arrays.

    Raises IndexDamagedError for a number that is none, which a flipped byte of its row leaves.
    """
    (row,) = connection.execute(statement.sql, statement.values)
    try:
        return [_INTEGERS.decode(array) for array in row]
    except msgspec.MsgspecError as error:
        raise IndexDamagedError(str(error)) from error
