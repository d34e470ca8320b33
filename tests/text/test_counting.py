"""Token counts and hints for whoever is writing a prompt."""

from itertools import product

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api.conventions import CONVENTIONS
from engine.api.prompt_rules import Chunking, PromptGrammar
from engine.api.values import ConventionName
from engine.text.cleaning import cleaner
from engine.text.counting import TokenCount, count_tokens
from engine.text.hints import bracket_hints
from engine.text.tokenizers import load_clip_tokenizer
from tests.thinned import thinned

CLIP = load_clip_tokenizer()
A1111, COMFY, DIFFUSERS, INVOKE = (
    CONVENTIONS[name]
    for name in (
        *(ConventionName.A1111, ConventionName.COMFY),
        *(ConventionName.DIFFUSERS, ConventionName.INVOKE),
    )
)


@pytest.mark.parametrize(
    ("text", "used", "capacity"),
    [
        ("", 0, 75),
        ("a (red:1.2) house", 3, 75),
        ("cat " * 75, 75, 75),
        ("cat " * 76, 76, 150),
        ("cat BREAK cat", 76, 150),
        # The longest part at its longest moment, as A1111 counts.
        ("a AND a b c :0.5 AND b", 3, 75),
        ("[a:b c d:5] e", 4, 75),
        ("a <lora:x:1> # no words", 1, 75),
    ],
)
def test_tokens_are_counted_as_in_a1111(text: str, used: int, capacity: int) -> None:
    counted = count_tokens(text, CLIP, A1111)
    assert (counted.used, counted.capacity) == (used, capacity)


def test_a_negative_prompt_is_counted_as_such() -> None:
    assert count_tokens("a AND b", CLIP, A1111, negative=True).used == 3


def test_a_compel_prompt_counts_its_parts_and_the_longest_of_a_blend() -> None:
    assert count_tokens('("a b c", "d e").and()', CLIP, INVOKE) == TokenCount(77, 150)
    assert count_tokens('("a b c", "d e").blend()', CLIP, INVOKE) == TokenCount(3, 75)
    # What is refused is counted all the same.
    assert count_tokens('("a", "b").blend(1)', CLIP, INVOKE).used > 5


@pytest.mark.parametrize(
    ("before", "after"),
    [("cat " * 75, "dog"), ("cat, " * 37 + "cat ", "dog dog"), ("😀 " * 75, "dog")],
)
def test_a_prompt_is_cut_where_diffusers_cuts_it(before: str, after: str) -> None:
    count = count_tokens(before + after, CLIP, DIFFUSERS)
    assert count.capacity == 75
    assert count.used > 75
    assert count.cut_at is not None
    kept, cut = (before + after)[: count.cut_at], (before + after)[count.cut_at :]
    assert len(CLIP.encode(kept)) == 75
    assert len(CLIP.encode(cut)) == count.used - 75


def test_two_halves_of_a_character_do_not_shift_the_cut() -> None:
    text = "\ud83d\ude00 " + "cat " * 80
    at = count_tokens(text, CLIP, DIFFUSERS).cut_at
    whole = count_tokens("\U0001f600 " + "cat " * 80, CLIP, DIFFUSERS).cut_at
    assert at is not None
    assert whole is not None
    assert at == whole + 1


def test_a_prompt_that_fits_is_not_cut() -> None:
    assert count_tokens("cat " * 75, CLIP, DIFFUSERS).cut_at is None
    assert count_tokens("cat " * 100, CLIP, A1111).cut_at is None


def test_a_cut_behind_weights_is_found_in_the_text() -> None:
    convention = msgspec.structs.replace(COMFY, chunking=Chunking.CUT)
    text = "(red:1.2) " + "cat " * 74 + "dog (blue:1.3) bird"
    assert count_tokens(text, CLIP, convention).cut_at == text.index("dog")
    text = "cat " * 75 + "(blue:1.3)"
    assert count_tokens(text, CLIP, convention).cut_at == text.index("blue")
    text = r"(cat:1.2), dog \(big\), " + "dog " * 69 + "bird"
    assert count_tokens(text, CLIP, convention).cut_at == text.index("bird")


@settings(deadline=None, max_examples=60)
@given(text=st.text(st.characters(), max_size=200), name=st.sampled_from(ConventionName))
def test_any_text_is_counted(text: str, name: ConventionName) -> None:
    count = count_tokens(text * 20, CLIP, CONVENTIONS[name])
    assert count.used >= 0
    assert count.cut_at is None or 0 <= count.cut_at <= len(text) * 20


