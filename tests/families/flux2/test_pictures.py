"""Pictures by a tiny FLUX.2 klein in ComfyUI's layout: one file with transformer, encoder, VAE."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from engine.api.features import GuidanceKind, OptionalSetting
from engine.api.request import ComponentFiles, InputImage
from engine.api.values import ErrorCode, InputRole
from engine.errors import EngineError
from engine.families import Component, identify, supply
from engine.families.flux2.hints import variant_of
from engine.families.flux2.reference_sizes import reference_scale, reference_size
from engine.graphs.vae import VaeConfig
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.files import write_sparse
from tests.families import flow_pictures
from tests.families.flow_pictures import check_changes, check_second_pass
from tests.families.flux.files import drawn
from tests.families.flux2 import files
from tests.families.listings import (
    EIGHTFOLD_VAE,
    UNET,
    Listing,
    VaeSizes,
    ldm_vae,
    prefixed,
)
from tests.families.test_binding import used
from tests.families.tiny_vaes import CONFIG, CONFIG_2, write_diffusers, write_original
from tests.families.zimage.files import qwen3
from tests.thinned import thinned

# A third of the transformer's context; states after the 27th layer are read.
_STATES, _LAYERS = 24, 28
_VAE = replace(EIGHTFOLD_VAE, latent=8)
_ENCODER = qwen3(_STATES, layers=_LAYERS)
picture = partial(flow_pictures.picture, guidance=1.0)


def write_whole(
    path: Path, transformer: Listing, vae: Listing, encoder: Listing = _ENCODER
) -> Path:
    whole = {
        **prefixed(UNET, transformer),
        **prefixed("text_encoders.qwen3_4b.transformer.", encoder),
        **prefixed("vae.", vae),
    }
    numbers = drawn(whole)
    numbers["vae.bn.running_var"] = np.abs(numbers["vae.bn.running_var"]) + 1
    write_arrays(path, numbers)
    return path


def write_checkpoint(path: Path, states: int = _STATES, layers: int = _LAYERS) -> Path:
    encoder = qwen3(states, layers=layers)
    return write_whole(path, files.original(files.SMALL), files.vae(_VAE), encoder)


def write_with_published_latents(path: Path) -> Path:
    """A small checkpoint whose latents have the channels of FLUX.2's."""
    transformer = files.original(replace(files.SMALL, channels=128))
    return write_whole(path, transformer, files.vae(replace(_VAE, latent=32)))


@pytest.fixture(scope="module")
def klein(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("flux2") / "flux-2-klein-4b.safetensors")


def colours(path: Path, size: tuple[int, int], role: InputRole) -> InputImage:
    levels = np.random.default_rng(1).integers(0, 256, (5, 4, 3), np.uint8)
    Image.fromarray(levels).resize(size, Image.Resampling.BICUBIC).save(path)
    return InputImage(role=role, path=str(path))


def test_one_file_holds_all_parts(klein: Path) -> None:
    found = identify(klein)
    assert (found.family, found.variant, found.missing) == ("flux2", "klein", ())
    assert (found.hints.steps, found.hints.guidance, found.ignored_keys) == (4, 1.0, 1)
    assert (found.latent.channels, found.latent.downscale) == (32, 16)
    features = found.architecture.features
    assert (features.guidance, features.size_multiple) == ((GuidanceKind.CFG,), 16)
    assert features.reference_pictures == 4


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("flux-2-klein-4b-fp8", "klein"),
        ("flux-2-klein-base-4b", "klein-base"),
        ("FLUX.2-klein-base-4B", "klein-base"),
        ("some_mix_v2", "klein"),
    ],
)
def test_base_is_told_by_its_name(name: str, variant: str) -> None:
    assert variant_of(name, ()) == variant


@pytest.mark.parametrize(
    "convention", thinned(["a1111", "comfy", "diffusers", "invoke"], ["comfy"])
)
def test_prompt_and_seed_change_a_picture(klein: Path, convention: str) -> None:
    changes = {"prompt": "a horse"}, {"guidance": 4.0}, {"seed": 8}
    check_changes(picture, klein, convention, *changes)


def test_a_prompt_beyond_512_tokens_is_read_by_one_tool_alone(klein: Path) -> None:
    long = "a house by the sea, " * 120
    for convention, reads in (("comfy", True), ("diffusers", False)):
        made = [
            picture(klein, convention=convention, prompt=prompt)
            for prompt in (long, f"{long}, red")
        ]
        assert np.array_equal(made[0], made[1]) is not reads


@pytest.mark.parametrize(
    ("sizes", "words"),
    [({"states": 40}, "the transformer needs one 24 wide"), ({"layers": 27}, "more than 27")],
)
def test_an_encoder_of_another_size_is_refused(
    tmp_path: Path, sizes: dict[str, int], words: str
) -> None:
    with pytest.raises(EngineError) as caught:
        identify(write_checkpoint(tmp_path / "x.safetensors", **sizes))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH
    assert words in caught.value.message


def test_only_the_vae_of_packed_latents_may_be_supplied(tmp_path: Path) -> None:
    model = identify(write_sparse(tmp_path / "klein.safetensors", files.original()))
    vae = write_sparse(tmp_path / "flux2-vae.safetensors", files.vae())
    other = write_sparse(tmp_path / "ae.safetensors", ldm_vae(VaeSizes(latent=16)))
    assert supply(model, ComponentFiles(vae=str(vae))).latent.channels == 128
    with pytest.raises(EngineError):
        supply(model, ComponentFiles(vae=str(other)))


