"""Tokens, masks and weights of 1,000 texts beside those of ComfyUI's own code, frozen."""

import json

import pytest

from engine.api.values import ConventionName
from tests.families.fed_prompts import FAMILIES, fed, texts
from tests.families.freeze_fed_prompts import FROZEN


@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_masks_and_weights_are_those_of_comfyui(family: str) -> None:
    frozen = json.loads(FROZEN.read_text())[family]
    others = [
        text
        for text, digest in zip(texts(), frozen, strict=True)
        if fed(family, text, ConventionName.COMFY).digest != digest
    ]
    assert others == []
