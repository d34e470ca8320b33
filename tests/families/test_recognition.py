"""Every layout is one thing and one thing only, and a person is told which."""

from pathlib import Path

import pytest

from engine.api.values import ErrorCode
from engine.checkpoints.safetensors import read_index
from engine.errors import EngineError
from engine.families import identify
from engine.families.identify import FAMILIES
from engine.families.recognition import KINDS, listing
from tests.checkpoints.files import write_sparse
from tests.families import listings, other_listings
from tests.families.listings import CLIP, UNET, VAE, Listing, UNetSizes

SD1_FILES: dict[str, Listing] = {
    "original": listings.original(),
    "without text_model": listings.original(text_model=False),
    "with leftovers": listings.original() | listings.leftovers(listings.original()),
    "inpainting": listings.original(UNetSizes(in_channels=9)),
    "instruct-pix2pix": listings.original(UNetSizes(in_channels=8)),
    "bare UNet": listings.ldm_unet(),
    "prefixed UNet": {UNET + name: shape for name, shape in listings.ldm_unet().items()},
    "without VAE": {n: s for n, s in listings.original().items() if not n.startswith(VAE)},
    "without text": {n: s for n, s in listings.original().items() if not n.startswith(CLIP)},
    "small": listings.original(listings.SMALL_UNET, listings.SMALL_VAE, listings.SMALL_CLIP),
}
OTHERS: dict[str, tuple[str, Listing]] = {
    "SD 2": ("an SD 2.x checkpoint", other_listings.sd2()),
    "SDXL": ("an SDXL checkpoint", other_listings.sdxl()),
    "SDXL UNet": (
        "an SDXL checkpoint",
        {n: s for n, s in other_listings.sdxl().items() if n.startswith(UNET)},
    ),
    "SDXL refiner": ("an SDXL refiner checkpoint", other_listings.sdxl_refiner()),
    "SD 3": ("an SD 3 checkpoint", other_listings.sd3()),
    "Flux": ("a Flux checkpoint", other_listings.flux()),
    "Flux with prefix": ("a Flux checkpoint", other_listings.flux(UNET)),
    "Flux.2": ("a Flux.2 checkpoint", other_listings.flux2()),
    "Chroma": ("a Chroma checkpoint", other_listings.chroma()),
    "kohya LoRA": ("a LoRA", other_listings.kohya_lora()),
    "Flux LoRA": ("a LoRA", other_listings.peft_flux_lora()),
    "ControlNet": ("a ControlNet", other_listings.controlnet()),
    "embedding": ("a textual inversion embedding", other_listings.embedding()),
    "SDXL embedding": ("a textual inversion embedding", other_listings.sdxl_embedding()),
    "IP-Adapter": ("an IP-Adapter", other_listings.ip_adapter()),
    "VAE": ("a VAE", listings.ldm_vae()),
    "prefixed VAE": ("a VAE", {VAE + name: shape for name, shape in listings.ldm_vae().items()}),
    "CLIP": ("a CLIP text encoder", listings.clip_text()),
    "CLIP of transformers 5": ("a CLIP text encoder", listings.clip_text(text_model=False)),
    "T5": ("a T5 text encoder", other_listings.t5()),
}


def verdicts(tmp_path: Path, names: Listing) -> list[str]:
    text = listing(read_index(write_sparse(tmp_path / "x.safetensors", names)).tensors)
    families = [family.name for family in FAMILIES if family.recognises(text)]
    return families + [kind.title for kind in KINDS if kind.matches(text)]


@pytest.mark.parametrize("layout", SD1_FILES)
def test_sd1_files_are_sd1_and_nothing_else(tmp_path: Path, layout: str) -> None:
    assert verdicts(tmp_path, SD1_FILES[layout]) == ["sd1"]


@pytest.mark.parametrize("layout", OTHERS)
def test_other_files_are_one_other_thing(tmp_path: Path, layout: str) -> None:
    title, names = OTHERS[layout]
    assert verdicts(tmp_path, names) == [title]


@pytest.mark.parametrize("layout", OTHERS)
def test_the_error_says_what_it_is(tmp_path: Path, layout: str) -> None:
    title, names = OTHERS[layout]
    with pytest.raises(EngineError) as caught:
        identify(write_sparse(tmp_path / "picked.safetensors", names))
    assert caught.value.code is ErrorCode.CHECKPOINT_UNKNOWN_FAMILY
    assert caught.value.message.startswith(f"picked.safetensors is {title}")
    assert "SD 1.x" in caught.value.message + caught.value.hint


def test_an_sdxl_checkpoint_in_words(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        identify(write_sparse(tmp_path / "xl.safetensors", other_listings.sdxl()))
    assert caught.value.message == "xl.safetensors is an SDXL checkpoint; this version runs SD 1.x."
    assert caught.value.hint == "Choose an SD 1.x checkpoint."


def test_a_lone_vae_is_told_how_to_be_used(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        identify(write_sparse(tmp_path / "vae.safetensors", listings.ldm_vae()))
    assert caught.value.message == "vae.safetensors is a VAE, not a checkpoint."
    assert "--vae" in caught.value.hint


def test_anything_else_is_unknown(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "x.safetensors", {"layers.0.weight": (4, 4), "b": (3,)})
    with pytest.raises(EngineError) as caught:
        identify(path)
    assert caught.value.message == "x.safetensors is not a checkpoint this version knows."
    assert caught.value.detail == "2 tensors: 'b', 'layers.0.weight'"
