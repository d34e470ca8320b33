"""Diffusers folders: configuration and weights must say the same, and both are heeded."""

import json
import shutil
from pathlib import Path

import pytest

from engine.api.remedies import SupplyParts
from engine.api.values import ErrorCode, PredictionType
from engine.errors import EngineError
from engine.families import Component, identify, require_complete
from engine.families.registry import FAMILIES
from engine.graphs.clip_text import Activation, ClipTextConfig
from engine.graphs.unet import UNetConfig
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.folders import SCHEDULER, TEXT, UNET, VAE, write_folder


def failure(path: Path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        identify(path)
    return caught.value


def test_a_small_folder_is_read_with_all_its_configurations(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "small")
    checkpoint = identify(path)
    require_complete(checkpoint)
    assert checkpoint.prediction is PredictionType.V
    assert (checkpoint.latent.scale, checkpoint.latent.downscale) == (0.5, 2)
    assert checkpoint.default_size == 64
    assert checkpoint.tokenizer == path / "tokenizer"
    text = checkpoint.components[Component.TEXT_ENCODER].config
    assert isinstance(text, ClipTextConfig)
    assert (text.heads, text.activation, text.vocabulary) == (4, Activation.GELU, 100)
    unet = checkpoint.components[Component.DENOISER].config
    assert isinstance(unet, UNetConfig)
    assert [block.heads for block in unet.down] == [2, 4, 8]
    assert [block.heads for block in unet.up] == [8, 4, 2]
    assert unet.mid is not None
    assert unet.mid.heads == 8
    assert unet.norm_groups == 16


def test_the_number_of_heads_by_its_right_name_comes_first(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "small", unet={**UNET, "num_attention_heads": 16})
    config = identify(path).components[Component.DENOISER].config
    assert isinstance(config, UNetConfig)
    assert {block.heads for block in config.down} == {16}


@pytest.mark.parametrize("gone", ["vae", "text_encoder", "unet"])
def test_a_missing_part_is_named(tmp_path: Path, gone: str) -> None:
    path = write_folder(tmp_path / "small")
    shutil.rmtree(path / gone)
    checkpoint = identify(path)
    component = Component.DENOISER if gone == "unet" else Component(gone)
    assert checkpoint.missing == (component,)
    with pytest.raises(EngineError) as caught:
        require_complete(checkpoint)
    assert caught.value.code is ErrorCode.CHECKPOINT_INCOMPLETE
    assert (
        caught.value.message
        == f"small has no {FAMILIES.named(checkpoint.family).label(component)}."
    )
    assert caught.value.remedies == (SupplyParts(components=(component.value,)),)


@pytest.mark.parametrize(
    ("configs", "says"),
    [
        ({"unet": {**UNET, "block_out_channels": [32, 64, 128]}}, "block_out_channels"),
        ({"unet": {**UNET, "layers_per_block": 2}}, "layers_per_block"),
        ({"unet": {**UNET, "in_channels": 9}}, "in_channels"),
        ({"unet": {**UNET, "cross_attention_dim": 768}}, "cross_attention_dim"),
        ({"unet": {**UNET, "attention_head_dim": [8, 8]}}, "2 numbers of heads"),
        ({"vae": {**VAE, "latent_channels": 16}}, "latent_channels"),
        ({"vae": {**VAE, "block_out_channels": [32]}}, "block_out_channels"),
        ({"text": {**TEXT, "vocab_size": 49408}}, "vocab_size"),
        ({"text": {**TEXT, "num_hidden_layers": 12}}, "num_hidden_layers"),
    ],
)
def test_a_configuration_of_another_checkpoint(
    tmp_path: Path, configs: dict[str, dict[str, object]], says: str
) -> None:
    error = failure(write_folder(tmp_path / "mixed", **configs))
    assert error.code is ErrorCode.CHECKPOINT_MISMATCH
    assert says in error.message


@pytest.mark.parametrize(
    ("configs", "says"),
    [
        ({"unet": {**UNET, "act_fn": "gelu"}}, "unet/config.json"),
        ({"unet": {**UNET, "resnet_time_scale_shift": "scale_shift"}}, "resnet_time_scale_shift"),
        ({"vae": {**VAE, "latents_mean": [0.0, 0.0, 0.0, 0.0]}}, "latents_mean"),
        ({"text": {**TEXT, "hidden_act": "relu"}}, "hidden_act = 'relu'"),
        ({"scheduler": {**SCHEDULER, "beta_schedule": "linear"}}, "beta_schedule = 'linear'"),
        ({"scheduler": {**SCHEDULER, "prediction_type": "flow"}}, "'flow'"),
    ],
)
def test_a_setting_that_no_graph_emits(
    tmp_path: Path, configs: dict[str, dict[str, object]], says: str
) -> None:
    error = failure(write_folder(tmp_path / "odd", **configs))
    assert error.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert says in error.message


def test_heads_that_do_not_divide(tmp_path: Path) -> None:
    error = failure(write_folder(tmp_path / "odd", unet={**UNET, "attention_head_dim": 7}))
    assert error.code is ErrorCode.CHECKPOINT_MISMATCH
    assert "7 heads" in error.message


def test_folders_of_other_families(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "pixart")
    shutil.rmtree(path / "unet")
    (path / "model_index.json").write_text(json.dumps({"_class_name": "PixArtSigmaPipeline"}))
    assert "is for PixArtSigmaPipeline" in failure(path).message


def test_a_small_vocabulary_needs_its_tokenizer(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "small")
    (path / "tokenizer" / "merges.txt").unlink()
    with pytest.raises(EngineError) as caught:
        require_complete(identify(path))
    assert "tokenizer is missing" in caught.value.message


def test_two_folders_differ_by_what_any_part_holds(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "small")
    before = identify(path).digest
    write_sparse(
        path / "vae" / "diffusion_pytorch_model.fp16.safetensors",
        {**listings.ldm_vae(listings.SMALL_VAE)},
    )
    assert identify(path).digest == before
    with (path / "vae" / "diffusion_pytorch_model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x01")
    assert identify(path).digest != before
