"""AUTOMATIC1111's text: what its reader answers, and round trips."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.metadata.infotext import Infotext, Parameter, format_infotext, parse_infotext
from tests.counted_work import assert_linear

SAMPLE = """a cat, (masterpiece:1.2) <lora:foo:0.8>
second line
Negative prompt: blurry
more: of it
Steps: 20, Sampler: DPM++ 2M, Schedule type: Karras, CFG scale: 7, Size: 512x768, \
Lora hashes: "foo: 1a2b, bar: \\"3c\\"", Version: v1.10.1"""


def pairs(*items: tuple[str, str]) -> tuple[Parameter, ...]:
    return tuple(Parameter(key, value) for key, value in items)


def test_a_sample_reads_as_in_the_original_and_is_written_the_same() -> None:
    info = parse_infotext(SAMPLE)
    assert info == Infotext(
        "a cat, (masterpiece:1.2) <lora:foo:0.8>\nsecond line",
        "blurry\nmore: of it",
        pairs(
            ("Steps", "20"),
            ("Sampler", "DPM++ 2M"),
            ("Schedule type", "Karras"),
            ("CFG scale", "7"),
            ("Size", "512x768"),
            ("Lora hashes", 'foo: 1a2b, bar: "3c"'),
            ("Version", "v1.10.1"),
        ),
    )
    assert info.get("CFG scale") == "7"
    assert info.get("Seed") is None
    assert format_infotext(info) == SAMPLE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Infotext("")),
        ("a cat", Infotext("a cat")),
        ("two: pairs, are: prompt", Infotext("two: pairs, are: prompt")),
        (
            "Negative prompt: b\naa: 1, bb: 2, cc: 3",
            Infotext("", "b", pairs(("aa", "1"), ("bb", "2"), ("cc", "3"))),
        ),
        (
            "  p  \n q \nNegative prompt:n\n\naa: 1, bb: 2, cc: 3\n",
            Infotext("p\nq", "n\n", pairs(("aa", "1"), ("bb", "2"), ("cc", "3"))),
        ),
        # A key has two characters at least; a value may hold colons and open quotes.
        (
            'p\nx: 1, aa: b:c, -bb: "q, c/c-c 1:  , dd: "x" y, ee: "z"',
            Infotext(
                "p",
                "",
                pairs(("aa", "b:c"), ("bb", '"q'), ("c/c-c 1", ""), ("dd", '"x" y'), ("ee", "z")),
            ),
        ),
        # stable-diffusion.cpp's ending.
        (
            'p\nSteps: 2, CFG scale: 1, Seed: 3, SDCPP: {"a": [1, 2], "b": 3}',
            Infotext(
                "p",
                "",
                pairs(
                    ("Steps", "2"),
                    ("CFG scale", "1"),
                    ("Seed", "3"),
                    ("SDCPP", '{"a": [1, 2], "b": 3}'),
                ),
            ),
        ),
    ],
)
def test_texts_are_parsed_as_in_a1111(text: str, expected: Infotext) -> None:
    assert parse_infotext(text) == expected


def test_the_last_of_repeated_keys_counts() -> None:
    assert Infotext("", "", pairs(("Seed", "1"), ("Seed", "2"))).get("Seed") == "2"


KEYS = st.from_regex(r"\w[\w \-/]+", fullmatch=True).filter(lambda key: "SDCPP" not in key)
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=30)
PROMPTS = (
    st.lists(LINES, min_size=1, max_size=4)
    .map(lambda lines: "\n".join(line.strip() for line in lines).strip())
    .filter(lambda text: "Negative prompt:" not in text)
)
PARAMETERS = st.lists(st.builds(Parameter, KEYS, VALUES), min_size=3, max_size=6).map(tuple)


@given(prompt=PROMPTS, negative=PROMPTS, parameters=PARAMETERS)
def test_a_written_text_is_read_back(
    prompt: str, negative: str, parameters: tuple[Parameter, ...]
) -> None:
    info = Infotext(prompt, negative, parameters)
    assert parse_infotext(format_infotext(info)) == info


PIECES = st.sampled_from([*'ab:, "\\\n-/{}x1', "Negative prompt:", ", SDCPP: {"])


@given(text=st.lists(PIECES).map("".join))
def test_any_text_is_read_and_its_pairs_survive(text: str) -> None:
    info = parse_infotext(text)
    again = parse_infotext(format_infotext(info))
    if info.parameters:
        assert again.parameters == info.parameters
    assert len(info.prompt) + len(info.negative_prompt) <= len(text)


# Of a number of pieces.
LONG_TEXTS: list[Callable[[int], str]] = [
    lambda n: "a" * 2 * n,
    lambda n: "a," * n,
    lambda n: "aa: b, " * n,
    lambda n: 'aa: "' * n,
    lambda n: 'aa: "' + '\\"' * n,
    lambda n: ":" * 2 * n,
    lambda n: " " * n + "x" + " " * n,
    lambda n: "x\n" * n,
    lambda n: "aa:" + " " * 2 * n,
]


@pytest.mark.parametrize(
    "text",
    LONG_TEXTS,
    ids=["word", "words", "pairs", "quotes", "escapes", "colons", "spaces", "lines", "blank"],
)
def test_the_work_grows_with_the_length_of_a_text(text: Callable[[int], str]) -> None:
    assert_linear(lambda pieces: parse_infotext(text(pieces)))
    # Regular expressions that try from each place anew would take an hour.
    parse_infotext(text(500_000))


def test_only_the_first_of_very_many_pairs_are_kept() -> None:
    assert len(parse_infotext("aa: b, " * 20_000).parameters) == 10_000
