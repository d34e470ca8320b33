"""Weights equal those that A1111, ComfyUI and InvokeAI make, each by its convention's rules.

The tools' weights were made by their own functions: see `freeze_tools.py`.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array
from engine.api.conventions import CONVENTIONS
from engine.api.lora_rules import DoraRule, LoraRules, RotationRule
from engine.api.values import ConventionName
from engine.lora.modules import LoraModule
from engine.lora.patches import patches_of
from engine.weights.patched import PatchedWeight
from tests.checkpoints.arrays import write_arrays
from tests.lora.cases import A1111, CASES, COMFY, INVOKE, STRENGTHS, Case
from tests.weights.files import write_sources

FROZEN = dict(np.load(Path(__file__).parent / "frozen" / "tools.npz"))
# Made by OneTrainer's module: see `freeze_trainers.py`.
ROTATED = dict(np.load(Path(__file__).parent / "frozen" / "onetrainer.npz"))
BY_NAME = {case.name: case for case in CASES}
MADE = [(tool, case.name) for case in CASES for tool in case.tools]


def merged(folder: Path, case: Case, strength: float, rules: LoraRules) -> Array:
    module = LoraModule("layer", write_arrays(folder / "lora.safetensors", case.tensors))
    base = write_sources(folder / "base.safetensors", {"w": case.base})["w"]
    patch = patches_of(module, strength, rules, shape=case.shape)["weight"]
    return PatchedWeight(base, (patch,)).read()


def error(found: Array, wanted: Array) -> float:
    """The largest difference, as a part of the largest number."""
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize(("tool", "name"), MADE)
def test_a_weight_is_that_of_the_tool(
    tmp_path: Path, tool: str, name: str, strength: float
) -> None:
    rules = CONVENTIONS[ConventionName(tool)].lora
    found = merged(tmp_path, BY_NAME[name], strength, rules)
    assert error(found, FROZEN[f"{tool}/{name}/{strength}"]) < 1e-5


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("name", ROTATED)
def test_a_rotation_of_inputs_is_that_of_onetrainer(
    tmp_path: Path, name: str, strength: float
) -> None:
    """Its trainer has no strength; tools blend."""
    case = BY_NAME[name]
    found = merged(tmp_path, case, strength, LoraRules())
    assert error(found, case.base + strength * (ROTATED[name] - case.base)) < 1e-5


@pytest.mark.parametrize(
    ("name", "tool"), [("dora inputs", A1111), ("dora 3x3 inputs", COMFY), ("dora lokr", A1111)]
)
def test_magnitudes_of_inputs_are_measured_as_trained_by_all_tools(
    tmp_path: Path, name: str, tool: str
) -> None:
    found = merged(tmp_path, BY_NAME[name], 0.5, LoraRules(dora=DoraRule.TRAINED))
    assert error(found, FROZEN[f"{tool}/{name}/0.5"]) < 1e-5


def test_every_weight_that_was_frozen_is_compared() -> None:
    compared = {f"{tool}/{name}/{strength}" for (tool, name), strength in product(MADE, STRENGTHS)}
    assert compared == FROZEN.keys()


# By case and strength: the tools that agree, and each group's rules.
_INPUTS, _UNCHANGED = LoraRules(dora=DoraRule.INPUTS), LoraRules(dora=DoraRule.UNCHANGED)
_BLENDED = LoraRules(rotation=RotationRule.BLENDED)
_TWICE = LoraRules(rotation=RotationRule.TWICE)


@pytest.mark.parametrize(
    ("name", "strength", "rules"),
    [
        ("dora outputs", 1.0, {A1111: _INPUTS, INVOKE: _INPUTS, COMFY: _UNCHANGED}),
        ("dora 3x3 outputs", 0.5, {A1111: _INPUTS, INVOKE: _INPUTS, COMFY: _UNCHANGED}),
        ("oft linear", 0.5, {A1111: _BLENDED, COMFY: _TWICE}),
        ("oft limited", 1.0, {A1111: _BLENDED, COMFY: _TWICE}),
        ("oft rescaled", 1.0, {A1111: _BLENDED, COMFY: _TWICE}),
        ("boft linear", 0.5, {A1111: _BLENDED, COMFY: _TWICE}),
        ("glora old", 1.0, {A1111: LoraRules(), COMFY: LoraRules(glora_alpha=True)}),
    ],
)
def test_tools_differ_by_their_rules(
    tmp_path: Path, name: str, strength: float, rules: dict[str, LoraRules]
) -> None:
    for tool, rule in rules.items():
        found = merged(tmp_path, BY_NAME[name], strength, rule)
        for other, its_rule in rules.items():
            same = error(found, FROZEN[f"{other}/{name}/{strength}"]) < 1e-5
            assert same is (its_rule == rule), (tool, other)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_at_strength_zero_no_case_changes_anything(tmp_path: Path, case: Case) -> None:
    module = LoraModule("layer", write_arrays(tmp_path / "lora.safetensors", case.tensors))
    assert patches_of(module, 0.0, shape=case.shape) == {}
