"""Our listings and key rules beside diffusers' own conversion of single files and its folders."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.api.values import PredictionType
from engine.families import Component, IdentifiedCheckpoint, identify
from engine.weights.sources import as_source
from tests.checkpoints.files import write_sparse
from tests.families import listings
from tests.families.listings import ClipSizes, Listing, UNetSizes, VaeSizes

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")
transformers = pytest.importorskip("transformers")
single_file = pytest.importorskip("diffusers.loaders.single_file_utils")
safetensors_torch = pytest.importorskip("safetensors.torch")

Module = Any
Tensors = dict[str, Any]


def unet_config(sizes: UNetSizes) -> dict:
    """The `config.json` of what `listings.ldm_unet` lists."""
    return {
        "in_channels": sizes.in_channels,
        "out_channels": sizes.out_channels,
        "block_out_channels": [sizes.width * multiplier for multiplier in sizes.multipliers],
        "layers_per_block": sizes.blocks,
        "down_block_types": [
            "CrossAttnDownBlock2D" if depth else "DownBlock2D" for depth in sizes.depths
        ],
        "up_block_types": [
            "CrossAttnUpBlock2D" if depth else "UpBlock2D" for depth in reversed(sizes.depths)
        ],
        "cross_attention_dim": sizes.context,
        "attention_head_dim": 8,
        "sample_size": 16,
    }


def vae_config(sizes: VaeSizes) -> dict:
    """The `config.json` of what `listings.ldm_vae` lists."""
    levels = len(sizes.multipliers)
    return {
        "block_out_channels": [sizes.width * multiplier for multiplier in sizes.multipliers],
        "down_block_types": ["DownEncoderBlock2D"] * levels,
        "up_block_types": ["UpDecoderBlock2D"] * levels,
        "layers_per_block": sizes.blocks,
        "latent_channels": sizes.latent,
        "scaling_factor": 0.5,
    }


def build(unet: UNetSizes, vae: VaeSizes, clip: ClipSizes) -> dict[Component, Module]:
    """The three networks as diffusers and transformers build them."""
    return {
        Component.DENOISER: diffusers.UNet2DConditionModel(**unet_config(unet)),
        Component.VAE: diffusers.AutoencoderKL(**vae_config(vae)),
        Component.TEXT_ENCODER: transformers.CLIPTextModel(
            transformers.CLIPTextConfig(
                hidden_size=clip.width,
                intermediate_size=4 * clip.width,
                num_hidden_layers=clip.layers,
                num_attention_heads=clip.width // 64,
                vocab_size=clip.vocabulary,
                bos_token_id=None,
                eos_token_id=None,
                pad_token_id=None,
            )
        ),
    }


def small() -> dict[Component, Module]:
    torch.manual_seed(0)
    return build(listings.SMALL_UNET, listings.SMALL_VAE, listings.SMALL_CLIP)


def state(module: Module, component: Component) -> Tensors:
    """A module's weights; transformers has `text_model.` in them before 5 and not after."""
    weights = module.state_dict()
    if component is not Component.TEXT_ENCODER:
        return weights
    return {
        f"text_model.{name.removeprefix('text_model.')}": tensor
        for name, tensor in weights.items()
        if "position_ids" not in name
    }


def convert(tensors: Tensors, unet: UNetSizes, vae: VaeSizes) -> dict:
    """Diffusers' conversion of an original checkpoint, by component."""
    return {
        Component.DENOISER: single_file.convert_ldm_unet_checkpoint(tensors, unet_config(unet)),
        Component.VAE: single_file.convert_ldm_vae_checkpoint(tensors, vae_config(vae)),
        Component.TEXT_ENCODER: single_file.convert_ldm_clip_checkpoint(tensors),
    }


def assert_same_weights(checkpoint: IdentifiedCheckpoint, theirs: dict[Component, dict]) -> None:
    for component, source in checkpoint.components.items():
        assert source.weights.keys() == theirs[component].keys()
        for name, tensor in source.weights.items():
            np.testing.assert_array_equal(
                as_source(tensor).read(), theirs[component][name].numpy(), name
            )


def random_file(path: Path, listing: Listing) -> Tensors:
    generator = torch.Generator().manual_seed(1)
    tensors = {name: torch.randn(shape, generator=generator) for name, shape in listing.items()}
    safetensors_torch.save_file(tensors, path)
    return tensors


def test_the_sd15_listing_and_our_names_equal_those_of_diffusers(tmp_path: Path) -> None:
    listing = listings.original()
    checkpoint = identify(write_sparse(tmp_path / "sd15.safetensors", listing))
    with torch.device("meta"):
        modules = build(listings.SD1, VaeSizes(), ClipSizes())
        tensors = {name: torch.empty(shape) for name, shape in listing.items()}
    converted = convert(tensors, listings.SD1, VaeSizes())
    for component, source in checkpoint.components.items():
        ours = {name: tensor.shape for name, tensor in source.weights.items()}
        expected = state(modules[component], component)
        assert ours == {name: tuple(tensor.shape) for name, tensor in expected.items()}
        theirs = converted[component]
        assert ours == {name: tuple(tensor.shape) for name, tensor in theirs.items()}
    assert sum(prod(shape) for shape in listings.ldm_unet().values()) == 859_520_964


