"""Questions to the index: rows by id, and what there is to filter by."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from app.gallery.database import IndexDamagedError, index_errors, opened
from app.gallery.precedence import Precedence
from app.gallery.rows import SHOWN_CHARACTERS, Count, Facets, GalleryRow, Marks, Trouble
from app.gallery.storable import shown_path, stored_path

# In one row: Python's lock is let go of for each, for which the window would wait each time.
_ROWS = f"""
SELECT json_group_array(json_array(
  pictures.id, hex(folders.path), hex(pictures.name), modified_ns, size, width, height,
  hex(identity), substr(prompt, 1, {SHOWN_CHARACTERS}), substr(negative, 1, {SHOWN_CHARACTERS}),
  pictures.model, loras, seed, pictures.tool, trouble, missing
))
FROM pictures
JOIN folders ON folders.id = pictures.folder
JOIN texts ON texts.id = pictures.id
WHERE pictures.id IN (SELECT value FROM json_each(?))
"""
_MOST_FACETS = 500


def read_rows(
    connection: sqlite3.Connection,
    ids: Sequence[int],
    marks_of: Callable[[bytes | None], Marks],
) -> list[GalleryRow]:
    """Return the rows of these ids that exist, in any order.

    Raises IndexBusyError, IndexDamagedError and sqlite3.Error, as all functions here do.
    """
    try:
        with index_errors():
            (found,) = connection.execute(_ROWS, (msgspec.json.encode(ids),)).fetchone()
            return [_row(row, marks_of) for row in _DECODER.decode(found)]
    except (TypeError, ValueError) as error:
        raise IndexDamagedError(str(error)) from error


def _row(row: "_Row", marks_of: Callable[[bytes | None], Marks]) -> GalleryRow:
    folder, name = bytes.fromhex(row.folder), bytes.fromhex(row.name)
    identity = bytes.fromhex(row.identity) or None
    return GalleryRow(
        id=row.id,
        path=os.path.join(shown_path(folder), shown_path(name)),  # noqa: PTH118 (often)
        modified_ns=row.modified_ns,
        size=row.size,
        width=row.width,
        height=row.height,
        identity=identity,
        prompt=row.prompt,
        negative=row.negative,
        model=row.model,
        loras=tuple(filter(None, row.loras.split("\n"))),
        seed=int(row.seed) if row.seed is not None else None,
        tool=row.tool,
        marks=marks_of(identity),
        trouble=Trouble.MISSING if row.missing else Trouble(row.trouble) if row.trouble else None,
    )


class _Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A picture of `_ROWS`; `folder`, `name` and `identity` are hexadecimal."""

    id: int
    folder: str
    name: str
    modified_ns: int
    size: int
    width: int
    height: int
    identity: str
    prompt: str
    negative: str
    model: str
    loras: str
    seed: str | None
    tool: str
    trouble: str
    missing: int


_DECODER = msgspec.json.Decoder(list[_Row])


def find_picture(connection: sqlite3.Connection, path: Path) -> int | None:
    """Return the id of a file's picture; None if it is not in the index."""
    with index_errors():
        found = connection.execute(
            "SELECT pictures.id FROM pictures JOIN folders ON folders.id = folder"
            " WHERE folders.path = ? AND name = ?",
            (stored_path(str(path.parent)), stored_path(path.name)),
        ).fetchone()
    return found[0] if found else None


def identities_of(connection: sqlite3.Connection, ids: Sequence[int]) -> set[bytes]:
    """Return the identities of pictures that have one."""
    with index_errors():
        found = connection.execute(
            "SELECT DISTINCT identity FROM pictures WHERE identity IS NOT NULL"
            " AND id IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(ids),),
        ).fetchall()
    return {identity for (identity,) in found}


def paths_of(
    connection: sqlite3.Connection, identities: Iterable[bytes]
) -> list[tuple[str, bytes]]:
    """Return the paths of all files with these identities, each with its identity."""
    found: list[tuple[str, bytes]] = []
    with index_errors():
        for identity in identities:
            rows = connection.execute(
                "SELECT folders.path, name FROM pictures JOIN folders ON folders.id = folder"
                " WHERE identity = ? AND missing = 0",
                (identity,),
            )
            found += [
                (str(Path(shown_path(folder), shown_path(name))), identity) for folder, name in rows
            ]
    return found


def read_facets(index: Path, precedence: Precedence) -> Facets:
    """Return what the pictures can be filtered by, after a search that is under way.

    Side by side each would take twice as long.
    """
    precedence.give_way()
    with opened(index) as connection:
        total, favourites, rejected = connection.execute(
            "SELECT count(*), coalesce(sum(favourite), 0), coalesce(sum(rejected), 0) FROM pictures"
        ).fetchone()
        return Facets(
            total=total,
            models=_counts(connection, "SELECT model, count(*) FROM pictures GROUP BY model"),
            loras=_counts(connection, "SELECT lora, count(*) FROM uses GROUP BY lora"),
            tools=_counts(connection, "SELECT tool, count(*) FROM pictures GROUP BY tool"),
            folders=_folders(connection),
            days=_days(connection),
            favourites=favourites,
            rejected=rejected,
        )


def _counts(connection: sqlite3.Connection, grouped: str) -> tuple[Count, ...]:
    rows = connection.execute(f"{grouped} ORDER BY 2 DESC, 1 LIMIT {_MOST_FACETS}")
    return tuple(Count(name, count) for name, count in rows if name)


def _folders(connection: sqlite3.Connection) -> tuple[Count, ...]:
    rows = connection.execute(
        "SELECT path, number FROM (SELECT folder, count(*) AS number FROM pictures GROUP BY folder)"
        " JOIN folders ON folders.id = folder ORDER BY path"
    )
    return tuple(Count(shown_path(path), count) for path, count in rows)


def _days(connection: sqlite3.Connection) -> tuple[Count, ...]:
    # Grouped by quarters of an hour first, in which no day begins anywhere: finding the local day
    # of each of a hundred thousand times takes long.
    rows = connection.execute(
        "SELECT date(quarter * 900, 'unixepoch', 'localtime') AS day, sum(number) FROM"
        " (SELECT modified_ns / 900000000000 AS quarter, count(*) AS number FROM pictures"
        " GROUP BY 1) GROUP BY day ORDER BY day DESC"
    )
    return tuple(Count(day, count) for day, count in rows if day)
