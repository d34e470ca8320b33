"""Weights on keys, and several pictures as one, beside ComfyUI_IPAdapter_plus's own code."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.api.image_prompts import AdapterScaling, PictureCombination
from engine.graphs.image_prompts import ImagePromptShape
from engine.image_prompts.combining import combined, joined
from engine.image_prompts.encoding import EncodedImagePrompt
from engine.image_prompts.pinning import PassImagePrompt
from engine.image_prompts.scaling import KeyWeights
from tests.image_prompts.joining_cases import (
    CASES,
    COMBINATIONS,
    KEYS,
    PICTURES,
    QUERIES,
    SCALINGS,
    VALUES,
    WEIGHT,
    WIDTHS,
)

FROZEN = np.load(Path(__file__).parent / "frozen" / "joining.npz")
BY_NAME: dict[str, AdapterScaling] = dict(zip(SCALINGS, AdapterScaling, strict=True))


def encoded() -> EncodedImagePrompt:
    """One layer of each width, with and without the picture alike."""
    keys, values = (
        {width: np.repeat(by_width[width][:, None], 2, axis=1) for width in WIDTHS}
        for by_width in (KEYS, VALUES)
    )
    return EncodedImagePrompt(keys, values)


def attended(width: int, prompt: EncodedImagePrompt) -> NDArray[np.float32]:
    """Return the attention of the queries to keys and values of the first layer of a width."""
    products = QUERIES[width][0] @ prompt.keys[width][0, 0].T / np.sqrt(width)
    shares = np.exp(products - products.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True) @ prompt.values[width][0, 0]


def always(_evaluation: int, _sigma: float) -> bool:
    """An image prompt that acts at each evaluation."""
    return True


@pytest.mark.parametrize(("name", "width"), CASES)
def test_a_weight_acts_on_keys_and_values_as_in_comfyui(name: str, width: int) -> None:
    scaling, weights = BY_NAME[name], np.full(len(WIDTHS), WEIGHT, np.float32)
    acts = scaling is not AdapterScaling.VALUES
    key_weights = KeyWeights(scaling, weights, WIDTHS) if acts else None
    prompt = PassImagePrompt(ImagePromptShape(4), weights, (), always, key_weights)
    made = attended(width, prompt.weighted(encoded())) * (1 if acts else WEIGHT)
    assert np.allclose(made, FROZEN[f"{name}/{width}"][0], atol=1e-5)


@pytest.mark.parametrize("way", COMBINATIONS)
def test_pictures_are_joined_as_in_comfyui(way: str) -> None:
    nothing = np.zeros_like(PICTURES[0])
    views = [np.stack([picture, nothing]) for picture in PICTURES]
    made = combined(views, PictureCombination(way.replace(" ", "_")))
    assert np.allclose([view[0] for view in made], FROZEN[way], atol=1e-6)
    assert not any(view[1].any() for view in made)


def test_a_number_that_is_zero_in_all_pictures_has_no_norm() -> None:
    black = [np.zeros((2, 3, 4), np.float32)] * 2
    assert not combined(black, PictureCombination.NORM_AVERAGE)[0].any()


def test_tokens_of_several_pictures_are_those_of_one() -> None:
    prompt = encoded()
    both = joined([prompt, prompt])
    assert both.keys[320].shape == (1, 2, 8, 320)
    assert np.allclose(attended(320, both), attended(320, prompt), atol=1e-5)