@pytest.mark.parametrize(
    "unet",
    [
        listings.SMALL_UNET,
        UNetSizes(width=32, multipliers=(1, 2), blocks=2, depths=(1, 1), context=64),
        UNetSizes(width=32, multipliers=(1, 1, 2, 2), blocks=3, depths=(1, 0, 1, 0), context=64),
    ],
)
def test_an_original_file_gives_each_name_the_tensor_that_diffusers_gives_it(
    tmp_path: Path, unet: UNetSizes
) -> None:
    vae, clip = listings.SMALL_VAE, listings.SMALL_CLIP
    path = tmp_path / "small.safetensors"
    tensors = random_file(path, listings.original(unet, vae, clip))
    checkpoint = identify(path)
    assert not checkpoint.missing
    converted = convert(tensors, unet, vae)
    assert_same_weights(checkpoint, converted)
    modules = build(unet, vae, clip)
    for component in (Component.DENOISER, Component.VAE):
        modules[component].load_state_dict(converted[component], strict=True)


@pytest.mark.parametrize(
    "unet",
    [
        listings.SMALL_SDXL,
        replace(listings.SMALL_SDXL, middle_depth=-1, up_depths=(1, 2, 3, 0, 0, 0)),
        replace(listings.SMALL_SDXL, blocks=1, middle_depth=-2),
    ],
    ids=["SDXL", "SSD-1B", "KOALA"],
)
def test_an_original_sdxl_file_is_read_as_in_diffusers(tmp_path: Path, unet: UNetSizes) -> None:
    vae, clip, big = listings.SMALL_VAE, listings.SMALL_CLIP, listings.SMALL_OPEN_CLIP
    path = tmp_path / "small.safetensors"
    tensors = random_file(path, listings.sdxl(unet, vae, clip, big))
    checkpoint = identify(path)
    assert (checkpoint.family, checkpoint.missing) == ("sdxl", ())
    open_clip = single_file.convert_open_clip_checkpoint(
        None, tensors, prefix=listings.XL_OPEN_CLIP
    )
    # Stored the other way round, which our graph knows.
    open_clip["text_projection"] = open_clip.pop("text_projection.weight").T
    theirs = {
        Component.VAE: single_file.convert_ldm_vae_checkpoint(tensors, vae_config(vae)),
        Component.TEXT_ENCODER: single_file.convert_ldm_clip_checkpoint(
            tensors, remove_prefix=listings.XL_CLIP
        ),
        Component.TEXT_ENCODER_2: open_clip,
        Component.DENOISER: single_file.convert_ldm_unet_checkpoint(
            tensors, {"layers_per_block": unet.blocks, "addition_embed_type": "text_time"}
        ),
    }
    assert_same_weights(checkpoint, theirs)


def test_a_folder_saved_by_diffusers_is_read(tmp_path: Path) -> None:
    modules = small()
    modules[Component.DENOISER].save_pretrained(tmp_path / "unet")
    modules[Component.VAE].save_pretrained(tmp_path / "vae", variant="fp16")
    modules[Component.TEXT_ENCODER].save_pretrained(tmp_path / "text_encoder")
    diffusers.DDIMScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        prediction_type="v_prediction",
    ).save_pretrained(tmp_path / "scheduler")
    checkpoint = identify(tmp_path)
    assert_same_weights(
        checkpoint, {component: state(module, component) for component, module in modules.items()}
    )
    assert checkpoint.prediction is PredictionType.V
    assert checkpoint.latent.scale == 0.5
    assert checkpoint.default_size == 16 * 2
    assert not checkpoint.missing


def test_a_folder_saved_by_diffusers_in_shards_is_read(tmp_path: Path) -> None:
    unet = small()[Component.DENOISER]
    unet.save_pretrained(tmp_path / "unet", max_shard_size="400KB")
    assert not (tmp_path / "unet" / "diffusion_pytorch_model.safetensors").exists()
    checkpoint = identify(tmp_path)
    assert_same_weights(checkpoint, {Component.DENOISER: state(unet, Component.DENOISER)})
    assert checkpoint.missing == (Component.TEXT_ENCODER, Component.VAE)


def test_a_vae_under_the_names_of_old_diffusers_is_read(tmp_path: Path) -> None:
    vae = small()[Component.VAE]
    old = {"to_q": "query", "to_k": "key", "to_v": "value", "to_out.0": "proj_attn"}
    weights = {}
    for name, tensor in vae.state_dict().items():
        for new, former in old.items():
            name = name.replace(f".attentions.0.{new}.", f".attentions.0.{former}.")
        weights[f"vae.{name}"] = tensor
    listing = listings.original(listings.SMALL_UNET, clip=listings.SMALL_CLIP)
    others = {
        name: torch.zeros(shape)
        for name, shape in listing.items()
        if not name.startswith(listings.VAE)
    }
    path = tmp_path / "mixed.safetensors"
    safetensors_torch.save_file({**weights, **others}, path)
    ours = identify(path).components[Component.VAE].weights
    assert ours.keys() == vae.state_dict().keys()
    for name, tensor in ours.items():
        np.testing.assert_array_equal(
            as_source(tensor).read(), vae.state_dict()[name].numpy(), name
        )
