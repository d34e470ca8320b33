"""compel's grammar; tests/oracle/test_prompts.py compares it with compel itself."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.text.compel import parse_compel
from engine.text.prompt import MAX_WEIGHT, Mixture, WeightedText
from tests.counted_work import assert_linear

PIECES = st.sampled_from(
    [
        *'()"\\,.=+- ab\n\t1\0\ud800\u202e\u200b',
        ".swap(",
        ".attend(+)",
        ".blend(",
        '("a", "b")',
        "1.3",
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


def phrase(text: str) -> list[tuple[str, float]]:
    """The only phrase of a prompt."""
    (mixture,) = parse_compel(text).parts
    return plain(mixture)[0]


def plain(mixture: Mixture) -> list[list[tuple[str, float]]]:
    return [
        [(part.text, part.weight) for part in phrase if isinstance(part, WeightedText)]
        for phrase in mixture.phrases
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("", 1.0)]),
        ("a red++ house", [("a", 1.0), ("red", 1.1**2), ("house", 1.0)]),
        ("(a (b)0.5)2", [("a", 2.0), ("b", 1.0)]),
        ("a (b c)- d", [("a", 1.0), ("b c", 0.9), ("d", 1.0)]),
        ('"a b".attend(1.5)', [("a b", 1.5)]),
        ("a.b(c)+ d,e", [("a.b(c)+ d, e", 1.0)]),
        (r"\(a\) b", [("(a) b", 1.0)]),
        ("cat.swap(dog) x", [("cat", 1.0), ("x", 1.0)]),
        ("(unclosed a+", [("(unclosed", 1.0), ("a", 1.1)]),
    ],
)
def test_phrases_have_the_weights_of_compel(text: str, expected: list[tuple[str, float]]) -> None:
    assert phrase(text) == expected


def test_blends_and_conjunctions_are_read_as_in_compel() -> None:
    (blend,) = parse_compel('("a", "b+").blend(0.7, 0.3, no_normalize)').parts
    assert plain(blend) == [[("a", 1.0)], [("b", 1.1)]]
    assert (blend.shares, blend.normalized, blend.weight) == ((0.7, 0.3), False, 1.0)
    first, second = parse_compel('("a", "b").and(1, 0.5) ignored').parts
    assert (plain(first), first.weight) == ([[("a", 1.0)]], 1.0)
    assert (plain(second), second.weight) == ([[("b", 1.0)]], 0.5)


def test_loras_are_returned() -> None:
    prompt = parse_compel("withLora(x, 0.5) a useLora(y)")
    assert [tag.arguments for tag in prompt.tags] == [("x", "0.5"), ("y",)]
    assert plain(prompt.parts[0]) == [[("a", 1.0)]]


@pytest.mark.parametrize(
    ("text", "character", "shown"),
    [
        ('("a","b").blend(1, x)', 20, 'blend(1, \N{BLACK RIGHT-POINTING POINTER}x)"'),
        ('("a","b").and(1)', 15, "1 numbers for 2 prompts"),
        ('("a", "b").blend() and', 20, "\N{BLACK RIGHT-POINTING POINTER}and"),
        ('("a", "b.swap(c)").blend(1, 1)', 26, "a swap or nothing"),
    ],
)
def test_errors_point_at_the_character(text: str, character: int, shown: str) -> None:
    with pytest.raises(EngineError) as caught:
        parse_compel(text)
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert f"At character {character} " in caught.value.message
    assert shown in caught.value.message
    assert caught.value.hint


@given(text=TEXTS)
def test_any_text_has_finite_weights_or_an_error(text: str) -> None:
    try:
        prompt = parse_compel(text)
    except EngineError:
        return
    assert prompt.parts
    for mixture in prompt.parts:
        assert len(mixture.shares) == len(mixture.phrases) > 0
        for found in plain(mixture):
            assert all(abs(weight) <= MAX_WEIGHT for _, weight in found)


def test_nesting_a_thousand_levels_deep_is_read() -> None:
    ((text, weight),) = phrase("(" * 1000 + "a" + ")1.001" * 1000)
    assert text == "a"
    assert weight == pytest.approx(1.001**1000)
    assert phrase("(" * 1000 + "a b")[0][0].startswith("(((")


# Texts of a number of pieces, and how many pieces are a million characters.
LONG_TEXTS: dict[str, tuple[Callable[[int], str], int]] = {
    "words": (lambda n: "(a b)1.1 " * n, 110_000),
    "deep": (lambda n: "(" * n + "a" + ")+" * n, 300_000),
    "open": (lambda n: "(" * n, 1_000_000),
    "spaced": (lambda n: "( " * n, 500_000),
    "swaps": (lambda n: "a.swap(" * n, 140_000),
    "quotes": (lambda n: '"' * n, 1_000_000),
    "lists": (lambda n: '("a", ' * n, 160_000),
    "plus": (lambda n: "+" * n, 1_000_000),
    "escapes": (lambda n: 'x "' + '\\"' * n, 500_000),
    "spaces": (lambda n: " " * n + "a", 999_999),
}
# Read by few calls of regular expressions, whatever their length.
READ_AT_ONCE = ("plus", "escapes", "spaces")


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_the_work_grows_with_the_length_of_a_prompt(name: str) -> None:
    text, _ = LONG_TEXTS[name]
    assert_linear(lambda pieces: parse_compel(text(pieces)))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in READ_AT_ONCE else pytest.mark.slow)
        for name in LONG_TEXTS
    ],
)
def test_a_million_characters_come_to_an_end(name: str) -> None:
    """Regular expressions that try from each place anew would take an hour."""
    text, pieces = LONG_TEXTS[name]
    assert parse_compel(text(pieces)).parts
