"""The Gallery's habits outlive the window."""

from datetime import date
from pathlib import Path

from app.gallery.habits import FILE, GalleryHabits
from app.gallery.query import GalleryQuery, Order, Shape

QUERY = GalleryQuery(
    words="  a  boat ", model="mix", favourites=True, since=date(2026, 11, 1), shape=Shape.SQUARE
)
KEPT = GalleryQuery(
    words="a boat", model="mix", favourites=True, since=date(2026, 11, 1), shape=Shape.SQUARE
)


def test_searches_are_kept_with_their_filters(tmp_path: Path) -> None:
    GalleryHabits(tmp_path).keep_search(QUERY)
    again = GalleryHabits(tmp_path)
    assert again.problem is None
    assert again.habits.recent == (KEPT,)


def test_a_folder_and_an_order_are_no_search(tmp_path: Path) -> None:
    habits = GalleryHabits(tmp_path)
    habits.keep_search(GalleryQuery(folder=tmp_path, order=Order.NAME))
    assert habits.habits.recent == ()


def test_a_search_takes_the_place_of_the_one_it_goes_on_from(tmp_path: Path) -> None:
    habits = GalleryHabits(tmp_path)
    first, other = GalleryQuery(words="a"), GalleryQuery(words="b")
    habits.keep_search(first)
    habits.keep_search(other)
    habits.keep_search(QUERY, first)
    assert habits.habits.recent == (KEPT, other)


def test_words_that_were_kept_alone_are_searches(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"searches": ["boat"]}')
    assert GalleryHabits(tmp_path).habits.recent == (GalleryQuery(words="boat"),)
