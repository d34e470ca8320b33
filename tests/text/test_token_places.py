"""Places of tokens that nothing but the text's beginnings tells."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.token_places import token_places


def words(text: str) -> list[str]:
    """Tokens that are words, or the name of a city in two."""
    return [word.replace("_", " ") for word in text.replace("New York", "New_York").split()]


def length_of(text: str) -> list[str]:
    """Tokens that are others in every longer text."""
    return [f"{len(text)}"] * len(text)


@given(st.text("ab -\n", max_size=600))
def test_every_token_is_placed_where_it_begins(text: str) -> None:
    starts = [found.start() for found in re.finditer(r"\S+", text)]
    assert token_places(text, range(len(starts) + 1), words) == [*starts, None]


@pytest.mark.parametrize("before", range(90, 110))
def test_a_token_of_two_words_is_found_wherever_it_stands(before: int) -> None:
    text = "a" * before + " New York, a " + "b " * 200 + "New York"
    assert token_places(text, (1, 2, 203), words) == [before + 1, before + 11, len(text) - 8]


def test_words_are_found_where_they_begin() -> None:
    text = "".join(f"word{number} " for number in range(300))
    assert token_places(text, (0, 7, 299, 300), words) == [
        *(text.index(f"word{number} ") for number in (0, 7, 299)),
        None,
    ]


@pytest.mark.parametrize(("length", "place"), [(4096, 4095), (4097, None)])
def test_a_long_piece_without_words_is_not_searched(length: int, place: int | None) -> None:
    assert token_places("a" * length, (4000,), length_of) == [place]


def test_an_empty_text_has_no_places() -> None:
    assert token_places("", (0,), words) == [None]
