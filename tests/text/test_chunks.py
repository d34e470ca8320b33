"""Chunks of 75 tokens, with commas and BREAK."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.api.prompt_rules import Chunking
from engine.text.a1111 import parse_attention
from engine.text.chunks import NO_PART, TokenChunks, empty_chunks, extended, tokenize_prompt
from engine.text.prompt import Break, PromptPart, WeightedText
from engine.text.tokenizers import ClipTokenizer, load_clip_tokenizer

CAT = 2368
COMMA = 267
START, END = 49406, 49407


def chunks_of(prompt: str) -> TokenChunks:
    return tokenize_prompt(load_clip_tokenizer(), parse_attention(prompt))


def words(chunks: TokenChunks) -> list[list[int]]:
    """The tokens of each chunk up to its first end token."""
    return [row[1 : row.index(END)] for row in chunks.ids.tolist()]


def test_an_empty_prompt_is_one_chunk() -> None:
    chunks = chunks_of("")
    assert chunks.ids.dtype == np.int64
    assert chunks.weights.dtype == np.float32
    assert chunks.ids.tolist() == [[START] + [END] * 76]
    assert chunks.weights.tolist() == [[1.0] * 77]
    assert (chunks.used, chunks.capacity) == (0, 75)


def test_weights_lie_on_their_tokens() -> None:
    chunks = chunks_of("cat (cat:1.5) [cat]")
    assert chunks.ids[0, :5].tolist() == [START, CAT, CAT, CAT, END]
    np.testing.assert_allclose(chunks.weights[0, :5], [1.0, 1.0, 1.5, 1 / 1.1, 1.0], rtol=1e-6)
    assert (chunks.weights[0, 4:] == 1.0).all()
    assert chunks.used == 3


@pytest.mark.parametrize(
    ("count", "lengths"), [(75, [75]), (76, [75, 1]), (150, [75, 75]), (151, [75, 75, 1])]
)
def test_long_prompts_go_on_in_the_next_chunk(count: int, lengths: list[int]) -> None:
    chunks = chunks_of("cat " * count)
    assert [len(row) for row in words(chunks)] == lengths
    assert (chunks.ids[:, 0] == START).all()
    assert (chunks.ids[:, -1] == END).all()
    assert (chunks.used, chunks.capacity) == (count, 75 * len(lengths))


@pytest.mark.parametrize(
    ("before", "lengths"),
    # A comma at place 55 is 20 tokens before the end of the chunk, one at 54 is too far.
    [(54, [75, 5]), (55, [56, 24]), (70, [71, 9]), (74, [75, 5]), (75, [75, 5])],
)
def test_a_full_chunk_ends_at_a_comma_within_twenty_tokens(before: int, lengths: list[int]) -> None:
    chunks = chunks_of("cat " * before + "," + " cat" * (79 - before))
    assert [len(row) for row in words(chunks)] == lengths
    assert [token for row in words(chunks) for token in row].index(COMMA) == before
    assert chunks.used == 75 + lengths[1]


def test_only_the_last_comma_of_a_chunk_counts() -> None:
    prompt = "cat " * 60 + ", cat cat, " + "cat " * 12 + "cat " * 74
    # 63 words with two commas, then 75 without one, then the rest.
    assert [len(row) for row in words(chunks_of(prompt))] == [64, 75, 11]


def test_weights_move_with_their_tokens() -> None:
    chunks = chunks_of("cat " * 60 + ", " + "(cat:1.5) " * 20)
    assert [len(row) for row in words(chunks)] == [61, 20]
    assert (chunks.weights[0] == 1.0).all()
    assert (chunks.weights[1, 1:21] == 1.5).all()
    assert (chunks.weights[1, 21:] == 1.0).all()


@pytest.mark.parametrize(
    ("prompt", "lengths", "used"),
    [
        ("cat BREAK cat", [1, 1], 76),
        ("BREAK", [0], 75),
        ("cat BREAK", [1], 75),
        ("BREAK cat", [0, 1], 76),
        ("cat BREAK BREAK cat", [1, 0, 1], 151),
        ("cat " * 75 + "BREAK cat", [75, 1], 76),
    ],
)
def test_break_fills_the_chunk_up(prompt: str, lengths: list[int], used: int) -> None:
    chunks = chunks_of(prompt)
    assert [len(row) for row in words(chunks)] == lengths
    assert chunks.used == used


def small_tokenizer(*, commas: bool = True) -> ClipTokenizer:
    tokens = ["a", "a</w>", "<|startoftext|>", "<|endoftext|>", "pad"] + [",</w>", ","] * commas
    return ClipTokenizer({token: index for index, token in enumerate(tokens)}, [], pad="pad")


def test_padding_follows_the_first_end_token() -> None:
    chunks = tokenize_prompt(small_tokenizer(), [WeightedText("a a", 1.0)])
    assert chunks.ids.tolist() == [[2, 1, 1, 3] + [4] * 73]
    # As in AUTOMATIC1111, an end token in the text ends it.
    chunks = tokenize_prompt(small_tokenizer(), [WeightedText("a <|endoftext|> a", 1.0)])
    assert chunks.ids.tolist() == [[2, 1, 3] + [4] * 74]
    # A full chunk has no padding.
    chunks = tokenize_prompt(small_tokenizer(), [WeightedText("a " * 75, 1.0)])
    assert chunks.ids.tolist() == [[2] + [1] * 75 + [3]]


def test_a_vocabulary_without_commas_never_looks_back() -> None:
    chunks = tokenize_prompt(small_tokenizer(commas=False), [WeightedText("a " * 80, 1.0)])
    assert chunks.ids[1, :7].tolist() == [2, 1, 1, 1, 1, 1, 3]


def test_an_end_token_in_the_text_stays_where_end_tokens_pad() -> None:
    chunks = chunks_of("cat <|endoftext|> cat")
    assert chunks.ids[0, :6].tolist() == [START, CAT, END, CAT, END, END]


@pytest.mark.parametrize("chunking", [Chunking.WORD, Chunking.SENTENCE, Chunking.CUT])
def test_other_tools_pad_only_after_the_words(chunking: Chunking) -> None:
    parts = [WeightedText("a <|endoftext|> a", 1.0)]
    chunks = tokenize_prompt(small_tokenizer(), parts, chunking)
    assert chunks.ids.tolist() == [[2, 1, 3, 1, 3] + [4] * 72]


def laid_out(chunking: Chunking, *texts: str) -> list[int]:
    """The number of words in each chunk."""
    parts = [WeightedText(text, 1.0) for text in texts]
    return [len(row) for row in words(tokenize_prompt(load_clip_tokenizer(), parts, chunking))]


def test_comfy_does_not_divide_a_piece_of_fewer_than_eight_tokens() -> None:
    assert laid_out(Chunking.WORD, "cat " * 70, "cat " * 7) == [70, 7]
    assert laid_out(Chunking.WORD, "cat " * 70, "cat " * 8) == [75, 3]
    assert laid_out(Chunking.WORD, "cat " * 70, "cat " * 5) == [75]
    assert laid_out(Chunking.WORD, "cat " * 75, "cat") == [75, 1]
    assert laid_out(Chunking.WORD, "cat " * 160) == [75, 75, 10]


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("cat " * 20 + ". " + "cat " * 60, [21, 60]),
        ("cat " * 20 + ", " + "cat " * 20 + "; " + "cat " * 60, [42, 60]),
        ("cat " * 20 + ". " + "cat " * 20 + ", " + "cat " * 60, [21, 21, 60]),
        ("cat " * 80, [75, 5]),
        # "astronautcat" and its like have tokens that end no word.
        ("cat " * 73 + "xqzjkwvb " + "cat " * 10, [73, 16]),
        ("x" * 400, [75, 25]),
    ],
)
def test_compel_ends_a_chunk_at_a_sentence_a_phrase_or_a_word(
    text: str, lengths: list[int]
) -> None:
    assert laid_out(Chunking.SENTENCE, text) == lengths


def test_plain_chunks_ignore_commas() -> None:
    assert laid_out(Chunking.PLAIN, "cat " * 70 + ", " + "cat " * 9) == [75, 5]


def test_a_cut_prompt_has_one_chunk_and_counts_all() -> None:
    chunks = tokenize_prompt(load_clip_tokenizer(), [WeightedText("cat " * 100, 1.0)], Chunking.CUT)
    assert (chunks.count, chunks.used, chunks.capacity) == (1, 100, 75)


def test_tokens_know_their_part() -> None:
    chunks = chunks_of("cat (cat:1.5) cat")
    assert chunks.parts[0, :6].tolist() == [NO_PART, 0, 1, 2, NO_PART, NO_PART]


def test_empty_chunks_are_appended() -> None:
    clip = load_clip_tokenizer()
    chunks = chunks_of("cat (cat:1.2)")
    assert extended(chunks, partial(empty_chunks, clip), 1) is chunks
    longer = extended(chunks, partial(empty_chunks, clip), 3)
    np.testing.assert_array_equal(longer.ids[:1], chunks.ids)
    np.testing.assert_array_equal(longer.ids[1:], empty_chunks(clip, 2).ids)
    assert longer.ids[1].tolist() == [START] + [END] * 76
    assert (longer.weights[1:] == 1.0).all()
    assert (longer.parts[1:] == NO_PART).all()
    assert longer.used == chunks.used


PARTS = st.lists(
    st.one_of(
        st.builds(Break),
        st.builds(WeightedText, st.sampled_from(["cat", "a, b", "cat " * 30, ""]), st.just(0.5)),
    ),
    max_size=12,
)


@settings(deadline=None)  # the first example loads the vocabulary
@given(parts=PARTS)
def test_no_token_is_lost_or_doubled(parts: list[PromptPart]) -> None:
    clip = load_clip_tokenizer()
    chunks = tokenize_prompt(clip, parts)
    texts = (part.text for part in parts if isinstance(part, WeightedText))
    assert [t for row in words(chunks) for t in row] == [t for x in texts for t in clip.encode(x)]
    assert chunks.ids.shape == chunks.weights.shape == (chunks.count, 77)
    assert chunks.used <= chunks.capacity
    assert ((chunks.weights != 1.0).sum(axis=1) == [len(row) for row in words(chunks)]).all()
