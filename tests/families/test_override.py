"""A person's word counts where a file leaves something open, and not against its shapes."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.api.remedies import DeclareFamily
from engine.api.request import CheckpointOverride, ComponentFiles
from engine.api.values import ErrorCode, PredictionType
from engine.errors import EngineError
from engine.families import IdentifiedCheckpoint, identify, supply
from engine.families.registry import FAMILIES
from tests.checkpoints.files import write_sparse
from tests.families import listings, other_listings
from tests.families.folders import write_folder
from tests.families.listings import Listing
from tests.families.test_identify import SMALL

WHOLE: dict[str, Listing] = {
    "sd1": SMALL,
    "sd2": listings.sd2(),
    "sdxl": listings.sdxl(),
    "sdxl_refiner": listings.sdxl_refiner(),
}


def said(path: Path, **words: object) -> IdentifiedCheckpoint:
    return identify(path, override=CheckpointOverride(**words))  # pyright: ignore[reportArgumentType]


def failure(path: Path, family: str) -> EngineError:
    with pytest.raises(EngineError) as caught:
        said(path, family=family)
    return caught.value


@pytest.mark.parametrize("family", WHOLE)
def test_each_family_can_be_said_of_its_own_and_of_no_others(tmp_path: Path, family: str) -> None:
    path = write_sparse(tmp_path / "x.safetensors", WHOLE[family])
    plain = identify(path)
    agreed = said(path, family=family)
    assert replace(agreed, override=plain.override) == plain
    for other in FAMILIES:
        if other.name != family:
            error = failure(path, other.name)
            assert error.code is ErrorCode.CHECKPOINT_MISMATCH
            assert error.message.startswith(f"x.safetensors cannot be taken for {other.title}: ")


@pytest.mark.parametrize(
    ("names", "family", "reason"),
    [
        (SMALL, "sdxl", "its UNet projects by convolution"),
        (listings.sdxl(), "sd1", "its UNet projects by linear layers"),
        (listings.sdxl(), "sd2", "its UNet is told the picture's size"),
        (listings.sd2(), "sdxl", "its UNet is not told the picture's size"),
        (listings.sdxl_refiner(), "sdxl", "its shapes are SDXL refiner's"),
    ],
)
def test_the_reason_is_in_the_shapes(
    tmp_path: Path, names: Listing, family: str, reason: str
) -> None:
    error = failure(write_sparse(tmp_path / "x.safetensors", names), family)
    assert error.message.endswith(f": {reason}.")
    assert "Leave its family to the file." in error.hint


def test_a_family_is_said_of_shapes_that_leave_it_open(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "x.safetensors", listings.ldm_unet(listings.SMALL_SDXL))
    with pytest.raises(EngineError) as caught:
        identify(path)
    assert caught.value.remedies == (DeclareFamily(families=("sdxl", "sdxl_refiner")),)
    assert said(path, family="sdxl").family == "sdxl"
    assert said(path, family="sdxl_refiner").family == "sdxl_refiner"
    assert "projects by linear layers" in failure(path, "sd1").message


def test_no_word_makes_a_checkpoint_of_something_else(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "x.safetensors", other_listings.kohya_lora())
    assert failure(path, "sd1").message.startswith("x.safetensors is a LoRA")
    path = write_sparse(tmp_path / "y.safetensors", {"w": (4, 4)})
    assert "it has no UNet for pictures" in failure(path, "sd1").message


def test_a_family_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    error = failure(write_sparse(tmp_path / "x.safetensors", SMALL), "sd9")
    assert error.code is ErrorCode.REQUEST_INVALID
    names = "sd1, sd2, sdxl, sdxl_refiner, flux1, zimage, chroma, sd3, flux2"
    assert error.hint == f"Families: {names}."


@pytest.mark.parametrize("prediction", PredictionType)
def test_a_prediction_is_said_of_files_and_folders(
    tmp_path: Path, prediction: PredictionType
) -> None:
    file = write_sparse(tmp_path / "x.safetensors", {**SMALL, "v_pred": (0,)})
    for path in (file, write_folder(tmp_path / "folder")):
        checkpoint = said(path, prediction=prediction)
        assert checkpoint.prediction is prediction
        assert checkpoint.parts.denoiser.unstated is None
        assert "because you say so" in str(checkpoint.evidence[-1])
        differs = prediction is not PredictionType.V
        assert ("(found: v-prediction because" in str(checkpoint.evidence[-1])) == differs


def test_a_prediction_is_said_of_a_denoiser_from_another_file_too(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "x.safetensors", SMALL)
    keyed = write_sparse(tmp_path / "y.safetensors", {**SMALL, "v_pred": (0,)})
    checkpoint = supply(
        said(path, prediction=PredictionType.EPSILON), ComponentFiles(denoiser=str(keyed))
    )
    assert checkpoint.prediction is PredictionType.EPSILON
    assert supply(identify(path), ComponentFiles(denoiser=str(keyed))).prediction is (
        PredictionType.V
    )


def test_evidence_names_the_keys_that_decided(tmp_path: Path) -> None:
    names = {**listings.sdxl(), "v_pred": (0,), "ztsnr": (0,)}
    checkpoint = identify(write_sparse(tmp_path / "x.safetensors", names))
    because = "SDXL, v-prediction because key v_pred; key ztsnr"
    assert str(checkpoint.evidence[-1]) == because
    assert checkpoint.zero_terminal_snr
