"""The gallery follows the files whatever happens to them, and outlives its index."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from stat import S_ISDIR
from threading import Event
from typing import Any

import pytest
from PySide6.QtCore import QFileSystemWatcher

from app.decoding import picture_size
from app.gallery import row_cache
from app.gallery.database import VERSION, IndexBusyError, check, connect, prepare
from app.gallery.headers import trouble_of
from app.gallery.marks import MarkStore
from app.gallery.mirroring import mirror_all
from app.gallery.outcomes import Broken, Fault, attempt
from app.gallery.precedence import Precedence
from app.gallery.query import GalleryQuery
from app.gallery.reading import read_facets, read_rows
from app.gallery.rows import Facets, FolderState, Marks, Results, Root, Trouble
from app.gallery.scanning import Scan
from app.gallery.searching import Searcher
from engine.api.values import ErrorCode
from tests.app.gallery.conftest import Opened
from tests.app.gallery.made import ours, png, write
from tests.mounts import mounted

STARRED = GalleryQuery(least_rating=5)


@pytest.fixture
def two(gallery: Opened) -> Opened:
    """A gallery of two pictures, of which a.png has five stars."""
    write(gallery.pictures / "a.png", ours(1, "a cat"), hours=1)
    write(gallery.pictures / "b.png", ours(2, "a dog"))
    gallery.index.start()
    gallery.wait_for("a.png", "b.png")
    gallery.index.rate(gallery.ids()[:1], 5)
    gallery.wait_for("a.png", query=STARRED)
    return gallery


def test_files_that_others_add_rename_and_delete_are_followed(two: Opened) -> None:
    write(two.pictures / "c.png", ours(3, "a fox"))
    two.wait_for("a.png", "b.png", "c.png")
    (two.pictures / "b.png").rename(two.pictures / "d.png")
    two.wait_for("a.png", "c.png", "d.png")
    (two.pictures / "c.png").unlink()
    two.wait_for("a.png", "d.png")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are no files there")
def test_pipes_in_a_folder_are_no_pictures_and_stop_nothing(two: Opened) -> None:
    """A pipe without a writer keeps whoever opens it for ever."""
    for name in ("pipe.png", "a.xmp", "c.json", "c.txt", "c.png.xmp"):
        os.mkfifo(two.pictures / name)
    # Without settings of its own, so that those beside it are looked for.
    write(two.pictures / "c.png", png(3))
    two.wait_for("a.png", "b.png", "c.png")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are no files there")
def test_a_picture_that_became_a_pipe_is_told_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    os.mkfifo(path)
    assert trouble_of(str(path)) is Trouble.UNREADABLE
    assert trouble_of(str(path) + "\0") is Trouble.UNREADABLE
    assert picture_size(str(path)).isEmpty()


def test_stars_follow_a_picture_that_is_renamed_and_moved(two: Opened) -> None:
    (two.pictures / "deep" / "er").mkdir(parents=True)
    (two.pictures / "a.png").rename(two.pictures / "deep" / "er" / "z.png")
    two.wait_for("z.png", query=STARRED)


@pytest.fixture
def looks_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again at files that have just changed without the seconds that they may still grow."""
    monkeypatch.setattr("app.gallery.upkeep._UNSETTLED_MS", 200)


@pytest.mark.usefixtures("looks_again_soon")
def test_a_file_that_is_written_in_pieces_is_read_once_it_is_whole(two: Opened) -> None:
    whole = ours(3, "a fox at dawn")
    path = two.pictures / "c.png"
    path.write_bytes(whole[:20])
    two.wait_for("a.png", "b.png", "c.png")
    path.write_bytes(whole)
    two.wait_for("c.png", query=GalleryQuery(words="fox"))


