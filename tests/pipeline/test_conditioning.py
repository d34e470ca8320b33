"""Prompts, their weights and their chunks become what the denoiser attends to."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.api.conventions import CONVENTIONS
from engine.api.values import ConventionName, ErrorCode
from engine.errors import EngineError
from engine.pipeline.conditioning import Conditioning, encode, tokenize
from engine.text.tokenizers import load_clip_tokenizer

TOKENIZER = load_clip_tokenizer()
WIDTH = 6
TABLE = np.random.default_rng(0).standard_normal((TOKENIZER.vocabulary_size, WIDTH), np.float32)
PLACES = np.random.default_rng(1).standard_normal((77, WIDTH), np.float32)
A1111, COMFY, DIFFUSERS = ConventionName.A1111, ConventionName.COMFY, ConventionName.DIFFUSERS

Tokens = NDArray[np.int64]
Embedding = NDArray[np.float32]


def embed(ids: Tokens) -> Embedding:
    """A text encoder that looks each token up, and has a mean that is not zero."""
    return TABLE[ids] + PLACES + 1


def conditioning(
    prompt: str, negative: str = "", name: ConventionName = A1111
) -> tuple[Conditioning, list[Tokens]]:
    convention, batches = CONVENTIONS[name], list[Tokens]()

    def encode_tokens(ids: Tokens) -> Embedding:
        batches.append(ids)
        return embed(ids)

    positive, other = tokenize(prompt, negative, TOKENIZER, convention)
    return encode(positive, other, TOKENIZER, convention, encode_tokens), batches


def ids_of(*texts: str) -> Tokens:
    """One chunk of words, as CLIP reads them."""
    tokens = [token for text in texts for token in TOKENIZER.encode(text)]
    ids = np.full((1, 77), TOKENIZER.end_id, np.int64)
    ids[0, 0] = TOKENIZER.start_id
    ids[0, 1 : 1 + len(tokens)] = tokens
    return ids


@pytest.mark.parametrize("name", ConventionName)
def test_a_prompt_without_weights_is_what_the_encoder_says(name: ConventionName) -> None:
    result, batches = conditioning("a red house", "blurry", name)
    np.testing.assert_array_equal(result.positive, embed(ids_of("a red house")))
    np.testing.assert_array_equal(result.negative, embed(ids_of("blurry")))
    assert len(batches) == 1  # everything in one run
    assert result.positive.shape == (1, 77, WIDTH)


def test_a1111_multiplies_and_restores_the_mean() -> None:
    result, _ = conditioning("a (red:1.5) house")
    plain = embed(ids_of("a red house"))
    weights = np.ones((1, 77, 1), np.float32)
    weights[0, 2] = 1.5
    scaled = plain * weights
    expected = scaled * (plain.mean() / scaled.mean())
    np.testing.assert_allclose(result.positive, expected, rtol=1e-6)
    assert result.positive.dtype == np.float32
    np.testing.assert_allclose(result.positive.mean(), plain.mean(), rtol=1e-5)
    np.testing.assert_array_equal(result.negative, embed(ids_of("")))


def test_a1111_restores_the_mean_of_each_chunk_by_itself() -> None:
    result, _ = conditioning("(red:1.9) house BREAK blue BREAK (green:0.3)")
    assert result.positive.shape == (1, 3 * 77, WIDTH)
    for chunk, (text, weight) in enumerate((("red house", 1.9), ("blue", 1.0), ("green", 0.3))):
        plain = embed(ids_of(text))
        weights = np.ones((1, 77, 1), np.float32)
        weights[0, 1] = weight
        scaled = plain * weights
        expected = scaled * (plain.mean() / scaled.mean())
        part = result.positive[:, 77 * chunk : 77 * (chunk + 1)]
        np.testing.assert_allclose(part, expected, rtol=1e-5)


def test_comfy_moves_away_from_the_empty_prompt() -> None:
    for weight in (0.0, 0.5, 1.3):
        result, _ = conditioning(f"a (red:{weight}) house", name=COMFY)
        plain, empty = embed(ids_of("a red house")), embed(ids_of(""))
        expected = plain.copy()
        expected[:, 2] = empty[:, 2] + (plain - empty)[:, 2] * np.float32(weight)
        np.testing.assert_allclose(result.positive, expected, rtol=0, atol=1e-6)


def test_diffusers_takes_parentheses_for_words() -> None:
    result, _ = conditioning("a (red:1.5) house", name=DIFFUSERS)
    np.testing.assert_array_equal(result.positive, embed(ids_of("a (red:1.5) house")))


def test_a_weighted_negative_prompt_is_weighted() -> None:
    result, _ = conditioning("house", "(blurry:1.4)", COMFY)
    plain, empty = embed(ids_of("blurry")), embed(ids_of(""))
    expected = empty[:, 1] + (plain - empty)[:, 1] * np.float32(1.4)
    np.testing.assert_allclose(result.negative[:, 1], expected, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(result.positive, embed(ids_of("house")))


@pytest.mark.parametrize("name", [A1111, COMFY])
def test_the_shorter_prompt_is_filled_with_empty_chunks(name: ConventionName) -> None:
    long = " ".join(["house"] * 160)
    for prompt, negative in ((long, "blurry"), ("blurry", long)):
        result, _ = conditioning(prompt, negative, name)
        assert result.positive.shape == result.negative.shape == (1, 3 * 77, WIDTH)
        short = result.negative if prompt is long else result.positive
        np.testing.assert_array_equal(short[:, :77], embed(ids_of("blurry")))
        for chunk in (1, 2):
            np.testing.assert_array_equal(
                short[:, 77 * chunk : 77 * (chunk + 1)], embed(ids_of(""))
            )


def test_diffusers_drops_what_does_not_fit_one_chunk() -> None:
    result, _ = conditioning("house " * 160, "blurry", DIFFUSERS)
    np.testing.assert_array_equal(result.positive, embed(ids_of("house " * 75)))


@pytest.mark.parametrize("prompts", [("house " * 4801, ""), ("", "house " * 4801)])
def test_too_long_a_prompt_is_refused(prompts: tuple[str, str]) -> None:
    with pytest.raises(EngineError) as caught:
        tokenize(*prompts, TOKENIZER, CONVENTIONS[A1111])
    assert caught.value.code is ErrorCode.REQUEST_INVALID
    assert "4,801" in caught.value.message
    assert "4,800" in caught.value.message
    assert caught.value.hint


def test_the_longest_prompt_is_taken() -> None:
    positive, negative = tokenize("house " * 4800, "", TOKENIZER, CONVENTIONS[A1111])
    assert positive.count == negative.count == 64
