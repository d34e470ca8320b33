"""The conditioning equals A1111's and ComfyUI's, frozen by `freeze_a1111` and `freeze_comfy`."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.api.conventions import CONVENTIONS
from engine.api.prompt_rules import Emphasis, LengthMatching
from engine.api.values import ConventionName
from engine.families.shared.prompts.prompt_embeddings import EncoderOutput, PromptEmbeddings, encode
from engine.families.shared.prompts.prompt_tokens import tokenize_prompts
from engine.text.tokenizers import load_clip_tokenizer
from tests.pipeline.lookup import A1111, COMFY, STEPS, look_up

FROZEN = Path(__file__).parent / "frozen"
# Largest difference in values of up to 2: A1111 takes means in float32.
TOLERANCE = 2e-6
SETTINGS = {
    "plain": (LengthMatching.REPEAT, Emphasis.ORIGINAL),
    "no_norm": (LengthMatching.REPEAT, Emphasis.NO_NORM),
    "pad": (LengthMatching.EMPTY_CHUNKS, Emphasis.ORIGINAL),
    "pad_v0": (LengthMatching.REPEAT_LAST, Emphasis.ORIGINAL),
}


def frozen(name: str) -> Mapping[str, NDArray[np.float32]]:
    with np.load(FROZEN / f"{name}_prompts.npz") as file:
        return dict(file)


def conditioned(case: tuple[str, str], name: ConventionName, **changes: object) -> PromptEmbeddings:
    convention = msgspec.structs.replace(CONVENTIONS[name], **changes)
    plan = tokenize_prompts(*case, load_clip_tokenizer(), convention, STEPS)
    return encode(plan, lambda ids, _seen, _inserted: EncoderOutput(look_up(ids)))


@pytest.mark.parametrize("setting", SETTINGS)
def test_conditioning_equals_a1111s(setting: str) -> None:
    matching, emphasis = SETTINGS[setting]
    theirs = frozen("a1111")
    keys = [key for key in theirs if key.startswith(setting + "/")]
    assert len(keys) > 5
    for key in keys:
        _, case, step, *half = key.split("/")
        result = conditioned(
            A1111[int(case)], ConventionName.A1111, length_matching=matching, emphasis=emphasis
        )
        np.testing.assert_array_equal(result.weights, theirs[f"weights/{case}"])
        both = result.at(int(step), guided=True)
        expected = theirs[key]
        if half:
            # A1111 runs them one by one; ours are repeated until they are equally long.
            both = both[:-1] if half == ["positive"] else both[-1:]
            expected = np.tile(expected, (1, both.shape[1] // expected.shape[1], 1))
        np.testing.assert_allclose(both, expected, rtol=0, atol=TOLERANCE, err_msg=key)


def test_conditioning_equals_comfyuis() -> None:
    theirs = frozen("comfy")
    assert len(theirs) == len(COMFY)
    for case, texts in enumerate(COMFY):
        both = conditioned(texts, ConventionName.COMFY).at(0, guided=True)
        np.testing.assert_allclose(
            both, theirs[str(case)], rtol=0, atol=TOLERANCE, err_msg=texts[0]
        )
