"""The gallery finds, searches and marks the pictures of its folders."""

import sqlite3
from contextlib import closing
from datetime import date, datetime
from pathlib import Path

import pytest
from PIL import Image

from app.gallery.query import GalleryQuery, Order, Rejected, Shape, list_statement, read_dates
from app.gallery.rows import FolderState
from tests.app.gallery.conftest import Opened
from tests.app.gallery.made import ours, png, theirs, write


@pytest.fixture
def three(gallery: Opened) -> Opened:
    """A gallery of three pictures: red.png is the newest, and sea.png lies in a subfolder."""
    write(gallery.pictures / "cat.png", ours(1, "a cat, asleep", seed=12), hours=1)
    write(gallery.pictures / "sub" / "sea.png", theirs(2, "the sea <lora:waves:0.5>"), hours=30)
    write(
        gallery.pictures / "red.png", theirs(3, "a red house, é", seed=77, model="brick"), hours=60
    )
    gallery.index.start()
    gallery.wait_for("cat.png", "sea.png", "red.png")
    return gallery


def test_pictures_of_subfolders_come_newest_first_with_how_they_were_made(three: Opened) -> None:
    red, sea, cat = three.rows()
    assert [Path(row.path).name for row in (red, sea, cat)] == ["red.png", "sea.png", "cat.png"]
    assert (red.prompt, red.negative, red.model) == ("a red house, é", "blurry", "brick")
    assert (red.seed, red.tool) == (77, "AUTOMATIC1111")
    assert (cat.prompt, cat.model, cat.seed, cat.tool) == (
        "a cat, asleep",
        "dream",
        12,
        "Safelight",
    )
    assert sea.loras == ("waves",)
    assert (cat.width, cat.height) == (1, 1)
    assert three.index.id_of(red.path) == red.id


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("red HOUSE", ["red.png"]),
        ("ous", ["red.png"]),
        ("ca", ["cat.png"]),
        ("brick", ["red.png"]),
        ("waves", ["sea.png"]),
        ("sea.png", ["sea.png"]),
        ("blurry", ["red.png", "sea.png", "cat.png"]),
        ('"cat, asleep"', ["cat.png"]),
        ('"asleep cat"', []),
        ("77", ["red.png"]),
        ("safelight", ["cat.png"]),
        ("a1 automatic", []),
        ("au automatic1111 house", ["red.png"]),
        ("2001", ["red.png", "sea.png", "cat.png"]),
        ("2001-09", ["red.png", "sea.png", "cat.png"]),
        ("9/2001", ["red.png", "sea.png", "cat.png"]),
        ("2001-10", []),
        ("2001-13", []),
        ("0000", []),
        ("4711", []),
        ("0001-01-01", []),
        ("1x1", ["red.png", "sea.png", "cat.png"]),
        ("\u20661 \u00d7 1\u2069 house", ["red.png"]),
        ("1 x 12", []),
        ("100%", []),
        ("LE", ["cat.png"]),
        ("st", []),
        ("é", ["red.png"]),
        ("É", ["red.png"]),
        ('"e "', ["sea.png"]),
        ('" OR 1=1 --', []),
        ("NEAR(red house)", []),
        ("\ud800\0", []),
    ],
)
def test_words_are_found_in_every_text(three: Opened, words: str, names: list[str]) -> None:
    assert three.names(GalleryQuery(words=words)) == names


def test_words_may_be_in_different_texts_of_a_picture(three: Opened) -> None:
    # A model's name, a prompt, the tool, and a word that is too short for the index.
    assert three.names(GalleryQuery(words="brick house auto")) == ["red.png"]
    assert three.names(GalleryQuery(words="brick ho auto")) == ["red.png"]
    assert three.names(GalleryQuery(words='"red house" brick')) == ["red.png"]
    assert three.names(GalleryQuery(words="brick cat")) == []


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("-house", ["sea.png", "cat.png"]),
        ("-HOUSE -cat", ["sea.png"]),
        ('-"cat, asleep"', ["red.png", "sea.png"]),
        ('-"asleep cat"', ["red.png", "sea.png", "cat.png"]),
        ("2001 -st -brick -safelight", ["sea.png"]),
        ("2001 -2001-09", []),
        ("1x1 -77", ["sea.png", "cat.png"]),
        ("cat -cat", []),
        ("-le", ["red.png", "sea.png"]),
        ("cat -", ["cat.png"]),
        ("-", ["red.png", "sea.png", "cat.png"]),
    ],
)
def test_words_after_a_minus_are_not_found(three: Opened, words: str, names: list[str]) -> None:
    assert three.names(GalleryQuery(words=words)) == names


