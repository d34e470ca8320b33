"""Suffixes of files of weights are stated once, and any of them is left out of a name."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.form.layer_kinds import CONTROL_LAYERS
from app.form.layer_list import LayerFate, LayerRow
from app.gallery.descriptions import bare_name
from engine.api.control import ControlLayer
from engine.api.lora import LoraChoice
from engine.api.request import GenerateRequest
from engine.api.weight_suffixes import (
    NETWORK_SUFFIXES,
    WEIGHT_SUFFIXES,
    weights_name,
    without_weight_suffix,
)
from ui.files.kinds import model_kinds
from ui.job_labels import upscaler_name
from ui.layer_facts import control_lines
from ui.layer_labels import layer_name
from ui.lora_labels import choice_name
from ui.second_pass_labels import upscaler_words

ROOT = Path(__file__).parents[2]
# What each of these lists is its own.
OWN_LISTS = {
    "engine/api/weight_suffixes.py",
    "engine/embeddings/file.py",
    # A program of the standard library alone, which imports nothing of ours.
    "engine/checkpoints/torch_zip.py",
}


def listed_in(source: str) -> Iterator[str]:
    """The suffixes in a source, also in patterns of a file dialog."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value.replace("(", " ").replace(")", " ").split()
            yield from {word.removeprefix("*") for word in words} & {*NETWORK_SUFFIXES}


def test_no_other_module_lists_suffixes_of_weights() -> None:
    files = (path for folder in ("app", "engine", "ui") for path in (ROOT / folder).rglob("*.py"))
    listing = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if len({*listed_in(path.read_text(encoding="utf-8"))}) > 2
    }
    assert listing == OWN_LISTS, "engine/api/weight_suffixes.py has them"


@pytest.mark.parametrize("suffix", WEIGHT_SUFFIXES)
def test_a_name_in_a_picture_has_no_suffix_of_weights(suffix: str) -> None:
    path = f"models/Flux.1{suffix.upper()}"
    assert weights_name(path) == bare_name(path) == "Flux.1"


@pytest.mark.parametrize("suffix", WEIGHT_SUFFIXES)
def test_the_name_of_a_lora_has_no_suffix_of_weights(suffix: str) -> None:
    lora = LoraChoice(file=f"loras\\style{suffix}", strength=0.8)
    assert str(lora) == "style 0.8"
    assert choice_name(lora, None) == "style"


def test_other_suffixes_are_parts_of_a_name() -> None:
    assert [without_weight_suffix(name) for name in ("v1.5", ".pt", "a.b.png")] == [
        *("v1.5", ".pt", "a.b.png")
    ]


def test_a_dot_in_a_name_that_is_stated_begins_no_suffix() -> None:
    upscaler = "nomos 1.2"
    assert [upscaler_name(upscaler), upscaler_words(upscaler)[0]] == [upscaler] * 2
    layer = ControlLayer(image="a.png", network="canny v1.1")
    row = LayerRow(layer, None, LayerFate.MISSING)
    assert layer_name(CONTROL_LAYERS, row) == layer.network
    request = GenerateRequest(prompt="", controls=(layer,))
    assert control_lines(request).startswith("canny v1.1")


def test_dialogs_show_every_file_of_weights() -> None:
    assert all(f"*{suffix}" in model_kinds() for suffix in WEIGHT_SUFFIXES)
