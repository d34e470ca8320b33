"""Changes to the index; each function runs inside a transaction of its caller."""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from app.gallery.descriptions import Description
from app.gallery.headers import Header
from app.gallery.query import below
from app.gallery.rows import Marks
from app.gallery.storable import stored_path, stored_text


class Found(msgspec.Struct, frozen=True, gc=False):
    """A picture file as its folder lists it, not opened. Times are in ns since 1970."""

    name: str
    modified_ns: int
    size: int
    # The time of change of a sidecar beside it; 0: there is none.
    sidecar_ns: int = 0


class Read(msgspec.Struct, frozen=True):
    """A picture file that was read: where it is, and everything the index keeps of it."""

    folder: int
    found: Found
    header: Header
    description: Description


_PICTURE = """
INSERT INTO pictures(folder, name, sort_name, modified_ns, size, sidecar_ns, width, height,
  identity, model, tool, seed, trouble, rating, favourite, rejected)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT(folder, name) DO UPDATE SET
  modified_ns = excluded.modified_ns, size = excluded.size, sidecar_ns = excluded.sidecar_ns,
  width = excluded.width, height = excluded.height, identity = excluded.identity,
  model = excluded.model, tool = excluded.tool, seed = excluded.seed, trouble = excluded.trouble,
  missing = 0, rating = excluded.rating, favourite = excluded.favourite,
  rejected = excluded.rejected
RETURNING id
"""


def write_picture(connection: sqlite3.Connection, read: Read, marks: Marks) -> int:
    """Add a picture, or replace what is known of the file of that name; return its id."""
    found, header, description = read.found, read.header, read.description
    model, tool = stored_text(description.model), stored_text(description.tool)
    name = stored_text(found.name)
    (picture,) = connection.execute(
        _PICTURE,
        (
            read.folder, stored_path(found.name), name, found.modified_ns, found.size,
            found.sidecar_ns, header.width, header.height, header.identity, model, tool,
            None if description.seed is None else str(description.seed), header.trouble or "",
            marks.rating, marks.favourite, marks.rejected,
        ),
    ).fetchone()  # fmt: skip
    loras = [stored_text(lora) for lora in description.loras]
    _remove_texts(connection, [picture])
    connection.execute(
        "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            picture, stored_text(description.prompt), stored_text(description.negative), model,
            "\n".join(loras), name, tool,
        ),
    )  # fmt: skip
    connection.executemany(
        "INSERT OR IGNORE INTO uses VALUES (?, ?)", [(lora, picture) for lora in loras]
    )
    return picture


def remove_pictures(connection: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Forget pictures whose files are gone."""
    gone = list(ids)
    _remove_texts(connection, gone)
    connection.executemany("DELETE FROM pictures WHERE id = ?", [(id_,) for id_ in gone])


def _remove_texts(connection: sqlite3.Connection, ids: list[int]) -> None:
    rows = [(id_,) for id_ in ids]
    connection.executemany("DELETE FROM texts WHERE id = ?", rows)
    connection.executemany("DELETE FROM uses WHERE picture = ?", rows)


def remove_below(connection: sqlite3.Connection, folder: Path) -> None:
    """Forget a folder and all below it, with their pictures."""
    _remove_folders(connection, "path = ? OR substr(path, 1, ?) = ?", below(folder))


def remove_folder(connection: sqlite3.Connection, folder: Path) -> None:
    """Forget a folder with its pictures, but nothing below it."""
    _remove_folders(connection, "path = ?", below(folder)[:1])


def _remove_folders(
    connection: sqlite3.Connection, condition: str, values: tuple[object, ...]
) -> None:
    found = connection.execute(f"SELECT id FROM folders WHERE {condition}", values)
    for (folder,) in found.fetchall():
        pictures = connection.execute("SELECT id FROM pictures WHERE folder = ?", (folder,))
        remove_pictures(connection, [picture for (picture,) in pictures.fetchall()])
        connection.execute("DELETE FROM folders WHERE id = ?", (folder,))


def mark_missing(connection: sqlite3.Connection, folder: Path) -> int:
    """Note that a folder and all below it cannot be reached; return the number of pictures."""
    connection.execute(
        "UPDATE folders SET listed_ns = 0 WHERE path = ? OR substr(path, 1, ?) = ?", below(folder)
    )
    return connection.execute(
        "UPDATE pictures SET missing = 1 WHERE missing = 0 AND folder IN"
        " (SELECT id FROM folders WHERE path = ? OR substr(path, 1, ?) = ?)",
        below(folder),
    ).rowcount


def mark_found(connection: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Note that pictures can be reached again."""
    connection.executemany("UPDATE pictures SET missing = 0 WHERE id = ?", [(id_,) for id_ in ids])


def note_folder(connection: sqlite3.Connection, folder: str, listed_ns: int, device: int) -> int:
    """Keep that a folder was listed, and its file system; return its id."""
    (found,) = connection.execute(
        "INSERT INTO folders(path, listed_ns, device) VALUES (?, ?, ?)"
        " ON CONFLICT(path) DO UPDATE SET listed_ns = excluded.listed_ns, device = excluded.device"
        " RETURNING id",
        (stored_path(folder), listed_ns, device),
    ).fetchone()
    return found


def write_marks(connection: sqlite3.Connection, marks: Iterable[tuple[bytes, Marks]]) -> None:
    """Give pictures of these identities these marks."""
    connection.executemany(
        "UPDATE pictures SET rating = ?, favourite = ?, rejected = ? WHERE identity = ?",
        [(mark.rating, mark.favourite, mark.rejected, identity) for identity, mark in marks],
    )


def transaction(connection: sqlite3.Connection, work: Callable[[], None]) -> None:
    """Run a function inside a transaction that waits for other writers first."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        work()
    except BaseException:
        with suppress(sqlite3.Error):  # SQLite may have done so already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
