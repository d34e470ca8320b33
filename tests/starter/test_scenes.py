"""The drawing program: deterministic, complete, and its captions say what it draws."""

import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from starter.captions import ATTRIBUTES, caption, complete_caption
from starter.scenes import COLOURS, KINDS, LANDS, PLACES, TIMES, Scene, draw, held_out, random_scene

TOKENIZER = Path(__file__).resolve().parents[2] / "starter" / "safelight-starter" / "tokenizer"


def test_the_same_seed_draws_the_same_picture() -> None:
    scene = random_scene(random.Random(1))
    first, second = (np.asarray(draw(scene, random.Random(2))) for _ in range(2))
    assert first.shape == (256, 256, 3)
    assert np.array_equal(first, second)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_and_land_is_drawn(kind: str) -> None:
    for land in LANDS:
        scene = Scene(kind, "red", land, "night", "left", "moon")  # type: ignore[arg-type]
        assert draw(scene, random.Random(3)).size == (256, 256)


def test_training_scenes_leave_out_the_held_out_combinations() -> None:
    rng = random.Random(4)
    assert not any(held_out(random_scene(rng)) for _ in range(2000))
    assert all(held_out(random_scene(rng, unseen=True)) for _ in range(200))


def test_held_out_combinations_are_a_tenth_and_no_pair_is_wholly_unseen() -> None:
    seen = [
        combination
        for combination in product(KINDS, COLOURS, LANDS, TIMES)
        if not held_out(Scene(*combination, "left", "none"))
    ]
    assert len(seen) == 720 - 72
    for a, b in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
        everything = len({c[a] for c in seen}) * len({c[b] for c in seen})
        assert len({(c[a], c[b]) for c in seen}) == everything


def test_the_first_prompt_a_user_types_was_trained() -> None:
    assert not any(held_out(Scene("house", "red", "sea", "night", p, "moon")) for p in PLACES)


def test_captions_state_what_they_claim() -> None:
    rng = random.Random(5)
    stated = [caption(random_scene(rng), rng).stated for _ in range(2000)]
    assert all(s <= set(ATTRIBUTES) for s in stated)
    assert 0.8 < sum("place" in s for s in stated) / len(stated) < 0.92
    scene = Scene("castle", "purple", "mountains", "day", "left", "sun")
    text = complete_caption(scene, rng)
    assert any(word in text for word in ("castle", "fortress", "palace"))


@pytest.mark.skipif(not TOKENIZER.exists(), reason="the starter model is not there")
def test_captions_fit_the_text_encoder() -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.CLIPTokenizer.from_pretrained(TOKENIZER, local_files_only=True)
    rng = random.Random(6)
    captions = [caption(random_scene(rng), rng).text for _ in range(300)]
    assert max(len(ids) for ids in tokenizer(captions).input_ids) <= 77
    assert len(tokenizer("any text: Ärger, 猫, 🙂").input_ids) > 10