def test_a_folder_that_vanishes_leaves_its_pictures_as_missing(two: Opened) -> None:
    away = two.pictures.with_name("away")
    two.pictures.rename(away)
    two.index.refresh()
    two.wait(lambda: two.index.folders[0].state is FolderState.MISSING)
    two.wait(lambda: [row.trouble for row in two.rows()] == [Trouble.MISSING] * 2)
    assert two.names(STARRED) == ["a.png"]
    away.rename(two.pictures)
    two.index.refresh()
    two.wait(lambda: [row.trouble for row in two.rows()] == [None, None])
    # Told at the end of the scan whose pictures were found.
    two.wait(lambda: two.index.folders[0].state is FolderState.READY)


def test_a_folder_that_is_renamed_by_others_is_missing_and_comes_back(two: Opened) -> None:
    away = two.pictures.with_name("away")
    two.pictures.rename(away)
    two.wait(lambda: two.index.folders[0].state is FolderState.MISSING)
    two.wait(lambda: [row.trouble for row in two.rows()] == [Trouble.MISSING] * 2)
    away.rename(two.pictures)
    two.wait(lambda: [row.trouble for row in two.rows()] == [None, None])
    # Told at the end of the scan whose pictures were found.
    two.wait(lambda: two.index.folders[0].state is FolderState.READY)


