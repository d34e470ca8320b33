"""Trigger words go into a prompt, and out of it without a trace."""

import pytest

from app.form.trigger_words import has_words, with_words, without_words

WORDS = "ink wash"


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "ink wash"), ("a cat", "a cat, ink wash"), ("a cat, ", "a cat, ink wash")],
)
def test_words_are_added_after_a_comma(before: str, after: str) -> None:
    assert with_words(before, WORDS) == after
    assert has_words(after, WORDS)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ink wash", ""),
        ("a cat, ink wash", "a cat"),
        ("Ink  Wash, a cat", "a cat"),
        ("a cat, ink wash , a dog", "a cat, a dog"),
        ("a cat in ink wash by day", "a cat in by day"),
        ("ink wash, a cat, ink wash", "a cat"),
    ],
)
def test_words_are_removed_with_the_comma_that_parted_them(before: str, after: str) -> None:
    assert without_words(before, WORDS) == after


@pytest.mark.parametrize("prompt", ["", "inkwash", "ink washed", "drink wash", "ink, wash"])
def test_a_part_of_another_word_is_not_the_word(prompt: str) -> None:
    assert not has_words(prompt, WORDS)
    assert without_words(prompt, WORDS) == prompt


def test_signs_of_prompts_and_of_patterns_in_words_are_themselves() -> None:
    words = "(sumi-e:1.2) [c++]"
    prompt = with_words("a cat", words)
    assert has_words(prompt, words)
    assert without_words(prompt, words) == "a cat"


def test_no_words_change_nothing() -> None:
    assert without_words("a cat", " ") == "a cat"