@pytest.mark.parametrize("order", [Order.NEWEST, Order.NAME])
def test_the_usual_orders_are_read_off_an_index(three: Opened, order: Order) -> None:
    statement = list_statement(GalleryQuery(order=order))
    with closing(sqlite3.connect(three.file)) as connection:
        steps = connection.execute(f"EXPLAIN QUERY PLAN {statement.sql}", statement.values)
        plan = " ".join(step for *_, step in steps)
    assert "USING COVERING INDEX" in plan
    assert "TEMP B-TREE" not in plan


def test_a_day_finds_what_was_saved_on_it(three: Opened) -> None:
    red, _, _ = three.rows()
    day = datetime.fromtimestamp(red.modified_ns / 1e9).astimezone().date()
    shown = (f"{day:%d/%m/%Y}", f"{day:%d.%m.%y}", f"{day:%m/%d/%y}")
    for words in (day.isoformat(), f"{day.day}.{day.month}.{day.year}", *shown):
        assert three.names(GalleryQuery(words=words)) == ["red.png"]
        assert three.names(GalleryQuery(words=f"{words} house")) == ["red.png"]
        assert three.names(GalleryQuery(words=f"{words} cat")) == []


@pytest.mark.parametrize(
    ("word", "first", "after"),
    [
        ("2026", date(2026, 1, 1), date(2027, 1, 1)),
        ("2026-11", date(2026, 11, 1), date(2026, 12, 1)),
        ("12.2026", date(2026, 12, 1), date(2027, 1, 1)),
        ("12/2026", date(2026, 12, 1), date(2027, 1, 1)),
        ("2026-11-30", date(2026, 11, 30), date(2026, 12, 1)),
        ("30.11.2026", date(2026, 11, 30), date(2026, 12, 1)),
        ("30.11.26", date(2026, 11, 30), date(2026, 12, 1)),
        ("30/11/2026", date(2026, 11, 30), date(2026, 12, 1)),
        ("11/30/26", date(2026, 11, 30), date(2026, 12, 1)),
        ("2026/11/30", date(2026, 11, 30), date(2026, 12, 1)),
    ],
)
def test_dates_are_read_as_people_write_them(word: str, first: date, after: date) -> None:
    assert read_dates(word) == ((first, after),)


def test_a_day_that_may_be_a_month_is_read_either_way() -> None:
    second_of_january, first_of_february = date(2026, 1, 2), date(2026, 2, 1)
    days = {first for first, _ in read_dates("1/2/2026")}
    assert days == {second_of_january, first_of_february}
    assert len(read_dates("2/2/2026")) == 1


@pytest.mark.parametrize(
    "word", ["2026-02-30", "9999-12-31", "9999", "20261", "2026-", "1.2", "x", "1.2/2026"]
)
def test_other_words_are_no_dates(word: str) -> None:
    assert read_dates(word) == ()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (GalleryQuery(model="brick"), ["red.png"]),
        (GalleryQuery(lora="waves"), ["sea.png"]),
        (GalleryQuery(tool="Safelight"), ["cat.png"]),
        (GalleryQuery(since=date(2001, 9, 11)), ["red.png"]),
        (GalleryQuery(until=date(2001, 9, 9)), ["cat.png"]),
        (GalleryQuery(since=date.min, until=date.max), ["red.png", "sea.png", "cat.png"]),
        (GalleryQuery(least_megapixels=0.1), []),
        (GalleryQuery(shape=Shape.SQUARE), ["red.png", "sea.png", "cat.png"]),
        (GalleryQuery(shape=Shape.PORTRAIT), []),
        (GalleryQuery(order=Order.OLDEST), ["cat.png", "sea.png", "red.png"]),
        (GalleryQuery(order=Order.NAME), ["cat.png", "red.png", "sea.png"]),
    ],
)
def test_a_query_filters_and_orders_pictures(
    three: Opened, query: GalleryQuery, names: list[str]
) -> None:
    assert three.names(query) == names


def test_a_folder_is_searched_with_those_below_it_alone(three: Opened) -> None:
    write(three.pictures / "sub too" / "other.png", png(4))
    three.index.refresh()
    three.wait_for("cat.png", "sea.png", "red.png", "other.png")
    assert three.names(GalleryQuery(folder=three.pictures / "sub")) == ["sea.png"]
    assert len(three.names(GalleryQuery(folder=three.pictures))) == 4


def test_marks_hold_at_once_are_searched_and_undone(three: Opened) -> None:
    told: list[tuple[int, ...]] = []
    three.index.marked.connect(told.append)
    red, sea, cat = three.ids()
    marking = three.index.rate([red, sea], 4)
    assert [row.rating for row in three.rows()] == [4, 4, 0]
    assert sorted(told[0]) == sorted([red, sea])
    three.wait_for("red.png", "sea.png", query=GalleryQuery(least_rating=4))
    three.index.favourite([cat], True)
    three.wait_for("cat.png", query=GalleryQuery(favourites=True))
    three.wait(lambda: three.index.facets.favourites == 1)
    assert three.names(GalleryQuery(order=Order.BEST_RATED)) == ["red.png", "sea.png", "cat.png"]
    three.index.undo(marking)
    assert [row.rating for row in three.rows()] == [0, 0, 0]
    three.wait_for(query=GalleryQuery(least_rating=1))


