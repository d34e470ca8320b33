"""Diffusers folders: which files are picked, and what a bad folder is told."""

import json
from pathlib import Path

import msgspec
import pytest

from backends.base import DType
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_configs import (
    NoiseConstants,
    SchedulerFile,
    UNetConstants,
    UNetFile,
    unusual,
)
from engine.checkpoints.diffusers_folder import find_tokenizer, read_folder, read_part
from engine.errors import EngineError
from tests.checkpoints.files import write_sparse

UNET = {"block_out_channels": [32, 64], "_class_name": "UNet2DConditionModel"}
STEM = "diffusion_pytorch_model"


@pytest.fixture
def unet(tmp_path: Path) -> Path:
    folder = tmp_path / "name" / "unet"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(UNET))
    return folder


def code_of(folder: Path) -> tuple[ErrorCode, str]:
    with pytest.raises(EngineError) as caught:
        read_folder(folder, ["unet"])
    return caught.value.code, caught.value.message


@pytest.mark.parametrize(
    ("files", "picked"),
    [
        ([f"{STEM}.safetensors", f"{STEM}.fp16.safetensors"], f"{STEM}.safetensors"),
        ([f"{STEM}.fp16.safetensors", f"{STEM}.non_ema.safetensors"], f"{STEM}.fp16.safetensors"),
    ],
)
def test_full_precision_comes_first(unet: Path, files: list[str], picked: str) -> None:
    for name in files:
        write_sparse(unet / name, {"w": (4,)})
    part = read_folder(unet.parent, ["unet"]).parts["unet"]
    assert part.index.path.name == picked
    assert part.config(UNetFile).block_out_channels == (32, 64)


def test_shards_are_one_index(unet: Path) -> None:
    write_sparse(unet / f"{STEM}-00001-of-00002.safetensors", {"a": (4,), "rest": (1,)}, DType.F16)
    write_sparse(unet / f"{STEM}-00002-of-00002.safetensors", {"b": (2, 2)}, DType.F16)
    names = {"a": f"{STEM}-00001-of-00002.safetensors", "b": f"{STEM}-00002-of-00002.safetensors"}
    (unet / f"{STEM}.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    part = read_part(unet)
    assert part is not None
    assert {name: tensor.path.name for name, tensor in part.index.tensors.items()} == names


@pytest.mark.parametrize(
    "name", ["../other.safetensors", "/etc/passwd", "..\\x.safetensors", "C:x.safetensors"]
)
def test_a_shard_list_cannot_leave_its_folder(unet: Path, name: str) -> None:
    write_sparse(unet.parent / "other.safetensors", {"a": (4,)})
    (unet / f"{STEM}.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": name}}))
    code, message = code_of(unet.parent)
    assert code is ErrorCode.CHECKPOINT_CORRUPT
    assert "not beside it" in message


def test_a_shard_that_lacks_its_tensor_is_named(unet: Path) -> None:
    write_sparse(unet / "s.safetensors", {"a": (4,)})
    names = {"a": "s.safetensors", "b": "s.safetensors"}
    (unet / f"{STEM}.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    assert code_of(unet.parent) == (
        ErrorCode.CHECKPOINT_CORRUPT,
        f"s.safetensors lacks 'b', which {STEM}.safetensors.index.json says it holds.",
    )


def test_a_folder_of_pickles_is_refused(unet: Path) -> None:
    (unet / f"{STEM}.bin").write_bytes(b"PK")
    code, message = code_of(unet.parent)
    assert code is ErrorCode.CHECKPOINT_INCOMPLETE
    assert f"only {STEM}.bin" in message


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    code, message = code_of(tmp_path)
    assert code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert "model_index.json" in message


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"block_out_channels": "wide"}',
        '{"block_out_channels": [0]}',
        '{"block_out_channels": [32], "norm_eps": 0}',
        '{"x": ' + "[" * 50_000,
        '{"x": "' + "y" * 2_000_000 + '"}',
    ],
)
def test_a_damaged_configuration_is_named(unet: Path, content: str) -> None:
    write_sparse(unet / f"{STEM}.safetensors", {"w": (4,)})
    (unet / "config.json").write_text(content)
    with pytest.raises(EngineError) as caught:
        read_folder(unet.parent, ["unet"]).parts["unet"].config(UNetFile)
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT
    assert caught.value.message.startswith("unet/config.json is damaged: ")


def test_a_tokenizer_is_two_files(unet: Path) -> None:
    tokenizer = unet.parent / "tokenizer"
    tokenizer.mkdir()
    (tokenizer / "vocab.json").write_text("{}")
    assert find_tokenizer(tokenizer) is None
    (tokenizer / "merges.txt").write_text("")
    assert find_tokenizer(tokenizer) == tokenizer


def test_unusual_settings_are_listed() -> None:
    config = msgspec.json.decode(
        b'{"beta_schedule": "linear", "steps_offset": 1}', type=SchedulerFile
    )
    assert unusual(config, NoiseConstants) == ("beta_schedule = 'linear'",)


def test_sd15s_own_configuration_has_no_unusual_settings() -> None:
    config = msgspec.json.decode(
        b"""{"_class_name": "UNet2DConditionModel", "_diffusers_version": "0.6.0", "act_fn": "silu",
        "attention_head_dim": 8, "block_out_channels": [320, 640, 1280, 1280],
        "center_input_sample": false, "cross_attention_dim": 768, "down_block_types":
        ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"],
        "downsample_padding": 1, "flip_sin_to_cos": true, "freq_shift": 0, "in_channels": 4,
        "layers_per_block": 2, "mid_block_scale_factor": 1, "norm_eps": 1e-05,
        "norm_num_groups": 32, "out_channels": 4, "sample_size": 64, "up_block_types":
        ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"]}""",
        type=UNetFile,
    )
    assert unusual(config, UNetConstants) == ()
    assert config.sample_size == 64
