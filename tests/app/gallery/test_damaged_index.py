"""The window's gallery over an index that is damaged, deleted or held, at any place and time."""

import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

import pytest

from app.gallery.database import IndexDamagedError, connect, make_again
from app.gallery.marks import MarkStore
from app.gallery.precedence import Precedence
from app.gallery.query import GalleryQuery
from app.gallery.rows import Results, Root
from app.gallery.scanning import Scan
from app.gallery.searching import Searcher
from tests.app.gallery.conftest import Opened
from tests.app.gallery.made import ours, write

STARRED = GalleryQuery(least_rating=5)
NAMES = sorted(f"{number}.png" for number in range(12))
# `make thorough` has a thousand places, some of which `make test` has.
FLIPS = pytest.mark.parametrize("flips", [12, pytest.param(1000, marks=pytest.mark.slow)])


@pytest.fixture
def twelve(gallery: Opened) -> Opened:
    """A gallery of twelve pictures, the newest of which has five stars."""
    for number in range(12):
        write(gallery.pictures / f"{number}.png", ours(number, f"a cat {number}"), hours=number)
    gallery.index.start()
    gallery.wait_for(*NAMES)
    gallery.index.rate(gallery.ids()[:1], 5)
    gallery.wait_for("11.png", query=STARRED)
    return gallery


def all_is_there(gallery: Opened) -> None:
    """Wait until every picture is found under its name, and that with stars by them."""
    gallery.wait_for(*NAMES)
    gallery.wait_for("11.png", query=STARRED)


def flipped(content: bytes, place: int, chance: random.Random) -> bytes:
    """Return a file with one byte inverted, with one bit changed, or a byte lost to a zero."""
    byte = chance.choice((content[place] ^ 0xFF, content[place] ^ 1 << chance.randrange(8), 0))
    return content[:place] + bytes([byte]) + content[place + 1 :]


def forget_aside(gallery: Opened) -> int:
    """Delete the files that were put aside; return how many there were."""
    aside = list(gallery.file.parent.glob("*.damaged-*"))
    for path in aside:
        path.unlink()
    return len(aside)


@FLIPS
@pytest.mark.timeout(3000)
def test_a_byte_that_flipped_while_it_was_closed_costs_no_picture_and_no_star(
    twelve: Opened, flips: int
) -> None:
    """At places that hold something: four fifths of the file are zeros of free room."""
    chance = random.Random(23)
    twelve.index.close()
    whole = twelve.file.read_bytes()
    places = [place for place, byte in enumerate(whole) if byte]
    damaged = 0
    for _ in range(flips):
        for path in twelve.file.parent.glob("index*"):
            path.unlink()
        twelve.file.write_bytes(flipped(whole, chance.choice(places), chance))
        twelve.again()
        all_is_there(twelve)
        twelve.index.close()
        damaged += forget_aside(twelve)
        assert twelve.errors == []
    assert 0 < damaged < flips


@FLIPS
@pytest.mark.timeout(3000)
def test_a_byte_that_flips_while_it_is_open_costs_no_picture_and_no_star(
    twelve: Opened, flips: int
) -> None:
    """Damage that nothing notices while it is open is mended at the next start."""
    chance = random.Random(24)
    for _ in range(flips):
        content = twelve.file.read_bytes()
        places = [place for place, byte in enumerate(content) if byte]
        twelve.file.write_bytes(flipped(content, chance.choice(places), chance))
        twelve.index.rescan()
        twelve.ids()
        twelve.again()
        all_is_there(twelve)
        assert twelve.errors == []
        forget_aside(twelve)


def test_a_name_that_flipped_is_mended(twelve: Opened) -> None:
    """No search would fail: the picture stands under a name that no file has."""
    twelve.index.close()
    content = twelve.file.read_bytes()
    (place,) = (at for at in range(len(content)) if content.startswith(b"3.png3.png", at))
    twelve.file.write_bytes(content[:place] + b"8" + content[place + 1 :])
    twelve.again()
    all_is_there(twelve)


