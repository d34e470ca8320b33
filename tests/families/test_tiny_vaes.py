"""TAESD's files: every layout is the same network, and names tell the latent space."""

import json
from pathlib import Path

import pytest

from backends.base import DType
from engine.api.request import ComponentFiles
from engine.api.values import ErrorCode
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families import Component, identify
from engine.families.checkpoint import Parts
from engine.families.identify import supply
from engine.families.shared.kl_vae.tiny_vaes import find_tiny_decoder, named_space, tiny_vae_parts
from engine.families.shared.stable_diffusion.latent_spaces import FLUX, SD, SD3, SDXL
from tests.checkpoints.arrays import write_arrays
from tests.families.tiny_vaes import (
    CONFIG,
    decoder_weights,
    encoder_weights,
    original,
    write_diffusers,
    write_original,
)
from tests.single_file import write_single_file


def parts_of(path: Path) -> Parts:
    return tiny_vae_parts(read_index(path), read_index)


def test_both_layouts_are_the_same_network(tmp_path: Path) -> None:
    theirs = parts_of(write_diffusers(tmp_path / "taesd.safetensors")).sources[Component.VAE]
    ours = parts_of(write_original(tmp_path / "two")).sources[Component.VAE]
    assert theirs.config == ours.config == CONFIG
    assert {n: w.shape for n, w in theirs.weights.items()} == {
        name: weight.shape for name, weight in ours.weights.items()
    }
    assert set(theirs.weights) == set(encoder_weights() | decoder_weights())


def test_a_tiny_vae_is_read_with_comfyuis_prefixes(tmp_path: Path) -> None:
    path = tmp_path / "taesd.safetensors"
    both = original("encoder", "taesd_encoder.") | original("decoder", "taesd_decoder.")
    write_arrays(path, both, DType.F32)
    assert parts_of(path).sources[Component.VAE].config == CONFIG


def test_a_decoder_without_its_encoder(tmp_path: Path) -> None:
    path = write_original(tmp_path)
    (tmp_path / "taesd_encoder.safetensors").unlink()
    config = parts_of(path).sources[Component.VAE].config
    assert (config.encoder_blocks, config.decoder_blocks) == (None, CONFIG.decoder_blocks)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


@pytest.mark.parametrize(
    ("path", "space"),
    [
        ("vae_approx/taesd_decoder.safetensors", SD),
        ("VAE-taesd/taesdxl_decoder.pth", SDXL),
        ("taesdxl/diffusion_pytorch_model.safetensors", SDXL),
        ("sdxl/TAESD.safetensors", SD),
        ("vae_approx/taesd3_decoder.safetensors", SD3),
        ("vae_approx/taef1_decoder.safetensors", FLUX),
        ("vae/some.safetensors", None),
    ],
)
def test_names_tell_the_latent_space(path: str, space: object) -> None:
    assert named_space(Path("/models") / path) is space


def test_a_tiny_vae_is_found_for_its_space_alone(tmp_path: Path) -> None:
    write_original(tmp_path / "vae_approx", "taesd")
    write_diffusers(tmp_path / "taesdxl" / "diffusion_pytorch_model.safetensors")
    (tmp_path / "taesd_broken.safetensors").write_bytes(b"no weights")
    for space, name in ((SD, "SD 1 and 2"), (SDXL, "SDXL")):
        found = find_tiny_decoder(tmp_path, space.name, read_index)
        assert found is not None
        assert f"of {name} by its name" in str(found.evidence[0])
    assert find_tiny_decoder(tmp_path, "another", read_index) is None
    assert find_tiny_decoder(tmp_path / "nowhere", SD.name, read_index) is None


def test_a_tiny_vae_replaces_the_vae_of_a_checkpoint(tmp_path: Path) -> None:
    checkpoint = identify(write_single_file(tmp_path / "sd1.safetensors"))
    tiny = write_original(tmp_path)
    supplied = supply(checkpoint, ComponentFiles(vae=str(tiny)))
    assert supplied.components[Component.VAE].config == CONFIG
    # It speaks the denoiser's latents as they are, in which the linear previews stay right.
    assert (supplied.latent.scale, supplied.latent.space) == (1.0, SD.name)
    assert supplied.latent.preview == SD.preview
    assert any("TAESD" in str(line) for line in supplied.evidence)


def test_a_tiny_vae_in_a_diffusers_folder_is_read(tmp_path: Path) -> None:
    checkpoint = identify(write_single_file(tmp_path / "sd1.safetensors"))
    folder = tmp_path / "taesd"
    write_diffusers(folder / "diffusion_pytorch_model.safetensors")
    (folder / "config.json").write_text(json.dumps({"_class_name": "AutoencoderTiny"}))
    supplied = supply(checkpoint, ComponentFiles(vae=str(folder)))
    assert supplied.components[Component.VAE].config == CONFIG


def test_a_tiny_vae_of_another_space_is_refused(tmp_path: Path) -> None:
    checkpoint = identify(write_single_file(tmp_path / "sd1.safetensors"))
    tiny = write_original(tmp_path, "taesdxl")
    with pytest.raises(EngineError, match="SDXL") as caught:
        supply(checkpoint, ComponentFiles(vae=str(tiny)))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH


def test_alone_it_is_no_checkpoint_and_says_what_it_is(tmp_path: Path) -> None:
    write_original(tmp_path)
    for name in ("taesd_decoder", "taesd_encoder"):
        with pytest.raises(EngineError, match="a tiny VAE"):
            identify(tmp_path / f"{name}.safetensors")
