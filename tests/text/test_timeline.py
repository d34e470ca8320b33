"""Prompts that change in the course of the run; their answers are in test_frozen_grammars."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.text.timeline import schedule_prompt
from tests.counted_work import assert_linear

PIECES = st.sampled_from([*"[]()|:\\ab \n3.\0\ud800\u202e\u200b", ":3]", "[a|", "[a:b:.5]", "猫"])
TEXTS = st.lists(PIECES, max_size=40).map("".join)


@given(text=TEXTS, steps=st.integers(1, 30))
def test_any_text_gives_texts_until_the_last_step(text: str, steps: int) -> None:
    timed = schedule_prompt(text, steps)
    ends = [item.until for item in timed]
    assert ends[-1] == steps
    assert ends == sorted(set(ends))
    assert all(1 <= end <= steps for end in ends)
    # Choices leave out; nothing comes in.
    assert all(set(item.text) <= set(text) for item in timed)


@given(text=st.text(st.characters(exclude_characters="[]|\\"), max_size=60))
def test_text_without_choices_does_not_change(text: str) -> None:
    (timed,) = schedule_prompt(text, 20)
    assert timed.text == text


def test_equal_texts_are_the_same_object() -> None:
    timed = schedule_prompt("[a|b] c", 6)
    assert len({id(item.text) for item in timed}) == 2


def test_a_number_out_of_range_changes_at_the_end() -> None:
    (only,) = schedule_prompt("[a:b:1e999]", 5)
    assert only.text == "a"


def test_nesting_a_thousand_levels_deep_is_read() -> None:
    text = "[x:" * 1000 + "y" + ":5]" * 1000
    assert [(t.until, t.text) for t in schedule_prompt(text, 8)] == [(5, "x"), (8, "y")]
    text = "[a|" * 1000 + "b" + "]" * 1000
    assert [t.text for t in schedule_prompt(text, 3)] == ["a", "b", "a"]


# Of a number of pieces.
LONG_TEXTS: list[Callable[[int], str]] = [
    lambda n: "[a:b:3]" * n,
    lambda n: "[a:" * 2 * n + "b" + ":3]" * n,
    lambda n: "([" * n,
    lambda n: "[a|b" * n,
    lambda n: "[:" + " " * n + "]",
    lambda n: "[a:" + "1" * n + "]",
    lambda n: "\\" * n,
]


@pytest.mark.parametrize(
    "text",
    LONG_TEXTS,
    ids=["changes", "deep", "unclosed", "bars", "spaces", "digits", "slashes"],
)
def test_the_work_grows_with_the_length_of_a_prompt(text: Callable[[int], str]) -> None:
    assert_linear(lambda pieces: schedule_prompt(text(pieces), 20))
    # Regular expressions that try from each place anew would take minutes.
    assert schedule_prompt(text(100_000), 20)


def test_a_prompt_with_too_many_changes_is_refused() -> None:
    with pytest.raises(EngineError, match="changes 1,000 times") as caught:
        schedule_prompt("[a|b]" * 20_000, 1000)
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert caught.value.hint
