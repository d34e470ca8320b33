"""Every layout is one thing and one thing only, and a person is told which."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.api.remedies import UseAsPart
from engine.api.values import ErrorCode
from engine.checkpoints.safetensors import read_index
from engine.errors import EngineError
from engine.families import identify
from engine.families.listing import Listing as TensorListing
from engine.families.recognition import recognise
from engine.families.registry import FAMILIES
from tests.checkpoints.files import write_sparse
from tests.families import listings, other_listings
from tests.families.chroma import files as chroma
from tests.families.flux import files as flux
from tests.families.flux2 import files as flux2
from tests.families.listings import (
    CLIP,
    PRUNED_SDXL,
    SD2,
    SDXL,
    UNET,
    VAE,
    Listing,
    UNetSizes,
    prefixed,
)
from tests.families.sd3 import files as sd3
from tests.families.zimage import files as zimage

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
_SDXL_WITHOUT_TEXT = {n: s for n, s in listings.sdxl().items() if n.startswith((UNET, VAE))}
# Files of the other families: family, variant, and what is missing.
FAMILY_FILES: dict[str, tuple[str, str, Listing]] = {
    "SD 2": ("sd2", "base", listings.sd2()),
    "SD 2 inpainting": (
        "sd2",
        "inpainting",
        listings.sd2(replace(SD2, in_channels=9)),
    ),
    "SD 2 UNet": ("sd2", "base", listings.ldm_unet(SD2)),
    "SDXL": ("sdxl", "base", listings.sdxl()),
    "SDXL inpainting": (
        "sdxl",
        "inpainting",
        listings.sdxl(replace(SDXL, in_channels=9)),
    ),
    "SDXL instruct-pix2pix": (
        "sdxl",
        "instruct-pix2pix",
        listings.sdxl(replace(SDXL, in_channels=8)),
    ),
    "SDXL UNet": ("sdxl", "base", prefixed(UNET, listings.ldm_unet(SDXL))),
    "bare SDXL UNet": ("sdxl", "base", listings.ldm_unet(SDXL)),
    "SDXL without text encoders": ("sdxl", "base", _SDXL_WITHOUT_TEXT),
    "SDXL refiner": ("sdxl_refiner", "base", listings.sdxl_refiner()),
    "Flux.1 dev": ("flux1", "dev", flux.original()),
    "Flux.1 schnell": ("flux1", "schnell", prefixed(UNET, flux.original(flux.SCHNELL))),
    "Z-Image": ("zimage", "turbo", zimage.diffusers()),
    "Z-Image, original": ("zimage", "turbo", prefixed(UNET, zimage.original())),
    "Chroma": ("chroma", "base", chroma.original()),
    "SD 3 medium": ("sd3", "medium", prefixed(UNET, sd3.original())),
    "FLUX.2 klein 4B": ("flux2", "klein", prefixed(UNET, flux2.original())),
    "FLUX.2 klein 9B": ("flux2", "klein", flux2.original(flux2.KLEIN_9B)),
    "SD 3.5 medium": ("sd3", "3.5-medium", sd3.original(sd3.MEDIUM_35)),
    **{name: ("sdxl", name, listings.sdxl(sizes)) for name, sizes in PRUNED_SDXL.items()},
}
OTHERS: dict[str, tuple[str, Listing]] = {
    "AuraFlow": ("an AuraFlow model", other_listings.aura_flow()),
    "Flux.2": ("a Flux.2 model", other_listings.flux2()),
    "kohya LoRA": ("a LoRA", other_listings.kohya_lora()),
    "Flux LoRA": ("a LoRA", other_listings.peft_flux_lora()),
    **{
        name: ("a LyCORIS LoRA", other_listings.lycoris(*endings))
        for name, endings in {
            "LoHa": (".hada_w1_a", ".hada_w1_b", ".hada_w2_a", ".hada_w2_b", ".alpha"),
            "LoKr": (".lokr_w1", ".lokr_w2_a", ".lokr_w2_b", ".alpha"),
            "(IA)^3": (".weight", ".on_input"),
            "Diag-OFT": (".oft_blocks", ".alpha"),
            "OFT of kohya": (".oft_diag", ".alpha"),
            "GLoRA": (".a1.weight", ".a2.weight", ".b1.weight", ".b2.weight", ".alpha"),
            "whole differences": (".diff", ".diff_b"),
            "norms": (".w_norm", ".b_norm"),
            "OFT of OneTrainer": (".oft_R.weight", ".oft_R.scaled_oft"),
        }.items()
    },
    "LoCon": (
        "a LoRA",
        other_listings.lycoris(".lora_down.weight", ".lora_mid.weight", ".lora_up.weight"),
    ),
    "OpenCLIP": ("a CLIP text encoder", listings.open_clip()),
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
    listing = TensorListing(read_index(write_sparse(tmp_path / "x.safetensors", names)).tensors)
    families = [family.name for family in FAMILIES if family.recognise(listing)]
    kind = recognise(listing).kind
    return [*families, kind.title] if kind else families


@pytest.mark.parametrize("layout", SD1_FILES)
def test_sd1_files_are_sd1_and_nothing_else(tmp_path: Path, layout: str) -> None:
    assert verdicts(tmp_path, SD1_FILES[layout]) == ["sd1"]


@pytest.mark.parametrize("layout", FAMILY_FILES)
def test_each_family_knows_its_files_alone(tmp_path: Path, layout: str) -> None:
    family, variant, names = FAMILY_FILES[layout]
    assert verdicts(tmp_path, names) == [family]
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", names))
    assert (checkpoint.family, checkpoint.variant) == (family, variant)


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


def test_a_checkpoint_of_no_family_in_words(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        identify(write_sparse(tmp_path / "f.safetensors", other_listings.aura_flow()))
    runs = "SD 1.x, SD 2.x, SDXL, SDXL refiner, Flux.1, Z-Image, Chroma, SD 3.x, FLUX.2 klein"
    assert caught.value.message == "f.safetensors is an AuraFlow model, which is not run yet."
    assert caught.value.hint == f"Choose a model of one of these: {runs}."


def test_a_lone_vae_is_told_how_to_be_used(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        identify(write_sparse(tmp_path / "vae.safetensors", listings.ldm_vae()))
    assert caught.value.message == "vae.safetensors is a VAE, not a model."
    assert caught.value.remedies == (UseAsPart(components=("vae",)),)


def test_anything_else_is_unknown(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "x.safetensors", {"layers.0.weight": (4, 4), "b": (3,)})
    with pytest.raises(EngineError) as caught:
        identify(path)
    assert caught.value.message == "x.safetensors is not a model this version knows."
    assert caught.value.detail == "2 tensors: 'b', 'layers.0.weight'"
