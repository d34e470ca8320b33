"""The keys of Chroma's transformers, and the modulations of their layers."""

from pathlib import Path

import pytest

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families import Component, identify
from engine.graphs.chroma import ChromaConfig
from tests.checkpoints.files import write_sparse
from tests.families.chroma import files
from tests.families.listings import UNET, prefixed


@pytest.mark.parametrize("prefix", ["", UNET])
def test_the_released_sizes_are_read(tmp_path: Path, prefix: str) -> None:
    path = write_sparse(tmp_path / "chroma.safetensors", prefixed(prefix, files.original()))
    checkpoint = identify(path)
    assert (checkpoint.family, checkpoint.variant) == ("chroma", "base")
    assert checkpoint.components[Component.DENOISER].config == ChromaConfig(
        in_channels=64,
        out_channels=64,
        width=3072,
        heads=24,
        mlp_width=12288,
        context_width=4096,
        double_blocks=19,
        single_blocks=38,
        axes=(16, 56, 56),
        waves=64,
        approximator_width=5120,
        approximator_layers=5,
    )
    assert checkpoint.missing == (Component.TEXT_ENCODER, Component.VAE)


def test_flash_is_told_by_its_name(tmp_path: Path) -> None:
    checkpoint = identify(write_sparse(tmp_path / "chroma-flash.safetensors", files.original()))
    assert checkpoint.variant == "flash"
    assert (checkpoint.hints.steps, checkpoint.hints.guidance) == (8, 1.0)


def test_layers_without_pictures_of_latents_are_another_family(tmp_path: Path) -> None:
    names = files.original(files.SMALL) | {"nerf_blocks.0.norm.scale": (4,)}
    with pytest.raises(EngineError) as caught:
        identify(write_sparse(tmp_path / "radiance.safetensors", names))
    assert caught.value.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert "Chroma Radiance" in caught.value.message


def test_single_blocks_come_first_among_modulations() -> None:
    """The order of training: single blocks, pictures, texts, the last layer."""
    config = ChromaConfig(
        in_channels=64,
        out_channels=64,
        width=64,
        heads=2,
        mlp_width=256,
        context_width=40,
        double_blocks=2,
        single_blocks=3,
        waves=16,
        approximator_width=48,
        approximator_layers=2,
    )
    assert config.modulations == 3 * 3 + 12 * 2 + 2
    places = {
        "single_transformer_blocks.2.norm.linear": 6,
        "transformer_blocks.1.norm1.linear": 15,
        "transformer_blocks.1.norm1_context.linear": 27,
        "norm_out.shift": 33,
        "norm_out.scale": 34,
    }
    assert {name: config.place(name) for name in places} == places
