"""Tokens, masks and weights of 1,000 texts beside those of ComfyUI's own code, frozen."""

import json

import pytest

from engine.api.values import ConventionName
from tests.families.fed_prompts import FAMILIES, fed, texts
from tests.families.freeze_fed_prompts import FROZEN
from tests.thinned import thinned


@pytest.mark.parametrize("every", thinned([12, 4, 1], [12], seldom=[1]))
@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_masks_and_weights_are_those_of_comfyui(family: str, every: int) -> None:
    frozen = json.loads(FROZEN.read_text())[family]
    others = [
        text
        for text, digest in list(zip(texts(), frozen, strict=True))[::every]
        if fed(family, text, ConventionName.COMFY).digest != digest
    ]
    assert others == []
