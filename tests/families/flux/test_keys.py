"""The keys of Flux.1's transformers in each layout, and the places of their numbers."""

from pathlib import Path

import numpy as np
import pytest

from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.families import Component, IdentifiedCheckpoint, identify
from engine.graphs.flux import FluxConfig
from engine.weights.sources import as_source
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.files import write_sparse
from tests.families.flux import files
from tests.families.flux.files import SMALL, FluxSizes
from tests.families.listings import UNET, Listing, prefixed

QUERY, MLP = SMALL.width, 3 * SMALL.width


def config_of(checkpoint: IdentifiedCheckpoint) -> FluxConfig:
    config = checkpoint.components[Component.DENOISER].config
    assert isinstance(config, FluxConfig)
    return config


def identified(folder: Path, listing: Listing) -> IdentifiedCheckpoint:
    return identify(write_sparse(folder / "flux.safetensors", listing))


def test_the_released_sizes_are_read(tmp_path: Path) -> None:
    checkpoint = identified(tmp_path, files.original())
    assert config_of(checkpoint) == FluxConfig(
        in_channels=64,
        out_channels=64,
        width=3072,
        heads=24,
        mlp_width=12288,
        context_width=4096,
        pooled_width=768,
        double_blocks=19,
        single_blocks=38,
        axes=(16, 56, 56),
        takes_guidance=True,
    )
    assert checkpoint.missing == (
        Component.TEXT_ENCODER,
        Component.TEXT_ENCODER_2,
        Component.VAE,
    )


def test_joined_layers_are_rows_of_the_file(tmp_path: Path) -> None:
    numbers = files.write_transformer(tmp_path / "flux.safetensors")
    weights = identify(tmp_path / "flux.safetensors").components[Component.DENOISER].weights

    def read(name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return as_source(weights[name]).read()

    linear = numbers["single_blocks.1.linear1.weight"]
    name = "single_transformer_blocks.1"
    np.testing.assert_array_equal(read(f"{name}.attn.to_q.weight"), linear[:QUERY])
    np.testing.assert_array_equal(read(f"{name}.attn.to_v.weight"), linear[2 * QUERY : MLP])
    np.testing.assert_array_equal(read(f"{name}.proj_mlp.weight"), linear[MLP:])
    qkv = numbers["double_blocks.1.txt_attn.qkv.bias"]
    name = "transformer_blocks.1.attn"
    np.testing.assert_array_equal(read(f"{name}.add_k_proj.bias"), qkv[QUERY : 2 * QUERY])
    # The original has the shift first.
    last = numbers["final_layer.adaLN_modulation.1.weight"]
    np.testing.assert_array_equal(read("norm_out.shift.weight"), last[:QUERY])
    np.testing.assert_array_equal(read("norm_out.scale.weight"), last[QUERY:])


@pytest.mark.parametrize("prefix", ["", UNET])
def test_norms_may_be_called_weights(tmp_path: Path, prefix: str) -> None:
    """ComfyUI writes files whose norms are `query_norm.weight`."""
    listing = {
        name.replace("_norm.scale", "_norm.weight"): shape
        for name, shape in files.original(SMALL).items()
    }
    checkpoint = identified(tmp_path, prefixed(prefix, listing))
    assert "transformer_blocks.0.attn.norm_added_k.weight" in (
        checkpoint.components[Component.DENOISER].weights
    )


def test_a_variant_with_other_channels_beside_the_latent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="36 channels more") as caught:
        identified(tmp_path, files.original(FluxSizes(channels=100)))
    assert caught.value.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("double_blocks.0.img_attn.qkv.weight", (3 * SMALL.width + 1, SMALL.width)),
        ("single_blocks.0.linear1.bias", (3 * SMALL.width,)),
        ("final_layer.adaLN_modulation.1.bias", ()),
    ],
)
def test_a_joined_layer_of_another_size_is_damage(
    tmp_path: Path, name: str, shape: tuple[int, ...]
) -> None:
    with pytest.raises(EngineError) as caught:
        identified(tmp_path, files.original(SMALL) | {name: shape})
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT
    assert str(list(shape)) in caught.value.message


def test_an_unknown_key_is_refused_by_its_name(tmp_path: Path) -> None:
    numbers = files.drawn(files.original(SMALL))
    numbers["double_blocks.0.img_attn.gate.weight"] = np.ones(4, np.float32)
    write_arrays(tmp_path / "flux.safetensors", numbers)
    with pytest.raises(EngineError) as caught:
        identify(tmp_path / "flux.safetensors")
    assert "img_attn.gate" in caught.value.message
