"""Rows of T5: lengths, ends, padding, weights and cuts of each convention."""

import json

import msgspec
import numpy as np
import pytest

from engine.api.conventions import CONVENTIONS, Convention
from engine.api.prompt_rules import PromptFeature
from engine.api.prompts import PromptQuestion
from engine.api.values import ConventionName, ErrorCode
from engine.errors import EngineError
from engine.text.prompt import WeightedText
from engine.text.reading import PromptReading, read_prompt
from engine.text.t5_counting import count_t5_tokens
from engine.text.t5_tokenizer import load_t5_tokenizer
from engine.text.token_layouts import TokenLayout
from engine.text.whole_rows import WholeRows, phrases_of, rows_for, whole_texts
from tests.text.freeze_t5_rows import FROZEN, digest_of
from tests.text.t5_cases import drawn_prompts

A1111, COMFY, DIFFUSERS, INVOKE = (
    whole_texts(CONVENTIONS[name])
    for name in (
        ConventionName.A1111,
        ConventionName.COMFY,
        ConventionName.DIFFUSERS,
        ConventionName.INVOKE,
    )
)
T5 = load_t5_tokenizer()


def read(text: str, convention: Convention) -> PromptReading:
    return read_prompt(text, convention, 20)


def row_of(text: str, convention: Convention, trained: int = 512) -> tuple[list[int], list[float]]:
    """The ids and weights of a prompt's row."""
    reading = read(text, convention)
    layout: TokenLayout = rows_for([reading], convention, trained)
    (phrase,) = phrases_of(reading)
    row = layout.laid_out(phrase)
    assert row.ids.shape == (1, layout.length)
    return row.ids[0].tolist(), row.weights[0].tolist()


@pytest.mark.parametrize(
    ("convention", "trained", "length"),
    [(A1111, 512, 256), (COMFY, 512, 256), (DIFFUSERS, 512, 512), (INVOKE, 256, 256)],
    ids=["a1111", "comfy", "diffusers", "invoke"],
)
def test_a_short_prompt_is_ended_and_padded(
    convention: Convention, trained: int, length: int
) -> None:
    ids, weights = row_of("a cat", convention, trained)
    words = T5.encode("a cat")
    assert ids == [*words, 1, *[0] * (length - len(words) - 1)]
    assert weights == [1.0] * length


def test_a_long_prompt_makes_its_row_longer_where_the_tool_does_not_cut() -> None:
    words = T5.encode("cat " * 400)
    for convention in (A1111, COMFY):
        ids, _ = row_of(("cat " * 400).strip(), convention)
        assert ids == [*words, 1]
    for convention in (DIFFUSERS, INVOKE):
        ids, _ = row_of("cat " * 400, convention, 256)
        assert ids == [*words[:255], 1]


def test_all_prompts_of_a_picture_have_rows_of_one_length() -> None:
    readings = [read(text, COMFY) for text in ("a cat", "cat " * 300, "")]
    layout = rows_for(readings, COMFY, 512)
    assert layout.length == 300 + 1
    assert layout.empty(2).ids.shape == (2, 301)
    assert layout.empty().ids[0, :3].tolist() == [1, 0, 0]


@pytest.mark.parametrize("convention", [A1111, COMFY], ids=["a1111", "comfy"])
def test_each_weighted_part_is_tokenized_by_itself(convention: Convention) -> None:
    ids, weights = row_of("a (red:1.5) house", convention)
    # White space at the end of a part is dropped.
    parts = [T5.encode(part) for part in ("a", "red", "house")]
    joined = [token for part in parts for token in part]
    assert ids[: len(joined) + 1] == [*joined, 1]
    assert [weights[place] for place in (0, len(parts[0]), len(joined))] == [1.0, 1.5, 1.0]


def test_brackets_are_text_where_the_tool_reads_none() -> None:
    for convention in (DIFFUSERS, INVOKE):
        ids, weights = row_of("a (red:1.5) (house)++", convention)
        words = T5.encode("a (red:1.5) (house)++")
        assert ids[: len(words) + 1] == [*words, 1]
        assert set(weights) == {1.0}


def test_words_after_a_break_have_no_effect_in_forge() -> None:
    assert row_of("a cat BREAK a dog", A1111)[0] == row_of("a cat", A1111)[0]
    assert row_of("a cat BREAK a dog", COMFY)[0] != row_of("a cat", COMFY)[0]


def test_a_prompt_beyond_the_most_positions_is_refused() -> None:
    with pytest.raises(EngineError) as raised:
        row_of("cat " * 3000, COMFY)
    assert raised.value.code is ErrorCode.REQUEST_INVALID
    assert WholeRows(T5, 16, cuts=True).laid_out(()).used == 0


def test_invoke_reads_no_tags_in_whole_texts() -> None:
    for convention, words in ((INVOKE, "a <lora:ink:1> cat"), (A1111, "a  cat")):
        (phrase,) = phrases_of(read_prompt("a <lora:ink:1> cat", convention, 20))
        assert phrase == (WeightedText(words, 1.0),)


def count(text: str, convention: Convention, positions: int = 512):
    question = PromptQuestion(text=text, convention=convention)
    return count_t5_tokens(text, question, positions=positions)


def test_tokens_are_counted_of_the_room_that_each_tool_has() -> None:
    assert (count("a cat", COMFY).used, count("a cat", COMFY).capacity) == (3, 255)
    assert count("cat " * 299 + "cat", COMFY).capacity == 300
    assert count("a cat", DIFFUSERS).capacity == 511
    long = count("cat " * 300, DIFFUSERS, positions=256)
    assert (long.used, long.capacity, long.cut_at) == (300, 255, 4 * 255)
    assert count("a cat BREAK a dog", A1111).cut_at == 6
    assert count("a cat", A1111).cut_at is None


def test_clips_tokens_are_told_where_its_chunk_is_exceeded() -> None:
    assert count("a cat", COMFY).encoders == ()
    clip, t5 = count("cat " * 80, COMFY).encoders
    assert (clip.key, clip.used, clip.capacity) == ("clip_l", 80, 75)
    assert (t5.key, t5.used, t5.capacity) == ("t5xxl", 80, 255)


def test_weights_are_those_of_float32() -> None:
    reading = read("(a:1.3)", COMFY)
    (phrase,) = phrases_of(reading)
    row = rows_for([reading], COMFY, 512).laid_out(phrase)
    assert row.weights.dtype == np.float32


def test_rows_are_those_of_forge() -> None:
    frozen = json.loads(FROZEN.read_text())
    others = [
        text
        for text, digest in zip(drawn_prompts(), frozen, strict=True)
        if digest_of(only_row(text, A1111)) != digest
    ]
    assert others == []


def only_row(text: str, convention: Convention) -> tuple[list[int], list[float]]:
    """The row of a prompt that does not change over the run, whatever its brackets."""
    fixed = msgspec.structs.replace(convention, prompt_features=(PromptFeature.BREAKS,))
    return row_of(text, fixed)
