"""Our reading of LoRAs' tags beside that of the extensions, frozen by `freeze_lora_tags`."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.api.conventions import CONVENTIONS
from engine.api.values import ConventionName
from engine.families.shared.unet.blocks import block_of
from engine.text.lora_blocks import BASE, BlockWeights, block_weights, with_elements
from engine.text.lora_presets import BlockPresets
from engine.text.lora_strengths import RunLength
from engine.text.lora_tags import lora_tags
from tests.text.lora_cases import (
    BLOCKS,
    ELEMENTS,
    FLUX_ELEMENTS,
    LAYERS,
    STEPS,
    STRENGTHS,
    TEXT_LAYER,
)

FROZEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "frozen" / "lora_tags.json").read_text(encoding="utf-8")
)
A1111 = CONVENTIONS[ConventionName.A1111]


def test_every_case_was_answered() -> None:
    assert [row[:2] for row in FROZEN["strengths"]] == [[c, n] for c in STRENGTHS for n in STEPS]
    assert [row[0] for row in FROZEN["blocks"]] == list(BLOCKS)
    assert [row[0] for row in FROZEN["elements"]] == list(ELEMENTS)
    assert [row[0] for row in FROZEN["flux"]] == list(FLUX_ELEMENTS)


@pytest.mark.parametrize("row", FROZEN["strengths"], ids=lambda row: f"{row[0]} in {row[1]}")
def test_strengths_over_the_steps_are_loractls(row: list[Any]) -> None:
    case, steps, denoiser, text = row
    (use,) = lora_tags(f"<lora:ink{case}>", A1111, RunLength(steps)).uses
    every = use.strengths * (steps if use.is_constant else 1)
    assert every == pytest.approx(denoiser, abs=1e-6)
    assert use.text_strength == pytest.approx(text, abs=1e-6)


@pytest.mark.parametrize("row", FROZEN["blocks"], ids=lambda row: row[0][:12])
def test_weights_by_block_are_those_of_lora_block_weight(row: list[Any]) -> None:
    case, factors = row
    blocks = block_weights(case)
    assert isinstance(blocks, BlockWeights)
    ours = [blocks.factor(block_of(layer)) for layer in LAYERS.values()]
    assert [*ours, blocks.factor(BASE)] == factors


@pytest.mark.parametrize("row", FROZEN["elements"], ids=lambda row: row[0][:20])
def test_weights_of_elements_are_those_of_lora_block_weight(row: list[Any]) -> None:
    case, factors = row
    half = block_weights(",".join(["0.5"] * 26))
    assert isinstance(half, BlockWeights)
    blocks = with_elements(half, "MINE", BlockPresets({}, {"MINE": case}))
    assert isinstance(blocks, BlockWeights)
    ours = [blocks.factor(block_of(layer), name) for name, layer in LAYERS.items()]
    assert [*ours, blocks.factor(BASE, TEXT_LAYER)] == factors