_LONG = ("(a:1.2) " * 125_000, "猫" * 1_000_000, "[a|b]" * 200_000, "(" * 1_000_000)


@pytest.mark.parametrize(
    ("text", "name"),
    thinned(list(product(_LONG, ConventionName)), list(zip(_LONG, ConventionName, strict=True))),
)
def test_a_long_text_is_counted_in_part(text: str, name: ConventionName) -> None:
    assert not count_tokens(text, CLIP, CONVENTIONS[name]).complete
    bracket_hints(text, CONVENTIONS[name].grammar)


@pytest.mark.parametrize("name", ConventionName)
@pytest.mark.parametrize("words", ["a red House, ", "“the” sea, "])
def test_long_texts_are_counted_in_linear_time(words: str, name: ConventionName) -> None:
    read = 0

    def counted(text: str) -> str:
        nonlocal read
        read += len(text)
        return (clean or str.lower)(text)

    clean = cleaner(CONVENTIONS[name].text_cleaning)
    tokenizer = CLIP.cleaning(counted)
    text = words * 500
    count_tokens(text, tokenizer, CONVENTIONS[name])
    # About a hundred characters are read a few times for each beginning of a chunk.
    assert read < 20 * len(text)


@pytest.mark.parametrize(
    ("grammar", "text", "positions"),
    [
        (PromptGrammar.A1111, "a (b [c) d", [5]),
        (PromptGrammar.A1111, "a) [b]] (", [1, 6, 8]),
        (PromptGrammar.A1111, r"\( \[ (a\) )", []),
        (PromptGrammar.A1111, '"', []),
        (PromptGrammar.COMFY, "[a (b", [3]),
        (PromptGrammar.COMPEL, 'a "b (c', [2, 5]),
        (PromptGrammar.COMPEL, '"a" \\" (b)', []),
        (PromptGrammar.LITERAL, '((["', []),
    ],
)
def test_hints_point_at_brackets_without_a_partner(
    grammar: PromptGrammar, text: str, positions: list[int]
) -> None:
    hints = bracket_hints(text, grammar)
    assert [hint.position for hint in hints] == positions
    for hint in hints:
        assert f"“{text[hint.position]}” at character {hint.position + 1} " in hint.message


def test_the_number_of_hints_is_limited() -> None:
    assert len(bracket_hints("(" * 1000, PromptGrammar.A1111)) == 20


@pytest.mark.parametrize(
    "name", [ConventionName.A1111, ConventionName.COMFY, ConventionName.INVOKE]
)
def test_chunks_begin_where_the_seventy_sixth_token_stands(name: ConventionName) -> None:
    text = "cat " * 100 + "end"
    counted = count_tokens(text, CLIP, CONVENTIONS[name])
    (start,) = counted.chunk_starts
    assert len(text[:start].split()) == 75


@pytest.mark.parametrize(
    ("name", "before"),
    [
        (ConventionName.A1111, r"miku \(vocaloid\), saber \(fate\), "),
        (ConventionName.A1111, r"(best quality:1.2), miku \(vocaloid\), "),
        (ConventionName.A1111, "two (red house:1.3), a cat <lora:add_detail:0.8> and "),
        (ConventionName.A1111, "a red house, # with a garden\ntwo cats, "),
        (ConventionName.COMFY, r"(best quality:1.2), miku \(vocaloid\), "),
        (ConventionName.INVOKE, r'a "red house"++ with miku \(vocaloid\) '),
    ],
)
def test_chunks_begin_where_they_are_written(name: ConventionName, before: str) -> None:
    text = before + "dog " * 100
    counted = count_tokens(text, CLIP, CONVENTIONS[name])
    (start,) = counted.chunk_starts
    assert text[start:].split()[0] == "dog"
    assert text[:start].count("dog ") == 75 - (counted.used - 100)


def test_a_chunk_begins_after_a_break_within_weights() -> None:
    text = "a (red house:1.2) BREAK the (sea:1.1)"
    counted = count_tokens(text, CLIP, A1111)
    (start,) = counted.chunk_starts
    assert text[start:].startswith("the")


def test_a_prompt_that_changes_has_no_borders() -> None:
    text = "cat " * 100 + "[a:b:8]"
    assert count_tokens(text, CLIP, A1111).chunk_starts == ()