def test_an_empty_place_where_a_drive_was_is_not_an_emptied_folder(
    two: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = two.pictures.with_name("away")
    two.pictures.rename(away)
    two.pictures.mkdir()
    stat = os.stat

    def on_another_drive(path: str, **how: Any) -> os.stat_result:
        fields = list(stat(path, **how))
        fields[2] += 1  # st_dev
        return os.stat_result(fields)

    monkeypatch.setattr("app.gallery.scanning.os.stat", on_another_drive)
    two.index.rescan()
    two.wait(lambda: [row.trouble for row in two.rows()] == [Trouble.MISSING] * 2)


@pytest.mark.parametrize("same", [True, False], ids=["the same disk", "a copy of it"])
def test_pictures_of_a_disk_that_is_pulled_out_are_missing_and_come_back_with_their_stars(
    gallery: Opened, tmp_path: Path, same: bool
) -> None:
    with mounted() as mounts:
        stick, copy = tmp_path / "stick", tmp_path / "copy"
        mounts.disk(stick)
        mounts.plug_in(stick, gallery.pictures)
        write(gallery.pictures / "a.png", ours(1, "a cat"), hours=1)
        write(gallery.pictures / "b.png", ours(2, "a dog"))
        gallery.index.start()
        gallery.wait_for("a.png", "b.png")
        gallery.index.rate(gallery.ids()[:1], 5)
        gallery.wait(lambda: len(gallery.names(STARRED)) == 1)
        starred = gallery.names(STARRED)
        # What is left is an empty folder of the disk below.
        mounts.pull(gallery.pictures)
        gallery.index.refresh()
        gallery.wait(lambda: gallery.index.folders[0].state is FolderState.MISSING)
        gallery.wait(lambda: [row.trouble for row in gallery.rows()] == [Trouble.MISSING] * 2)
        assert gallery.names(STARRED) == starred
        if not same:
            # Another disk has another number.
            mounts.disk(copy)
            shutil.copytree(stick, copy, dirs_exist_ok=True)
        mounts.plug_in(stick if same else copy, gallery.pictures)
        gallery.index.refresh()
        gallery.wait(lambda: [row.trouble for row in gallery.rows()] == [None, None])
        assert gallery.names(STARRED) == starred
        gallery.wait(lambda: gallery.index.folders[0].state is FolderState.READY)


def test_a_read_only_disk_is_told_to_be_so(gallery: Opened) -> None:
    with mounted() as mounts:
        write(gallery.pictures / "a.png", ours(1, "a cat"))
        mounts.protect(gallery.pictures)
        gallery.index.start()
        gallery.wait(lambda: gallery.index.folders[0].state is FolderState.READ_ONLY)
        gallery.wait_for("a.png")


def test_a_folder_that_keeps_its_time_is_listed_when_the_system_tells_of_it(
    two: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On FAT and exFAT Windows leaves it as it is when a file is added."""
    stat, hour_ns = os.stat, 3600 * 10**9

    def on_fat(path: str, **how: Any) -> os.stat_result:
        facts = stat(path, **how)
        if not S_ISDIR(facts.st_mode):
            return facts
        return os.stat_result(facts[:10], {"st_mtime_ns": hour_ns})

    def times() -> list[tuple[int]]:
        with closing(sqlite3.connect(two.file)) as connection:
            return connection.execute("SELECT listed_ns FROM folders").fetchall()

    monkeypatch.setattr("app.gallery.scanning.os.stat", on_fat)
    two.index.rescan()
    two.wait(lambda: times() == [(hour_ns,)])
    write(two.pictures / "c.png", ours(3, "a fox"))
    two.wait_for("a.png", "b.png", "c.png")


def test_a_disk_may_have_a_number_of_64_bits(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python has those of Windows without a sign, half of them beyond what SQLite keeps."""
    stat = os.stat

    def on_windows(path: str, **how: Any) -> os.stat_result:
        facts = stat(path, **how)
        fields = list(facts[:10])
        fields[2] = 0xB8E4_C9D6_E4C9_94C4
        return os.stat_result(fields, {"st_mtime_ns": facts.st_mtime_ns})

    monkeypatch.setattr("app.gallery.scanning.os.stat", on_windows)
    write(gallery.pictures / "a.png", ours(1, "a cat"))
    gallery.index.start()
    gallery.wait_for("a.png")
    assert gallery.errors == []


def test_a_folder_that_was_emptied_is_empty(two: Opened) -> None:
    for path in two.pictures.iterdir():
        path.unlink()
    two.wait_for()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind")
def test_files_and_folders_without_access_are_told(two: Opened) -> None:
    (two.pictures / "a.png").chmod(0)
    two.pictures.chmod(0o500)
    two.again()
    two.wait(lambda: two.index.folders[0].state is FolderState.READ_ONLY)
    two.pictures.chmod(0o700)


def test_times_from_before_1970_and_far_ahead_are_only_an_order(gallery: Opened) -> None:
    for name, at in (("old.png", -86_400), ("new.png", 4_000_000_000), ("now.png", time.time())):
        path = write(gallery.pictures / name, png(len(name)))
        os.utime(path, (at, at))
    gallery.index.start()
    gallery.wait_for("old.png", "new.png", "now.png")
    assert gallery.names() == ["new.png", "now.png", "old.png"]
    gallery.wait(lambda: gallery.index.facets.total == 3)


def test_a_clock_that_jumps_back_leaves_the_last_marks(tmp_path: Path) -> None:
    clock = iter([2000, 1000])
    store = MarkStore(tmp_path, lambda error: None, lambda: next(clock))
    store.set({b"\1" * 16: Marks(1)})
    store.set({b"\1" * 16: Marks(2)})
    store.close()
    again = MarkStore(tmp_path, lambda error: None)
    assert again.of(b"\1" * 16) == Marks(2)
    again.close()


def test_an_index_that_was_deleted_is_made_again_with_all_stars(two: Opened) -> None:
    two.index.close()
    for path in two.file.parent.glob("index*"):
        path.unlink()
    two.again()
    two.wait_for("a.png", "b.png")
    assert two.names(STARRED) == ["a.png"]


@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_an_index_of_another_version_is_deleted_and_made_again(two: Opened, version: int) -> None:
    two.index.close()
    with closing(sqlite3.connect(two.file)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    two.again()
    two.wait_for("a.png", "b.png")
    assert two.names(STARRED) == ["a.png"]
    # A large Gallery's index takes 200 MB, which an update would leave behind for nothing.
    assert not list(two.file.parent.glob("index.sqlite.damaged-*"))


SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "another file": lambda content: b"<html>" * 1000,
    "cut off": lambda content: content[: len(content) // 2],
    "schema": lambda content: content[:100] + b"\xff" * 4000 + content[4100:],
    "zeros": lambda content: content[:8192] + bytes(len(content) - 8192),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_a_damaged_index_is_made_again_with_all_stars(
    two: Opened, spoil: Callable[[bytes], bytes]
) -> None:
    two.index.close()
    two.file.write_bytes(spoil(two.file.read_bytes()))
    two.again()
    two.wait_for("a.png", "b.png")
    two.wait_for("a.png", query=STARRED)
    assert two.errors == []


def test_damage_that_only_the_check_at_the_start_finds_is_mended_before_it_spreads(
    two: Opened,
) -> None:
    two.index.close()
    content = two.file.read_bytes()
    # Five free pages, of which there are none: every search works until something is written.
    two.file.write_bytes(content[:36] + (5).to_bytes(4, "big") + content[40:])
    two.again()
    two.wait(lambda: bool(list(two.file.parent.glob("index.sqlite.damaged-*"))))
    two.wait_for("a.png", "b.png")
    two.wait_for("a.png", query=STARRED)


def test_an_index_that_is_damaged_while_it_is_open_is_made_again(two: Opened) -> None:
    with closing(sqlite3.connect(two.file)) as connection:

        def is_written_back() -> bool:
            (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return busy == 0

        # While somebody reads, pages stay in the journal, and the damage would be under them.
        two.wait(is_written_back)
    content = two.file.read_bytes()
    two.file.write_bytes(content[:4096] + b"\x55" * (len(content) - 4096))
    two.index.rescan()
    two.index.search(GalleryQuery(words="cat"), lambda results: None)
    two.wait(lambda: bool(list(two.file.parent.glob("*.damaged-*"))))
    two.wait_for("a.png", "b.png")
    two.wait_for("a.png", query=STARRED)


def test_a_search_that_fails_as_the_index_is_made_again_is_answered(
    two: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, calls, search = Event(), list[GalleryQuery](), Searcher.search

    def fails_at_first(self: Searcher, index: Path, query: GalleryQuery) -> Results:
        calls.append(query)
        if len(calls) == 1:
            assert made.wait(60)
            raise sqlite3.OperationalError("unable to open database file")
        return search(self, index, query)

    monkeypatch.setattr(Searcher, "search", fails_at_first)
    found: list[list[int]] = []
    two.index.search(GalleryQuery(), lambda results: found.append(results.ids))
    two.wait(lambda: bool(calls))
    two.index._upkeep.made_again.emit()  # pyright: ignore[reportPrivateUsage]
    made.set()
    two.wait(lambda: bool(found))
    assert len(found[0]) == 2


def test_a_search_that_failed_does_not_overtake_a_later_one_when_it_is_tried_again(
    two: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, calls, search = Event(), list[GalleryQuery](), Searcher.search

    def fails_at_first(self: Searcher, index: Path, query: GalleryQuery) -> Results:
        calls.append(query)
        if len(calls) == 1:
            raise sqlite3.OperationalError("unable to open database file")
        assert made.wait(60)
        return search(self, index, query)

    monkeypatch.setattr(Searcher, "search", fails_at_first)
    two.index.search(GalleryQuery(words="cat"), lambda results: None)
    two.wait(lambda: bool(two.errors))
    found: list[list[int]] = []
    two.index.search(GalleryQuery(), lambda results: found.append(results.ids))
    two.wait(lambda: len(calls) == 2)
    two.index._upkeep.made_again.emit()  # pyright: ignore[reportPrivateUsage]
    made.set()
    two.wait(lambda: bool(found))
    assert len(found[0]) == 2


@pytest.mark.parametrize("flips", [60, pytest.param(1000, marks=pytest.mark.oracle)])
def test_no_flipped_byte_raises_anything_but_damage(tmp_path: Path, flips: int) -> None:
    pictures = tmp_path / "pictures"
    for number in range(40):
        write(pictures / f"{number}.png", ours(number, f"a cat of number {number}"))
    folder = tmp_path / "cache"
    prepare(folder)
    path = folder / "index.sqlite"
    marks = MarkStore(tmp_path / "state", lambda error: None)

    def use() -> None:
        check(path)
        mirror_all(path, marks)
        Scan(path, marks, Precedence(), Event(), lambda step: None, thorough=True).run(
            (Root(pictures),)
        )
        found = Searcher().search(path, GalleryQuery(words="cat"))
        with closing(sqlite3.connect(path)) as connection:
            read_rows(connection, found.ids, marks.of)
        read_facets(path, Precedence())

    use()
    whole = path.read_bytes()
    chance = random.Random(1)
    damaged = 0
    for _ in range(flips):
        place = chance.randrange(len(whole))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        outcome = attempt(use)
        if isinstance(outcome, Broken):
            assert outcome.fault is Fault.DAMAGED, outcome
            damaged += 1
        outcome = attempt(lambda: prepare(folder))
        assert not isinstance(outcome, Broken), outcome
        for rest in folder.glob("index.sqlite-*"):
            rest.unlink()
    assert damaged > 0
    marks.close()


_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


def test_an_index_that_another_process_holds_is_read_and_written_later(
    two: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "__kwdefaults__", {"patience_s": 0.1})
    with _held(two.file):
        write(two.pictures / "c.png", ours(3, "a fox"))
        two.index.refresh()
        assert sorted(two.names()) == ["a.png", "b.png"]
        assert [row.rating for row in two.rows(STARRED)] == [5]
        two.index.favourite(two.ids(), True)
    two.wait_for("a.png", "b.png", "c.png")
    two.wait_for("a.png", "b.png", query=GalleryQuery(favourites=True))


def test_a_picture_that_is_seen_can_be_marked_though_its_index_cannot_be_read(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a network drive readers wait for whoever writes."""

    def is_on_network(_folder: Path) -> bool:
        return True

    monkeypatch.setattr("app.gallery.database.on_network", is_on_network)
    write(gallery.pictures / "a.png", ours(1, "a cat"))
    gallery.index.start()
    gallery.wait_for("a.png")
    gallery.wait(lambda: gallery.index.folders[0].state is FolderState.READY)
    monkeypatch.setattr(connect, "__kwdefaults__", {"patience_s": 0.1})
    ids = gallery.ids()
    assert len(gallery.index.rows(ids)) == 1
    with _held(gallery.file):
        gallery.index.rate(ids, 5)
        assert [row.rating for row in gallery.index.rows(ids)] == [5]
    gallery.wait_for("a.png", query=STARRED)


def test_an_index_that_is_busy_as_it_is_opened_is_read_later(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last to leave an index holds it for a moment, and whoever paints does not wait."""
    tries: list[Path] = []

    def connect_at_last(path: Path, **_: float) -> sqlite3.Connection:
        tries.append(path)
        if len(tries) < 3:
            raise IndexBusyError("database is locked")
        return connect(path)

    monkeypatch.setattr(row_cache, "connect", connect_at_last)
    write(gallery.pictures / "a.png", ours(1, "a cat"))
    gallery.index.start()
    gallery.wait_for("a.png")
    assert gallery.errors == []


def test_facets_that_a_busy_index_did_not_count_are_counted_later(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, tries = Event(), list[Path]()
    busy.set()

    def count(path: Path, precedence: Precedence) -> Facets:
        tries.append(path)
        if busy.is_set():
            raise IndexBusyError("database is locked")
        return read_facets(path, precedence)

    monkeypatch.setattr("app.gallery.index.read_facets", count)
    monkeypatch.setattr("app.gallery.index._BUSY_MS", 100)
    write(gallery.pictures / "a.png", ours(1, "a cat"))
    gallery.index.start()
    gallery.wait_for("a.png")
    # Once as the index is opened, and once after the scan, the last that brings anything.
    gallery.wait(lambda: len(tries) >= 2)
    busy.clear()
    gallery.wait(lambda: gallery.index.facets.total == 1)


@contextmanager
def _held(index: Path) -> Generator[None]:
    """Hold an index in another process."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(index)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdout.readline()
        yield
        holder.stdin.close()


def test_pictures_that_were_indexed_before_a_kill_are_not_read_again(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    for number in range(600):
        write(pictures / f"{number}.png", png(number), hours=number)
    folder = tmp_path / "cache"
    prepare(folder)
    marks = MarkStore(tmp_path / "state", lambda error: None)
    stop = Event()
    told: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        told.append((done, total))
        stop.set()

    path = folder / "index.sqlite"
    Scan(
        path, marks, Precedence(), stop, lambda step: tell(step.done, step.total), thorough=True
    ).run((Root(pictures),))
    done, total = told[-1]
    assert 0 < done < total == 600
    # The newest are there first.
    with closing(sqlite3.connect(path)) as connection:
        rows = read_rows(connection, Searcher().search(path, GalleryQuery()).ids, marks.of)
    assert {Path(row.path).name for row in rows} == {f"{n}.png" for n in range(600 - done, 600)}
    told.clear()
    Scan(
        path, marks, Precedence(), Event(), lambda step: tell(step.done, step.total), thorough=True
    ).run((Root(pictures),))
    assert told[-1] == (600 - done, 600 - done)
    marks.close()


def test_a_full_disk_is_told_and_what_is_indexed_stays(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(400):
        write(gallery.pictures / f"{number}.png", ours(number, f"a cat {number} " * 20))
    connect = sqlite3.connect

    def on_a_small_disk(path: Path, **options: Any) -> sqlite3.Connection:
        connection = connect(path, **options)
        connection.execute("PRAGMA max_page_count = 80")
        return connection

    with monkeypatch.context() as small:
        small.setattr("app.gallery.database.sqlite3.connect", on_a_small_disk)
        gallery.index.start()
        gallery.wait(lambda: bool(gallery.errors))
        assert gallery.errors[0].code is ErrorCode.DISK_FULL
        assert "MB are needed" in gallery.errors[0].hint
        assert len(gallery.names()) < 400
    gallery.index.rescan()
    gallery.wait(lambda: len(gallery.ids()) == 400)


def test_a_folder_that_the_system_does_not_watch_is_looked_at_when_asked(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_watcher: QFileSystemWatcher, folders: list[str]) -> list[str]:
        return folders

    monkeypatch.setattr(QFileSystemWatcher, "addPaths", refuse)
    write(gallery.pictures / "a.png", ours(1, "a cat"))
    gallery.index.start()
    gallery.wait_for("a.png")
    write(gallery.pictures / "b.png", ours(2, "a dog"))
    gallery.index.refresh()
    gallery.wait_for("a.png", "b.png")


def test_a_cache_that_cannot_be_written_is_told_and_tried_again(gallery: Opened) -> None:
    (gallery.cache / "gallery").write_bytes(b"a file where the folder should be")
    gallery.index.start()
    gallery.wait(lambda: bool(gallery.errors))
    assert gallery.index.rows([1]) == []
    write(gallery.pictures / "a.png", ours(1, "a cat"))
    found: list[Results] = []
    gallery.index.search(GalleryQuery(), found.append)

    def comes_to_the_front() -> bool:
        gallery.index.refresh()
        return bool(found)

    for _ in range(3):
        assert not comes_to_the_front()
    (gallery.cache / "gallery").unlink()
    gallery.wait(comes_to_the_front)
    gallery.wait_for("a.png")
    assert len(gallery.errors) == 1


def test_a_folder_that_comes_later_is_noticed(gallery: Opened) -> None:
    gallery.pictures.rmdir()
    gallery.index.start()
    gallery.wait(lambda: gallery.index.folders[0].state is FolderState.MISSING)
    # Nobody looks again: there is neither a scan nor another start.
    write(gallery.pictures / "first.png", ours(1, "a cat"))
    gallery.wait(lambda: [row.prompt for row in gallery.rows()] == ["a cat"])