def test_the_small_decoder_is_read_from_its_file_and_its_folder(tmp_path: Path) -> None:
    model = identify(write_sparse(tmp_path / "klein.safetensors", files.original()))
    name = "full_encoder_small_decoder.safetensors"
    vae = write_sparse(tmp_path / name, files.narrow_vae())
    supplied = supply(model, ComponentFiles(vae=str(vae)))
    source = supplied.components[Component.VAE]
    assert isinstance(source.config, VaeConfig)
    assert source.config.widths == (128, 256, 512, 512)
    assert source.config.decoder_widths == (96, 192, 384, 384)
    assert used(source) == set(source.weights)
    assert any("with a decoder of 96-192-384-384" in str(line) for line in supplied.evidence)
    folder = tmp_path / "FLUX.2-small-decoder"
    folder.mkdir()
    canonical = {key: weight.shape for key, weight in source.weights.items()}
    write_sparse(folder / "diffusion_pytorch_model.safetensors", canonical)
    stated = {
        "_class_name": "AutoencoderKLFlux2",
        "block_out_channels": [128, 256, 512, 512],
        "decoder_block_out_channels": [96, 192, 384, 384],
        "layers_per_block": 2,
        "latent_channels": 32,
    }
    (folder / "config.json").write_text(json.dumps(stated))
    of_folder = supply(model, ComponentFiles(vae=str(folder)))
    assert of_folder.components[Component.VAE].config == source.config
    (folder / "config.json").write_text(json.dumps(stated | {"decoder_block_out_channels": None}))
    with pytest.raises(EngineError, match="decoder_block_out_channels"):
        supply(model, ComponentFiles(vae=str(folder)))


def test_a_picture_by_a_small_decoder_is_the_same_in_tiles(tmp_path: Path) -> None:
    wide = replace(_VAE, width=64)
    transformer, vae = files.original(files.SMALL), files.narrow_vae(wide, 32)
    model = write_whole(tmp_path / "klein.safetensors", transformer, vae)
    fields = {"width": 320, "height": 256}
    whole, tiled = picture(model, **fields), picture(model, **fields, vae_tile=256)
    assert whole.std() > 1
    assert np.abs(whole.astype(int) - tiled).max() <= 2


@pytest.mark.parametrize("layout", thinned(["original", "diffusers"], ["original"]))
def test_taef2_makes_the_picture_and_encodes_one(tmp_path: Path, layout: str) -> None:
    path = write_with_published_latents(tmp_path / "klein.safetensors")
    if layout == "original":
        tiny = write_original(tmp_path / "vae_approx", "taef2", config=CONFIG_2)
    else:
        tiny = write_diffusers(tmp_path / "taef2.safetensors", CONFIG_2)
    files_ = ComponentFiles(vae=str(tiny))
    found = supply(identify(path), files_)
    assert (found.latent.channels, found.latent.downscale, found.latent.scale) == (128, 16, 1.0)
    assert found.latent.preview == identify(path).latent.preview
    assert OptionalSetting.VAE_TILE not in found.architecture.features.options
    init = colours(tmp_path / "init.png", (96, 64), InputRole.INIT)
    made = picture(path, components=files_)
    redrawn = picture(path, components=files_, inputs=(init,), strength=0.5)
    assert min(made.std(), redrawn.std()) > 1
    assert not np.array_equal(made, redrawn)


def test_a_tiny_vae_without_normalisations_is_refused(tmp_path: Path) -> None:
    model = identify(write_sparse(tmp_path / "klein.safetensors", files.original()))
    for name in ("some", "taef2"):
        tiny = write_original(
            tmp_path, name, config=msgspec.structs.replace(CONFIG, latent_channels=32)
        )
        with pytest.raises(EngineError, match="32 latent channels") as caught:
            supply(model, ComponentFiles(vae=str(tiny)))
        assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH


def test_reference_pictures_change_a_picture(klein: Path, tmp_path: Path) -> None:
    first = colours(tmp_path / "1.png", (75, 90), InputRole.REFERENCE)
    second = colours(tmp_path / "2.png", (64, 64), InputRole.REFERENCE)
    made = [
        picture(klein, inputs=inputs) for inputs in ((), (first,), (first, second), (second, first))
    ]
    assert len({pixels.tobytes() for pixels in made}) == 4


def test_reference_pictures_keep_their_size_up_to_a_megapixel() -> None:
    assert reference_size((1000, 900)) == (992, 896)
    assert reference_scale((2048, 2048)) == (1024, 1024)
    assert reference_scale((3000, 1000)) == (1773, 591)
    assert reference_size((3000, 1000)) == (1760, 576)
    assert reference_size((10, 700)) == (16, 688)


def test_a_picture_is_redrawn_in_tiles_of_the_vae_alike(klein: Path, tmp_path: Path) -> None:
    assert OptionalSetting.VAE_TILE in identify(klein).architecture.features.options
    init = colours(tmp_path / "init.png", (320, 256), InputRole.INIT)
    fields = {"width": 320, "height": 256, "inputs": (init,), "strength": 0.5}
    whole, tiled = picture(klein, **fields), picture(klein, **fields, vae_tile=256)
    assert np.abs(whole.astype(int) - tiled).max() <= 2


def test_a_second_pass_enlarges_and_redraws(klein: Path) -> None:
    check_second_pass(picture, klein)
