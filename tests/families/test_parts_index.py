"""The files offered for a gap: all that fit and no other, the best first."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from engine.api.remedies import PartFile, SupplyParts
from engine.api.request import ComponentFiles
from engine.checkpoints import header
from engine.checkpoints.known_files import KnownFiles
from engine.errors import EngineError
from engine.families import identify, require_complete, supply
from engine.families.parts_index import PartsIndex
from tests.checkpoints.files import write_sparse
from tests.families import listings, other_listings
from tests.families.flux2 import files as flux2_files
from tests.families.folders import write_folder
from tests.families.listings import CLIP, UNET, VAE, Listing, prefixed
from tests.families.tiny_vaes import published_taef2_of_diffusers_names

CLIP_SIZES = listings.ClipSizes(width=64, layers=2)
SMALL = listings.original(listings.SMALL_UNET, listings.EIGHTFOLD_VAE, CLIP_SIZES)


@pytest.fixture
def parts_index(tmp_path: Path) -> PartsIndex:
    folder = tmp_path / "models"
    folder.mkdir()
    return PartsIndex(folder, KnownFiles(tmp_path / "known", lambda: 1 << 62))


def put(parts_index: PartsIndex, name: str, names: Listing) -> str:
    path = parts_index.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return str(write_sparse(path, names))


def lacking(folder: Path, names: Listing, *prefixes: str) -> Path:
    kept = {name: shape for name, shape in names.items() if not name.startswith(prefixes)}
    return write_sparse(folder / "mine.safetensors", kept)


def offered(parts_index: PartsIndex, path: Path) -> dict[str, list[str]]:
    gaps = parts_index.gaps(identify(path))
    return {gap.component: [fit.path for fit in gap.fits] for gap in gaps}


def test_a_whole_checkpoint_has_no_gaps(parts_index: PartsIndex, tmp_path: Path) -> None:
    put(parts_index, "vae.safetensors", listings.ldm_vae(listings.EIGHTFOLD_VAE))
    assert parts_index.gaps(identify(write_sparse(tmp_path / "x.safetensors", SMALL))) == ()


def test_parts_alone_come_before_those_of_checkpoints(
    parts_index: PartsIndex, tmp_path: Path
) -> None:
    whole = put(parts_index, "a/whole.safetensors", SMALL)
    vae = put(parts_index, "z/vae.safetensors", listings.ldm_vae(listings.EIGHTFOLD_VAE))
    clip = put(parts_index, "z/clip.safetensors", listings.clip_text(CLIP_SIZES))
    put(parts_index, "lora.safetensors", other_listings.kohya_lora())
    put(parts_index, "wide clip.safetensors", listings.clip_text())
    put(parts_index, "16 channels.safetensors", listings.ldm_vae(listings.VaeSizes(latent=16)))
    (parts_index.folder / "broken.safetensors").write_bytes(b"no header")
    assert offered(parts_index, lacking(tmp_path, SMALL, CLIP, VAE)) == {
        "text_encoder": [clip, whole],
        "vae": [vae, whole],
    }


def test_a_vae_that_sounds_like_another_familys_comes_last(
    parts_index: PartsIndex, tmp_path: Path
) -> None:
    """SD's and SDXL's have the same shapes."""
    path = lacking(tmp_path, listings.sdxl(), VAE)
    general = put(parts_index, "vae/vae-ft-mse-840000.safetensors", listings.ldm_vae())
    own = put(parts_index, "vae/sdxl_vae_fp16_fix.safetensors", listings.ldm_vae())
    whole = put(parts_index, "checkpoint.safetensors", listings.sdxl())
    put(parts_index, "other.safetensors", listings.original())
    assert offered(parts_index, path) == {"vae": [own, whole, general]}


def test_the_checkpoint_with_the_most_similar_name_comes_first(
    parts_index: PartsIndex, tmp_path: Path
) -> None:
    put(parts_index, "another.safetensors", SMALL)
    sibling = put(parts_index, "mine v2.safetensors", SMALL)
    assert offered(parts_index, lacking(tmp_path, SMALL, VAE))["vae"][0] == sibling


def test_a_tiny_vae_comes_last_however_alike_its_name(
    parts_index: PartsIndex, tmp_path: Path
) -> None:
    transformer = write_sparse(tmp_path / "flux-2-klein-4b.safetensors", flux2_files.original())
    tiny = put(parts_index, "taef2.safetensors", published_taef2_of_diffusers_names())
    small = put(parts_index, "vae/full_encoder_small_decoder.safetensors", flux2_files.narrow_vae())
    whole = {**prefixed(UNET, flux2_files.original()), **prefixed(VAE, flux2_files.vae())}
    checkpoint = put(parts_index, "checkpoint.safetensors", whole)
    assert offered(parts_index, transformer)["vae"] == [small, checkpoint, tiny]


def test_files_beside_it_and_diffusers_folders_count(
    parts_index: PartsIndex, tmp_path: Path
) -> None:
    clip = listings.clip_text(CLIP_SIZES)
    beside = write_sparse(tmp_path / "clip.safetensors", clip)
    folder = write_folder(parts_index.folder / "in a folder")
    found = offered(parts_index, lacking(tmp_path, SMALL, CLIP))
    assert found["text_encoder"][:2] == [str(beside), str(folder)]


def test_both_text_encoders_of_sdxl(parts_index: PartsIndex, tmp_path: Path) -> None:
    path = lacking(tmp_path, listings.sdxl(), "conditioner.")
    first = put(parts_index, "clip_l.safetensors", listings.clip_text())
    second = put(parts_index, "clip_g.safetensors", listings.open_clip())
    whole = put(parts_index, "whole.safetensors", listings.sdxl())
    found = offered(parts_index, path)
    assert found["text_encoder"] == [first, whole]
    assert found["text_encoder_2"] == [second, whole]


def test_a_known_file_is_not_read_again(
    parts_index: PartsIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(parts_index, "lora.safetensors", other_listings.kohya_lora())
    path = lacking(tmp_path, SMALL, VAE)
    checkpoint = identify(path)
    parts_index.gaps(checkpoint)

    def opened(raw: bytes, path: Path) -> header.Header:
        raise AssertionError(f"{path} was read again")

    monkeypatch.setattr("engine.checkpoints.safetensors.parse_header", opened)
    parts_index.gaps(checkpoint)
    put(parts_index, "lora.safetensors", {**other_listings.kohya_lora(), "more": (1,)})
    with pytest.raises(AssertionError, match="read again"):
        parts_index.gaps(checkpoint)


def test_the_error_names_what_fits(parts_index: PartsIndex, tmp_path: Path) -> None:
    checkpoint = identify(lacking(tmp_path, SMALL, VAE))
    vae = put(parts_index, "it's a vae.safetensors", listings.ldm_vae(listings.EIGHTFOLD_VAE))
    with pytest.raises(EngineError) as caught:
        require_complete(checkpoint, parts_index.gaps(checkpoint))
    assert caught.value.message == "mine.safetensors has no VAE."
    fits = PartFile(component="vae", path=vae)
    assert caught.value.remedies == (SupplyParts(components=("vae",), files=(fits,)),)
    assert caught.value.detail == f"vae: {vae}"


def test_a_folder_of_models_that_is_missing_holds_no_parts(tmp_path: Path) -> None:
    none = PartsIndex(tmp_path / "none", KnownFiles(tmp_path / "known"))
    (gap,) = none.gaps(identify(lacking(tmp_path, SMALL, VAE)))
    assert (gap.component, gap.fits) == ("vae", ())


# --- followed to the letter ---


def _unets() -> dict[str, Listing]:
    """UNets that attend to what those of each family attend to, and are small otherwise."""
    sd1 = listings.UNetSizes(width=32, multipliers=(1, 2), blocks=1, depths=(0, 1))
    sd2 = replace(sd1, context=1024, linear=True)
    return {
        "sd1": listings.ldm_unet(sd1),
        "sd2": listings.ldm_unet(sd2),
        "sdxl": listings.ldm_unet(replace(sd2, context=2048, added=2816)),
        "refiner": listings.ldm_unet(replace(sd2, context=1280, added=2560)),
    }


_L, _H, _G = (listings.ClipSizes(width, layers=1) for width in (768, 1024, 1280))
_VAE_SIZES = listings.EIGHTFOLD_VAE
PARTS: dict[str, Listing] = {
    "clip_l": listings.clip_text(_L),
    "clip_h": listings.open_clip(_H),
    "clip_g": listings.open_clip(_G),
    "clip_g without its projection": listings.clip_text(_G),
    "clip_l of few words": listings.clip_text(replace(_L, vocabulary=100)),
    "vae": listings.ldm_vae(_VAE_SIZES),
    "vae of factor 4": listings.ldm_vae(replace(_VAE_SIZES, multipliers=(1, 1, 1))),
    "vae of 16 channels": listings.ldm_vae(replace(_VAE_SIZES, latent=16)),
    "vae of 6 colours": {
        name: (shape[0], 6, 3, 3) if name == "encoder.conv_in.weight" else shape
        for name, shape in listings.ldm_vae(_VAE_SIZES).items()
    },
}


def _wholes() -> dict[str, Listing]:
    unets, vae = _unets(), listings.prefixed(VAE, PARTS["vae"])
    clip_l = listings.prefixed(CLIP, PARTS["clip_l"])
    open_clip = "cond_stage_model.model."
    xl_clip = listings.prefixed(listings.XL_CLIP, PARTS["clip_l"])
    xl_open_clip = listings.prefixed(listings.XL_OPEN_CLIP, PARTS["clip_g"])
    refiner = listings.prefixed("conditioner.embedders.0.model.", PARTS["clip_g"])
    texts = {
        "sd1": clip_l,
        "sd2": listings.prefixed(open_clip, PARTS["clip_h"]),
        "sdxl": xl_clip | xl_open_clip,
        "refiner": refiner,
    }
    return {
        f"a-{name}": listings.prefixed(UNET, unet) | texts[name] | vae
        for name, unet in unets.items()
    }


WHOLES = _wholes()
# What each lacks, by how the names of its missing parts begin.
GAPS = {
    "nothing but the UNet": ("cond_stage_model.", "conditioner.", VAE),
    "texts": ("cond_stage_model.", "conditioner."),
    "the first text": ("cond_stage_model.", listings.XL_CLIP),
    "the last text": (listings.XL_OPEN_CLIP, "conditioner.embedders.0.model."),
    "the VAE": (VAE,),
}


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> PartsIndex:
    """With every part and every whole checkpoint."""
    folder = tmp_path_factory.mktemp("stocked")
    for name, names in (PARTS | WHOLES).items():
        write_sparse(folder / f"{name}.safetensors", names)
    return PartsIndex(folder, KnownFiles(tmp_path_factory.mktemp("known"), lambda: 1 << 62))


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("name", WHOLES)
def test_whatever_is_offered_together_makes_a_whole(
    stocked: PartsIndex, tmp_path: Path, name: str, gap: str
) -> None:
    """Every part of the index for every gap: one for each gap, as they come, is accepted."""
    checkpoint = identify(lacking(tmp_path, WHOLES[name], *GAPS[gap]))
    fits = [gap.fits for gap in stocked.gaps(checkpoint)]
    assert all(fits)
    for chosen in product(*fits):
        files = zip(checkpoint.missing, chosen, strict=True)
        given = {component.value: fit.path for component, fit in files}
        require_complete(supply(checkpoint, ComponentFiles(**given)))


def test_an_encoder_that_leaves_no_room_for_the_other_is_not_offered(
    parts_index: PartsIndex, tmp_path: Path
) -> None:
    """SD 2's is as wide as half of what SDXL attends to, and nothing is as wide as the rest."""
    of_sd2 = put(parts_index, "a-sd2.safetensors", WHOLES["a-sd2"])
    of_sd1 = put(parts_index, "b-sd1.safetensors", WHOLES["a-sd1"])
    clip_g = put(parts_index, "clip-g.safetensors", PARTS["clip_g"])
    bare = identify(write_sparse(tmp_path / "unet-xl.safetensors", _unets()["sdxl"]))
    found = {gap.component: [fit.path for fit in gap.fits] for gap in parts_index.gaps(bare)}
    assert found["text_encoder"] == [of_sd1]
    assert found["text_encoder_2"] == [clip_g]
    with pytest.raises(EngineError, match="leaves room for the second text encoder"):
        supply(bare, ComponentFiles(text_encoder=of_sd2))


def test_a_vae_of_another_factor_is_neither_offered_nor_accepted(
    parts_index: PartsIndex, tmp_path: Path
) -> None:
    """The x4 upscaler's: its pictures are four times as large as its latents."""
    vae = put(parts_index, "x4.safetensors", PARTS["vae of factor 4"])
    checkpoint = identify(lacking(tmp_path, WHOLES["a-sd1"], VAE))
    assert parts_index.gaps(checkpoint)[0].fits == ()
    with pytest.raises(EngineError, match="4 times the latent's size"):
        supply(checkpoint, ComponentFiles(vae=vae))
