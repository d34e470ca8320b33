"""Parts from other files: what is taken, what comes with it, and what does not fit."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.api.remedies import SupplyParts
from engine.api.request import ComponentFiles
from engine.api.values import ErrorCode, PredictionType
from engine.errors import EngineError
from engine.families import Component, IdentifiedCheckpoint, identify, require_complete, supply
from engine.weights.sources import as_source
from tests.checkpoints.files import write_sparse
from tests.families import listings, other_listings
from tests.families.folders import canonical, write_folder
from tests.families.listings import CLIP, UNET, VAE, Listing
from tests.families.test_identify import SMALL
from tests.single_file import write_single_file


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return write_sparse(tmp_path / "whole.safetensors", SMALL)


def only(prefix: str) -> Listing:
    return {name: shape for name, shape in SMALL.items() if name.startswith(prefix)}


def file_of(checkpoint: IdentifiedCheckpoint, component: Component) -> str:
    weights = checkpoint.components[component].weights.values()
    (name,) = {part.path.name for weight in weights for part in as_source(weight).parts()}
    return name


def failure(checkpoint: IdentifiedCheckpoint, files: ComponentFiles) -> EngineError:
    with pytest.raises(EngineError) as caught:
        supply(checkpoint, files)
    return caught.value


def test_a_whole_checkpoint_without_chosen_parts_stays_itself(whole: Path) -> None:
    checkpoint = identify(whole)
    assert supply(checkpoint, ComponentFiles()) == checkpoint


def test_a_unet_file_is_completed_by_parts_alone_and_parts_of_others(
    tmp_path: Path, whole: Path
) -> None:
    bare = listings.ldm_unet(listings.SMALL_UNET)
    checkpoint = identify(write_sparse(tmp_path / "unet.safetensors", bare))
    with pytest.raises(EngineError) as caught:
        require_complete(checkpoint)
    assert caught.value.message == "unet.safetensors has no text encoder and no VAE."
    assert caught.value.remedies == (SupplyParts(components=("text_encoder", "vae")),)
    vae = write_sparse(tmp_path / "vae.safetensors", listings.ldm_vae(listings.EIGHTFOLD_VAE))
    files = ComponentFiles(vae=str(vae), text_encoder=str(whole))
    supplied = supply(checkpoint, files)
    assert supplied.missing == ()
    assert file_of(supplied, Component.VAE) == "vae.safetensors"
    assert file_of(supplied, Component.TEXT_ENCODER) == "whole.safetensors"
    assert supplied.path == checkpoint.path
    assert supplied.digest not in {checkpoint.digest, identify(whole).digest}
    vae_line = "VAE from vae.safetensors: VAE of widths 32-32-32-32, 4 latent channels"
    assert vae_line in map(str, supplied.evidence)


@pytest.mark.parametrize(
    ("component", "names"),
    [
        (Component.VAE, only(VAE)),
        (Component.VAE, listings.ldm_vae(listings.SMALL_VAE)),
        (Component.TEXT_ENCODER, only(CLIP)),
        (Component.TEXT_ENCODER, listings.clip_text(listings.SMALL_CLIP)),
        (Component.TEXT_ENCODER, listings.clip_text(listings.SMALL_CLIP, text_model=False)),
        (Component.DENOISER, only(UNET)),
        (Component.DENOISER, listings.ldm_unet(listings.SMALL_UNET)),
    ],
)
def test_each_part_in_each_form(
    tmp_path: Path, whole: Path, component: Component, names: Listing
) -> None:
    path = write_sparse(tmp_path / "part.safetensors", names)
    checkpoint = supply(identify(whole), ComponentFiles(**{component.value: str(path)}))
    assert file_of(checkpoint, component) == "part.safetensors"
    assert not checkpoint.missing


def test_a_diffusers_vae_file(tmp_path: Path, whole: Path) -> None:
    names = canonical(tmp_path)[Component.VAE]
    path = write_sparse(tmp_path / "diffusion_pytorch_model.safetensors", names)
    checkpoint = supply(identify(whole), ComponentFiles(vae=str(path)))
    before = identify(whole).components[Component.VAE].weights
    assert checkpoint.components[Component.VAE].weights.keys() == before.keys()


@pytest.mark.parametrize("inside", ["", "vae"])
def test_a_vae_folder_brings_its_scale(tmp_path: Path, whole: Path, inside: str) -> None:
    folder = write_folder(tmp_path / "small")
    checkpoint = supply(identify(whole), ComponentFiles(vae=str(folder / inside)))
    assert checkpoint.latent.scale == 0.5
    assert checkpoint.prediction is PredictionType.EPSILON


def test_a_vae_file_has_the_familys_scale(tmp_path: Path, whole: Path) -> None:
    folder = write_folder(tmp_path / "small")
    assert identify(folder).latent.scale == 0.5
    assert supply(identify(folder), ComponentFiles(vae=str(whole))).latent.scale == 0.18215


def test_a_denoiser_brings_its_prediction_and_size(tmp_path: Path, whole: Path) -> None:
    folder = write_folder(tmp_path / "small")
    for place in (folder, folder / "unet"):
        checkpoint = supply(identify(whole), ComponentFiles(denoiser=str(place)))
        assert checkpoint.prediction is PredictionType.V
        assert checkpoint.default_size == 64
        assert "prediction_type v_prediction" in str(checkpoint.evidence[-1])
    inpainting = listings.ldm_unet(replace(listings.SMALL_UNET, in_channels=9))
    path = write_sparse(tmp_path / "inpainting.safetensors", inpainting)
    checkpoint = supply(identify(folder), ComponentFiles(denoiser=str(path)))
    assert checkpoint.variant == "inpainting"
    assert checkpoint.prediction is PredictionType.EPSILON
    assert checkpoint.default_size == 512


def test_a_text_encoder_brings_its_tokenizer(tmp_path: Path, whole: Path) -> None:
    folder = write_folder(tmp_path / "small")
    for path in (folder, folder / "text_encoder"):
        checkpoint = supply(identify(whole), ComponentFiles(text_encoder=str(path)))
        assert checkpoint.tokenizer == folder / "tokenizer"
    same_words = supply(identify(folder), ComponentFiles(text_encoder=str(whole)))
    assert same_words.tokenizer == folder / "tokenizer"
    sizes = listings.ClipSizes(width=64, layers=2, vocabulary=99)
    other = write_sparse(tmp_path / "other.safetensors", listings.clip_text(sizes))
    assert supply(identify(folder), ComponentFiles(text_encoder=str(other))).tokenizer is None


@pytest.mark.parametrize(
    ("option", "names", "says"),
    [
        ("vae", only(UNET), "cannot supply the VAE: it has none"),
        ("vae", other_listings.kohya_lora(), "it is a LoRA"),
        ("vae", listings.sdxl(), "it is of the family SDXL"),
        ("denoiser", listings.sd2(), "it is of the family SD 2.x"),
        ("text_encoder", listings.ldm_vae(), "it is a VAE"),
        ("denoiser", other_listings.controlnet(), "it is a ControlNet"),
        ("text_encoder", listings.clip_text(), "it is 768 wide, the UNet needs one 64 wide"),
        (
            "vae",
            listings.ldm_vae(listings.VaeSizes(multipliers=(1, 2), latent=16)),
            "16 latent channels",
        ),
    ],
)
def test_a_part_that_does_not_fit_is_refused(
    tmp_path: Path, whole: Path, option: str, names: Listing, says: str
) -> None:
    path = write_sparse(tmp_path / "part.safetensors", names)
    error = failure(identify(whole), ComponentFiles(**{option: str(path)}))
    assert error.code is ErrorCode.CHECKPOINT_MISMATCH
    assert says in error.message


def test_a_file_that_is_not_there(tmp_path: Path, whole: Path) -> None:
    error = failure(identify(whole), ComponentFiles(vae=str(tmp_path / "none")))
    assert error.code is ErrorCode.CHECKPOINT_NOT_FOUND


def test_a_folder_without_the_part(tmp_path: Path, whole: Path) -> None:
    error = failure(identify(whole), ComponentFiles(vae=str(tmp_path)))
    assert "cannot supply the VAE" in error.message


def test_a_denoiser_from_elsewhere_makes_it_another_checkpoint_than_people_know(
    tmp_path: Path,
) -> None:
    path = write_single_file(tmp_path / "one.safetensors")
    checkpoint = identify(path)
    assert checkpoint.file is not None
    assert checkpoint.file.path == path
    assert supply(checkpoint, ComponentFiles(vae=str(path))).file == checkpoint.file
    assert supply(checkpoint, ComponentFiles(denoiser=str(path))).file is None
