"""Alpha that only an adapter's configuration states counts in the tools that read it."""

import json
from pathlib import Path

import numpy as np
import pytest

from backends.base import DType
from engine.api.conventions import CONVENTIONS
from engine.api.lora_rules import LoraRules
from engine.api.values import ConventionName
from engine.checkpoints.header import MAX_METADATA_CHARS
from engine.lora.file import LoraFile
from engine.lora.modules import LoraModule
from engine.lora.patches import patches_of
from engine.weights.patched import LowRankDifference
from tests.lora.files import lora_file

RANK = 4


def keys(*layers: str) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for layer in layers:
        found |= {f"{layer}.lora_A.weight": (RANK, 6), f"{layer}.lora_B.weight": (8, RANK)}
    return found


def scales(file: LoraFile) -> dict[str, float]:
    return {module.layer: module.stated_scale for module in file.modules}


def with_metadata(path: Path, config: object, *layers: str) -> dict[str, float]:
    text = config if isinstance(config, str) else json.dumps(config)
    return scales(lora_file(path, keys(*layers), {"lora_adapter_metadata": text}))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.safetensors"


def test_metadata_of_diffusers_have_alpha_for_each_part(path: Path) -> None:
    config = {
        "unet.lora_alpha": 8,
        "unet.alpha_pattern": {"mid.to_k": 2, "to_v": 1},
        "text_encoder.lora_alpha": 6,
        "text_encoder.use_rslora": True,
    }
    layers = ("unet.mid.to_q", "unet.mid.to_k", "unet.up.to_v", "text_encoder.fc1", "other.fc1")
    assert with_metadata(path, config, *layers) == {
        "unet.mid.to_q": 2.0,
        "unet.mid.to_k": 0.5,
        "unet.up.to_v": 0.25,
        "text_encoder.fc1": 3.0,
        "other.fc1": 1.0,
    }


def test_metadata_of_one_network_have_no_prefix(path: Path) -> None:
    assert with_metadata(path, {"lora_alpha": 2}, "mid.to_q") == {"mid.to_q": 0.5}


def test_metadata_beyond_what_the_header_keeps_are_read(path: Path) -> None:
    config = {"unet.target_modules": ["x" * 100] * 500, "unet.zzz": 0, "unet.lora_alpha": 8}
    assert len(json.dumps(config)) > MAX_METADATA_CHARS
    assert with_metadata(path, config, "unet.to_q") == {"unet.to_q": 2.0}


def test_configuration_of_peft_is_beside_the_adapter(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps({"lora_alpha": 12, "r": RANK}))
    layer = "base_model.model.mid.to_q"
    assert scales(lora_file(tmp_path / "adapter_model.safetensors", keys(layer))) == {layer: 3.0}
    # Beside another file it is that adapter's alone.
    assert scales(lora_file(tmp_path / "other.safetensors", keys(layer))) == {layer: 1.0}


@pytest.mark.parametrize(
    "config",
    [
        "{",
        "[1]",
        {},
        {"unet.lora_alpha": "8"},
        {"unet.lora_alpha": True},
        {"unet.lora_alpha": None},
        '{"unet.lora_alpha": 1e999}',
        '{"unet.lora_alpha": NaN}',
        {"unet.alpha_pattern": 3},
    ],
)
def test_damaged_configurations_state_nothing(path: Path, config: object) -> None:
    assert with_metadata(path, config, "unet.to_q") == {"unet.to_q": 1.0}


@pytest.mark.parametrize("name", ConventionName)
def test_diffusers_alone_applies_the_stated_scale(name: ConventionName, path: Path) -> None:
    (module,) = lora_file(path, keys("unet.to_q"), dtype=DType.F32).modules
    stated = LoraModule(module.layer, module.tensors, 0.5)
    rules = CONVENTIONS[name].lora
    patch = patches_of(stated, 1.0, rules)["weight"]
    assert isinstance(patch, LowRankDifference)
    assert patch.strength == (0.5 if name is ConventionName.DIFFUSERS else 1.0)


def test_alpha_of_the_layer_comes_before_the_stated_scale(path: Path) -> None:
    parts = keys("unet.to_q") | {"unet.to_q.alpha": ()}
    (module,) = lora_file(path, parts, dtype=DType.F32).modules
    stated = LoraModule(module.layer, module.tensors, 0.5)
    patch = patches_of(stated, 1.0, LoraRules(adapter_alpha=True))["weight"]
    assert isinstance(patch, LowRankDifference)
    assert np.isclose(patch.strength, 0.0)  # the file's numbers are a hole