def lose(gallery: Opened, column: str) -> None:
    """Close the gallery, and make a value of a picture NULL, as a flipped byte of its row does."""
    gallery.index.close()
    for statement in (
        "UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOT NULL', ''), 'STRICT', '')",
        f"UPDATE pictures SET {column} = NULL WHERE sort_name = '3.png'",
    ):
        with closing(sqlite3.connect(gallery.file)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(statement)
            connection.commit()


def test_a_time_that_became_nothing_is_damage(twelve: Opened) -> None:
    """No error of SQLite's, which lists it as null."""
    lose(twelve, "modified_ns")
    with pytest.raises(IndexDamagedError, match="null"):
        Searcher().search(twelve.file, GalleryQuery())
    twelve.again()
    all_is_there(twelve)


def test_a_path_that_became_nothing_is_damage(twelve: Opened) -> None:
    lose(twelve, "name")
    marks = MarkStore(twelve.state, lambda error: None)
    scan = Scan(twelve.file, marks, Precedence(), Event(), lambda step: None, thorough=True)
    with pytest.raises(IndexDamagedError, match="NoneType"):
        scan.run((Root(twelve.pictures),))
    marks.close()
    twelve.again()
    all_is_there(twelve)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
@pytest.mark.parametrize("whole_folder", [False, True])
def test_an_index_that_is_deleted_while_it_is_open_is_made_again(
    twelve: Opened, whole_folder: bool
) -> None:
    if whole_folder:
        shutil.rmtree(twelve.cache)
    else:
        for path in twelve.file.parent.glob("index*"):
            path.unlink()
    write(twelve.pictures / "12.png", ours(12, "a cat 12"), hours=12)
    twelve.index.rescan()
    twelve.wait_for(*NAMES, "12.png")
    twelve.wait_for("11.png", query=STARRED)
    assert twelve.file.is_file()


def test_a_cache_whose_drive_is_gone_for_a_while_is_told_and_used_again(
    twelve: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[Path] = []

    def count(index: Path) -> None:
        tries.append(index)
        make_again(index)

    monkeypatch.setattr("app.gallery.upkeep.make_again", count)
    shutil.rmtree(twelve.cache)
    twelve.cache.write_bytes(b"no folder can be made here")
    twelve.index.rescan()
    found: list[Results] = []
    twelve.index.search(GalleryQuery(), found.append)
    twelve.wait(lambda: bool(twelve.errors))
    # It is tried by the scan, the search and the count, not without end.
    twelve.pass_time(200)
    assert len(tries) < 10
    assert found == []
    twelve.cache.unlink()
    twelve.index.refresh()
    twelve.wait(lambda: bool(found))
    all_is_there(twelve)


_OLDER = """
CREATE TABLE folders(id INTEGER PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE pictures(id INTEGER PRIMARY KEY, folder INTEGER, name TEXT, rating INTEGER);
INSERT INTO pictures VALUES (1, 1, 'another.png', 3);
"""
_NEWER = """
ALTER TABLE pictures RENAME TO images;
ALTER TABLE folders ADD COLUMN drive TEXT NOT NULL DEFAULT '';
DROP TABLE changes;
"""


@pytest.mark.parametrize("version", [1, 99])
def test_an_index_with_the_tables_of_another_version_is_made_again(
    twelve: Opened, version: int
) -> None:
    twelve.index.close()
    with closing(sqlite3.connect(twelve.file)) as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        if version == 1:
            connection.close()
            twelve.file.unlink()
    with closing(sqlite3.connect(twelve.file)) as connection:
        connection.executescript(_OLDER if version == 1 else _NEWER)
        connection.execute(f"PRAGMA application_id = {application}")
        connection.execute(f"PRAGMA user_version = {version}")
    twelve.again()
    all_is_there(twelve)
    assert twelve.errors == []


_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA locking_mode = EXCLUSIVE")
connection.execute("BEGIN EXCLUSIVE")
connection.execute("UPDATE changes SET number = number + 1")
print("held", flush=True)
sys.stdin.read()
connection.execute("COMMIT")
"""


@contextmanager
def held(index: Path) -> Generator[None]:
    """Hold an index in another process, for readers too."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(index)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.stdin.close()


def test_an_index_that_nobody_may_even_read_at_the_start_is_opened_later(
    twelve: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    twelve.index.close()
    tries: list[int] = []
    monkeypatch.setattr(connect, "__kwdefaults__", {"patience_s": 0.05})
    for module in ("index", "upkeep", "mirroring"):
        monkeypatch.setattr(f"app.gallery.{module}._BUSY_MS", 50)
    with held(twelve.file):
        twelve.again()
        open_ = twelve.index._open  # pyright: ignore[reportPrivateUsage]
        monkeypatch.setattr(twelve.index, "_open", lambda: (tries.append(1), open_()))
        twelve.wait(lambda: len(tries) > 2)
        assert twelve.index.rows([1]) == []
    all_is_there(twelve)
    assert twelve.errors == []
    assert not list(twelve.file.parent.glob("*.damaged-*"))
