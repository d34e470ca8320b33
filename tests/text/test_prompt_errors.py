"""Errors that point at a character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.text.composition import MAX_PARTS, split_composition
from engine.text.prompt_errors import prompt_error, show

MARK = "\N{BLACK RIGHT-POINTING POINTER}"


def test_the_message_counts_from_one_and_shows_the_place() -> None:
    error = prompt_error("one two three", 4, sentence("there is no two"), sentence("Write three."))
    assert error.code is ErrorCode.REQUEST_INVALID
    assert error.message == (
        f'At character 5 of the prompt, there is no two: "one {MARK}two three".'
    )
    assert error.hint == "Write three."


def test_a_long_prompt_is_shown_around_the_place() -> None:
    shown = show("a" * 100 + "b" + "c" * 100, 100)
    assert (
        shown
        == '"\N{HORIZONTAL ELLIPSIS}'
        + "a" * 16
        + MARK
        + "b"
        + "c" * 15
        + '\N{HORIZONTAL ELLIPSIS}"'
    )


@given(text=st.text(st.characters(), max_size=60), position=st.integers(0, 80))
def test_the_shown_part_is_plain_text(text: str, position: int) -> None:
    shown = show(text, min(position, len(text)))
    assert shown.isprintable()
    assert len(shown) < 40


def test_too_many_parts_are_refused_at_their_character() -> None:
    assert len(split_composition(" AND ".join("a" * MAX_PARTS))) == MAX_PARTS
    with pytest.raises(EngineError, match=f"At character {6 * (MAX_PARTS - 1) + 3} "):
        split_composition(" AND ".join("a" * (MAX_PARTS + 1)))