def test_marks_that_were_given_since_a_change_are_not_undone_with_it(three: Opened) -> None:
    red, sea, cat = three.ids()
    three.index.rate([cat], 1)
    marking = three.index.rate([red, sea, cat], 2)
    three.index.reject([red], True)
    three.index.rate([sea], 5)
    three.index.undo(marking)
    rows = three.index.rows([red, sea, cat])
    assert [(row.rating, row.rejected) for row in rows] == [(0, True), (5, False), (1, False)]


def test_rejected_pictures_are_hidden_until_they_are_asked_for(three: Opened) -> None:
    red, *_ = three.ids()
    three.index.reject([red], True)
    three.wait_for("sea.png", "cat.png")
    assert three.names(GalleryQuery(rejected=Rejected.ONLY)) == ["red.png"]
    assert len(three.names(GalleryQuery(rejected=Rejected.SHOWN))) == 3


def test_facets_count_what_can_be_filtered_by(three: Opened) -> None:
    three.wait(lambda: three.index.facets.total == 3)
    facets = three.index.facets
    assert [(model.name, model.count) for model in facets.models] == [("dream", 2), ("brick", 1)]
    assert [lora.name for lora in facets.loras] == ["waves"]
    assert {tool.name: tool.count for tool in facets.tools} == {"AUTOMATIC1111": 2, "Safelight": 1}
    assert [day.name for day in facets.days] == ["2001-09-11", "2001-09-10", "2001-09-09"]
    assert [folder.count for folder in facets.folders] == [2, 1]


def test_another_folder_is_added_kept_and_removed(three: Opened, tmp_path: Path) -> None:
    other = write(tmp_path / "other" / "dog.png", theirs(5, "a dog")).parent
    assert three.index.add_folder(other)
    assert not three.index.add_folder(other)
    three.wait_for("cat.png", "sea.png", "red.png", "dog.png")
    three.again()
    three.wait(lambda: [folder.state for folder in three.index.folders] == [FolderState.READY] * 2)
    assert [folder.path for folder in three.index.folders] == [three.pictures, other]
    three.index.remove_folder(other)
    three.wait_for("cat.png", "sea.png", "red.png")
    assert (other / "dog.png").exists()


def test_a_folder_is_watched_without_its_subfolders_and_stays_so(three: Opened) -> None:
    three.index.use_subfolders(three.pictures, wanted=False)
    three.wait_for("cat.png", "red.png")
    three.again()
    three.wait_for("cat.png", "red.png")
    assert [folder.with_subfolders for folder in three.index.folders] == [False]
    # A change below tells nothing, and one in the folder itself does.
    write(three.pictures / "sub" / "deep.png", png(6))
    write(three.pictures / "new.png", png(7))
    three.index.refresh()
    three.wait_for("cat.png", "red.png", "new.png")
    three.index.use_subfolders(three.pictures, wanted=True)
    three.wait_for("cat.png", "red.png", "new.png", "sea.png", "deep.png")


def test_a_folder_below_one_that_is_watched_alone_is_watched_if_it_was_added(three: Opened) -> None:
    sub, pictures = three.pictures / "sub", three.pictures
    three.index.use_subfolders(pictures, wanted=False)
    three.wait_for("cat.png", "red.png")
    three.index.add_folder(sub)
    three.wait_for("cat.png", "red.png", "sea.png")
    alone = GalleryQuery(folder=pictures, with_subfolders=False)
    assert sorted(three.names(alone)) == ["cat.png", "red.png"]
    three.index.remove_folder(sub)
    three.wait_for("cat.png", "red.png")


def test_nothing_is_read_twice(three: Opened) -> None:
    three.again()
    told: list[int] = []
    three.index.progress.connect(told.append)
    three.wait(lambda: three.index.folders[0].state is FolderState.READY)
    assert three.names() == ["red.png", "sea.png", "cat.png"]
    assert told == []


def test_animations_are_in_the_gallery_by_their_first_pictures(gallery: Opened) -> None:
    path = write(gallery.pictures / "dance.gif", b"")
    first, last = (Image.new("RGB", (30, 20), colour) for colour in ("red", "blue"))
    first.save(path, save_all=True, append_images=[last])
    gallery.index.start()
    gallery.wait_for("dance.gif")
    (row,) = gallery.rows()
    assert (row.width, row.height, row.trouble) == (30, 20, None)
    gallery.index.rate(gallery.ids(), 3)
    path.rename(gallery.pictures / "renamed.gif")
    gallery.index.rescan()
    gallery.wait_for("renamed.gif", query=GalleryQuery(least_rating=3))
