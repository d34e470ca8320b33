"""TAESD's files: every layout is the same network, and names tell the latent space."""

import json
from pathlib import Path

import msgspec
import numpy as np
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
from engine.families.shared.stable_diffusion.latent_spaces import FLUX, FLUX2, SD, SD3, SDXL
from engine.families.tiny_files import TinyFiles
from engine.graphs.tiny_vae import TinyVaeConfig
from tests.checkpoints.arrays import write_arrays
from tests.checkpoints.files import write_sparse
from tests.families.listings import prefixed
from tests.families.test_binding import used
from tests.families.tiny_vaes import (
    CONFIG,
    CONFIG_2,
    decoder_weights,
    encoder_weights,
    original,
    published_taef2,
    published_taef2_of_diffusers_names,
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


def test_a_tiny_vae_is_read_as_comfyui_saves_it(tmp_path: Path) -> None:
    path = tmp_path / "ComfyUI_00001_.safetensors"
    both = original("encoder", "taesd_encoder.") | original("decoder", "taesd_decoder.")
    scales = {name: np.ones((), np.float32) for name in ("vae_scale", "vae_shift")}
    write_arrays(path, both | scales, DType.F32)
    checkpoint = identify(write_single_file(tmp_path / "sd1.safetensors"))
    supplied = supply(checkpoint, ComponentFiles(vae=str(path)))
    assert supplied.components[Component.VAE].config == CONFIG


def test_the_published_taef2_is_known_by_its_keys(tmp_path: Path) -> None:
    listings = {side: published_taef2(side) for side in ("encoder", "decoder")}
    comfy = prefixed("taesd_decoder.", listings["decoder"])
    listings |= {"diffusers": published_taef2_of_diffusers_names(), "comfy": comfy}
    for name, names in listings.items():
        path = write_sparse(tmp_path / f"{name}.safetensors", names)
        with pytest.raises(EngineError, match=r"a tiny VAE \(TAEF2\)"):
            identify(path)
    source = parts_of(tmp_path / "decoder.safetensors").sources[Component.VAE]
    assert source.config == TinyVaeConfig(
        128, 64, (1, 3, 3, 3), (3, 3, 3, 1), patch=2, normalises=True
    )
    assert used(source) == set(source.weights)
    of_diffusers = parts_of(tmp_path / "diffusers.safetensors").sources[Component.VAE]
    decoder = {name for name in source.weights if name.startswith("decoder.")}
    assert set(of_diffusers.weights) == decoder


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
        ("vae_approx/taef2_decoder.pth", FLUX2),
        ("taef2/diffusion_pytorch_model.safetensors", FLUX2),
        # SD.Next's names.
        ("TAESD/taesd_13_decoder_sdxl.pth", SDXL),
        ("TAESD/taef1.pthdecoder_f1.pth", FLUX),
        ("TAESD/taef2.pthdecoder_f2.pth", FLUX2),
        # Hugging Face's cache calls a folder by its revision.
        ("models--madebyollin--taesdxl/snapshots/7f/diffusion_pytorch_model.safetensors", SDXL),
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
        found = find_tiny_decoder(
            TinyFiles().below([tmp_path / "nowhere", tmp_path]), space, read_index
        )
        assert found is not None
        assert f"of {name} by its name" in str(found.evidence[0])
    assert find_tiny_decoder(TinyFiles().below([tmp_path]), FLUX, read_index) is None
    assert find_tiny_decoder(TinyFiles().below([tmp_path / "nowhere"]), SD, read_index) is None


@pytest.mark.parametrize("layout", ["original", "diffusers", "cached"])
def test_taef2_is_found_for_flux2_alone(tmp_path: Path, layout: str) -> None:
    if layout == "original":
        write_original(tmp_path / "vae_approx", "taef2", config=CONFIG_2)
    elif layout == "diffusers":
        write_diffusers(tmp_path / "vae_approx" / "taef2.safetensors", CONFIG_2)
    else:
        folder = tmp_path / "models--madebyollin--taef2" / "snapshots" / "5cccb12d"
        write_diffusers(folder / "weights.safetensors", CONFIG_2)
    found = find_tiny_decoder(TinyFiles().below([tmp_path]), FLUX2, read_index)
    assert found is not None
    assert found.sources[Component.VAE].config == CONFIG_2
    assert "128 latent channels, of Flux.2 by its keys" in str(found.evidence[0])
    assert find_tiny_decoder(TinyFiles().below([tmp_path]), FLUX, read_index) is None


def test_a_tiny_vae_with_other_channels_than_its_name_says_is_left_out(tmp_path: Path) -> None:
    """A folder may be called TAESD, whatever its files are for."""
    write_original(
        tmp_path / "TAESD", "sd3", config=msgspec.structs.replace(CONFIG, latent_channels=16)
    )
    write_original(tmp_path / "TAESD", "flux2", config=CONFIG_2)
    assert find_tiny_decoder(TinyFiles().below([tmp_path]), SD, read_index) is None


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


def test_keys_of_another_latent_space_are_refused(tmp_path: Path) -> None:
    checkpoint = identify(write_single_file(tmp_path / "sd1.safetensors"))
    tiny = write_original(tmp_path, "some", config=CONFIG_2)
    with pytest.raises(EngineError, match=r"it is of the family Flux\.2") as caught:
        supply(checkpoint, ComponentFiles(vae=str(tiny)))
    assert caught.value.code is ErrorCode.CHECKPOINT_MISMATCH


def test_alone_it_is_no_checkpoint_and_says_what_it_is(tmp_path: Path) -> None:
    write_original(tmp_path)
    for name in ("taesd_decoder", "taesd_encoder"):
        with pytest.raises(EngineError, match="a tiny VAE"):
            identify(tmp_path / f"{name}.safetensors")
