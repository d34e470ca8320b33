"""Searches read as little of the index as they can, and are right after each change of it."""

import sqlite3
from contextlib import closing

import pytest

from app.gallery.letter_pairs import letter_pairs
from app.gallery.query import GalleryQuery, Order, word_statements
from app.gallery.searching import Searcher
from tests.app.gallery.conftest import Opened
from tests.app.gallery.made import ours, write

EVERYTHING = GalleryQuery()


@pytest.fixture
def two(gallery: Opened) -> Opened:
    """A gallery of two pictures; b.png is the newer one."""
    write(gallery.pictures / "a.png", ours(1, "a cat"), hours=1)
    write(gallery.pictures / "b.png", ours(2, "a cat and a dog"), hours=2)
    gallery.index.start()
    gallery.wait_for("a.png", "b.png")
    return gallery


def test_the_last_list_is_kept_while_the_index_stays_as_it_is(two: Opened) -> None:
    searcher = Searcher()
    listed = searcher.search(two.file, EVERYTHING)
    assert searcher.search(two.file, EVERYTHING) is listed
    assert searcher.search(two.file, GalleryQuery(words="dog")).ids == listed.ids[:1]
    assert searcher.search(two.file, EVERYTHING) is listed


def test_another_list_is_made_for_another_order(two: Opened) -> None:
    searcher = Searcher()
    newest = searcher.search(two.file, EVERYTHING)
    oldest = searcher.search(two.file, GalleryQuery(order=Order.OLDEST))
    assert oldest.ids == newest.ids[::-1]
    assert oldest.times == newest.times[::-1]


def test_words_choose_among_times_as_among_ids(two: Opened) -> None:
    searcher = Searcher()
    listed = searcher.search(two.file, EVERYTHING)
    found = searcher.search(two.file, GalleryQuery(words="a.png"))
    assert (found.ids, found.times) == (listed.ids[1:], listed.times[1:])


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE pictures SET rejected = 1 WHERE name = CAST('b.png' AS BLOB)",
        "DELETE FROM pictures WHERE name = CAST('b.png' AS BLOB)",
    ],
)
def test_a_list_is_made_anew_after_a_change(two: Opened, change: str) -> None:
    searcher = Searcher()
    listed = searcher.search(two.file, EVERYTHING)
    with closing(sqlite3.connect(two.file)) as connection, connection:
        connection.execute(change)
    assert searcher.search(two.file, EVERYTHING).ids == listed.ids[1:]
    assert searcher.search(two.file, GalleryQuery(words="cat")).ids == listed.ids[1:]


def test_a_picture_that_comes_later_is_found_by_all_ways(two: Opened) -> None:
    searcher = Searcher()
    searcher.search(two.file, EVERYTHING)
    write(two.pictures / "c.png", ours(3, "a cat on a roof"), hours=3)
    two.index.rescan()
    two.wait_for("a.png", "b.png", "c.png")
    assert len(searcher.search(two.file, EVERYTHING).ids) == 3
    assert len(searcher.search(two.file, GalleryQuery(words="ca")).ids) == 3
    assert len(searcher.search(two.file, GalleryQuery(words="oo roof")).ids) == 1


def test_letters_of_a_picture_that_is_gone_are_gone(two: Opened) -> None:
    (two.pictures / "b.png").unlink()
    two.index.rescan()
    two.wait_for("a.png")
    with closing(sqlite3.connect(two.file)) as connection:
        for words, count in (("do", 0), ("ca", 1)):
            (statement,) = word_statements(words).wanted
            (found,) = connection.execute(statement.sql, statement.values).fetchone()
            assert found.count(",") + (found != "[]") == count


def test_two_letters_are_looked_up_without_a_look_at_the_texts(two: Opened) -> None:
    (statement,) = word_statements("ca").wanted
    with closing(sqlite3.connect(two.file)) as connection:
        steps = connection.execute(f"EXPLAIN QUERY PLAN {statement.sql}", statement.values)
        plan = " ".join(step for *_, step in steps)
    assert "letters VIRTUAL TABLE" in plan
    assert "texts" not in plan


def test_letters_are_paired_within_a_text_only() -> None:
    assert letter_pairs("Ab", "c").split() == ["61", "6162", "62", "63"]
