"""Scans give way to searches, of which a person waits for the end, and miss nothing by it."""

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from app.gallery.database import FILE, prepare
from app.gallery.marks import MarkStore
from app.gallery.precedence import Precedence
from app.gallery.query import GalleryQuery
from app.gallery.rows import Root
from app.gallery.scanning import Scan, Step
from app.gallery.searching import Searcher
from tests.app.gallery.conftest import Opened
from tests.app.gallery.made import png, write

_MANY = 30
# Longer than a scan of so few pictures, and shorter than work gives way at once.
_MOMENT_S = 0.15


class _Pictures:
    """An index of a folder of pictures, and scans of it."""

    def __init__(self, folder: Path) -> None:
        self._pictures = folder / "pictures"
        for number in range(_MANY):
            write(self._pictures / f"{number % 3}" / f"{number}.png", png(number))
        prepare(folder / "cache")
        self.file = folder / "cache" / FILE
        self.precedence = Precedence()
        self._marks = MarkStore(folder / "state", lambda error: None)

    def scan(self, tell: Callable[[Step], None] = lambda step: None) -> None:
        """List every folder, and read what is new."""
        scan = Scan(self.file, self._marks, self.precedence, Event(), tell, thorough=True)
        scan.run((Root(self._pictures),))

    @property
    def count(self) -> int:
        """The number of pictures that a search finds."""
        return len(Searcher().search(self.file, GalleryQuery()).ids)


@pytest.fixture
def pictures(tmp_path: Path) -> _Pictures:
    return _Pictures(tmp_path)


def test_a_scan_waits_for_a_search_and_then_finds_everything(pictures: _Pictures) -> None:
    pictures.precedence.begin()
    with ThreadPoolExecutor(1) as pool:
        scan = pool.submit(pictures.scan)
        time.sleep(_MOMENT_S)
        assert pictures.count == 0
        start = time.monotonic()
        pictures.precedence.end()
        scan.result(10)
    assert time.monotonic() - start < 10 * _MOMENT_S
    assert pictures.count == _MANY


def test_a_scan_stops_amid_a_folder_that_it_knows(pictures: _Pictures) -> None:
    pictures.scan()
    given: list[bool] = []

    class Counted(Precedence):
        def give_way(self) -> None:
            given.append(True)

    pictures.precedence = Counted()
    pictures.scan()
    # At each file listed, at each row compared, and at each folder.
    assert len(given) >= 2 * _MANY + 4


def test_a_scan_goes_on_beside_a_search_that_never_ends(pictures: _Pictures) -> None:
    pictures.precedence.begin()
    start = time.monotonic()
    pictures.scan()
    assert time.monotonic() - start < 5
    assert pictures.count == _MANY


def test_a_scan_comes_to_its_end_though_searches_follow_each_other(pictures: _Pictures) -> None:
    with ThreadPoolExecutor(1) as pool:
        scan = pool.submit(pictures.scan)
        while not scan.done():
            pictures.precedence.begin()
            time.sleep(0.01)
            pictures.precedence.end()
        scan.result()
    assert pictures.count == _MANY


def test_no_scan_waits_while_it_writes(pictures: _Pictures) -> None:
    """Else marks could not be copied to the index meanwhile, nor the index be put aside."""

    class Probing(Precedence):
        def give_way(self) -> None:
            with closing(sqlite3.connect(pictures.file, timeout=0)) as other:
                other.execute("BEGIN IMMEDIATE")

    pictures.precedence = Probing()
    pictures.scan()
    assert pictures.count == _MANY


def test_a_search_has_precedence_until_its_pictures_are_taken(gallery: Opened) -> None:
    precedence = gallery.index.precedence
    gallery.index.start()
    gallery.wait_for()
    taken: list[bool] = []
    gallery.index.search(GalleryQuery(), lambda found: taken.append(precedence.is_taken))
    assert precedence.is_taken
    gallery.wait(lambda: bool(taken))
    assert taken == [True]
    gallery.wait(lambda: not precedence.is_taken)


def test_a_search_that_fails_has_no_precedence_any_more(
    gallery: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    precedence = gallery.index.precedence
    gallery.index.start()
    gallery.wait_for()
    ended: list[bool] = []
    monkeypatch.setattr(precedence, "end", lambda: ended.append(True))
    with closing(sqlite3.connect(gallery.file)) as other:
        other.execute("DROP TABLE changes")
    gallery.index.search(GalleryQuery(), lambda found: None)
    gallery.wait(lambda: bool(ended))
