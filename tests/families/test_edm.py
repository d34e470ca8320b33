"""Denoisers that were trained as in EDM: which they are, for which levels, over which latents."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from backends.base import DType
from engine.api.request import CheckpointOverride, ComponentFiles
from engine.api.values import ErrorCode, PredictionType
from engine.checkpoints.files import read_index
from engine.errors import EngineError
from engine.families import IdentifiedCheckpoint, identify
from engine.families.identify import supply
from engine.families.latents import LatentStatistics
from engine.families.shared.stable_diffusion.latent_spaces import PLAYGROUND
from engine.sampling.noise_model import VarianceExploding
from engine.sampling.schedules.edm import EdmLevels
from tests.checkpoints.files import write_sparse
from tests.families import folders, listings

MEAN, DEVIATION = (-1.0, 2.0, -0.5, 0.25), (8.0, 6.0, 7.0, 5.0)
_PARTS = (listings.SMALL_VAE, listings.SMALL_CLIP, listings.SMALL_OPEN_CLIP)
SMALL = listings.sdxl(listings.SMALL_SDXL, *_PARTS)
_PLAYGROUND = {"edm_mean": (1, 4, 1, 1), "edm_std": (1, 4, 1, 1)}
_COSXL = {"edm_vpred.sigma_max": (), "edm_vpred.sigma_min": ()}


def written(path: Path, values: Mapping[str, tuple[float, ...]], shapes: listings.Listing) -> Path:
    """An SDXL file with these numbers beside its weights, which are zeros."""
    write_sparse(path, {**SMALL, **shapes}, DType.F32, {"modelspec.prediction_type": "v"})
    index = read_index(path)
    with path.open("r+b") as file:
        for name, numbers in values.items():
            file.seek(index.tensors[name].offset)
            file.write(np.array(numbers, np.float32).tobytes())
    return path


def levels_of(checkpoint: IdentifiedCheckpoint) -> EdmLevels | None:
    noise = checkpoint.architecture.noise
    assert isinstance(noise, VarianceExploding)
    return noise.levels


def playground(path: Path) -> Path:
    return written(path, {"edm_mean": MEAN, "edm_std": DEVIATION}, _PLAYGROUND)


def test_playground_by_its_keys(tmp_path: Path) -> None:
    checkpoint = identify(playground(tmp_path / "x.safetensors"))
    assert checkpoint.prediction is PredictionType.EDM
    assert levels_of(checkpoint) == EdmLevels(0.002, 80.0, 0.5)
    assert checkpoint.latent.scale == 0.5
    assert checkpoint.latent.statistics == LatentStatistics(MEAN, DEVIATION)
    assert checkpoint.latent.preview == PLAYGROUND.preview
    assert "keys edm_mean, edm_std" in str(checkpoint.evidence[-1])


def test_latents_of_playground_are_normalised_by_channel(tmp_path: Path) -> None:
    form = identify(playground(tmp_path / "x.safetensors")).latent
    latent = np.random.default_rng(0).standard_normal((1, 4, 2, 3)).astype(np.float32)
    scaled = form.scaled(latent)
    np.testing.assert_allclose(scaled[0, 1], (latent[0, 1] - 2) * 0.5 / 6, rtol=1e-6)
    np.testing.assert_allclose(form.scaled_change(latent)[0, 1], latent[0, 1] * 0.5 / 6, rtol=1e-6)
    np.testing.assert_allclose(form.unscaled(scaled), latent, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ({"edm_vpred.sigma_max": (100.0,), "edm_vpred.sigma_min": (0.01,)}, (0.01, 100.0)),
        ({"edm_vpred.sigma_max": (100.0,)}, (0.002, 100.0)),
    ],
)
def test_cosxl_by_its_keys(
    tmp_path: Path, values: dict[str, tuple[float, ...]], levels: tuple[float, float]
) -> None:
    path = written(tmp_path / "x.safetensors", values, {name: _COSXL[name] for name in values})
    checkpoint = identify(path)
    assert checkpoint.prediction is PredictionType.EDM_V
    found = levels_of(checkpoint)
    assert found is not None
    assert (found.sigma_min, found.sigma_max) == pytest.approx(levels)
    assert found.sigma_data == 1
    assert checkpoint.latent.scale == 0.13025
    assert checkpoint.latent.statistics is None


@pytest.mark.parametrize(
    ("values", "shapes"),
    [
        ({"edm_mean": MEAN, "edm_std": (8.0, 0.0, 7.0, 5.0)}, _PLAYGROUND),
        ({"edm_mean": (float("nan"), 0, 0, 0), "edm_std": DEVIATION}, _PLAYGROUND),
        ({"edm_mean": MEAN[:1], "edm_std": DEVIATION}, _PLAYGROUND | {"edm_mean": (1,)}),
        ({"edm_mean": (), "edm_std": ()}, _PLAYGROUND | {"edm_mean": (0,)}),
        ({"edm_vpred.sigma_max": (0.001,)}, {"edm_vpred.sigma_max": ()}),
        ({"edm_vpred.sigma_max": (float("inf"),)}, {"edm_vpred.sigma_max": ()}),
        ({"edm_vpred.sigma_max": (3.0, 4.0)}, {"edm_vpred.sigma_max": (2,)}),
    ],
)
def test_impossible_numbers_are_refused(
    tmp_path: Path, values: dict[str, tuple[float, ...]], shapes: listings.Listing
) -> None:
    with pytest.raises(EngineError) as caught:
        identify(written(tmp_path / "x.safetensors", values, shapes))
    assert caught.value.code is ErrorCode.CHECKPOINT_CORRUPT


def scheduler(kind: str, **said: object) -> dict[str, object]:
    return {"_class_name": kind, "prediction_type": "epsilon", **said}


@pytest.mark.parametrize(
    ("said", "prediction", "levels"),
    [
        (scheduler("EDMEulerScheduler"), PredictionType.EDM, EdmLevels(0.002, 80.0, 0.5)),
        (
            scheduler("EDMDPMSolverMultistepScheduler", sigma_min=0.01, sigma_max=70, sigma_data=2),
            PredictionType.EDM,
            EdmLevels(0.01, 70.0, 2.0),
        ),
        (
            scheduler("EDMEulerScheduler", prediction_type="v_prediction", sigma_data=1.0),
            PredictionType.EDM_V,
            EdmLevels(0.002, 80.0, 1.0),
        ),
        (
            scheduler(
                "EulerDiscreteScheduler",
                timestep_type="continuous",
                prediction_type="v_prediction",
                sigma_max=120.0,
                beta_start=0.00085,
                beta_end=0.012,
                beta_schedule="scaled_linear",
            ),
            PredictionType.EDM_V,
            EdmLevels(0.002, 120.0, 1.0),
        ),
    ],
)
def test_a_folders_scheduler_states_prediction_and_levels(
    tmp_path: Path, said: dict[str, object], prediction: PredictionType, levels: EdmLevels
) -> None:
    checkpoint = identify(folders.write_folder(tmp_path / "x", scheduler=said))
    assert checkpoint.prediction is prediction
    assert levels_of(checkpoint) == levels
    # The folder's VAE has a scale of its own, and says nothing of channels.
    assert checkpoint.latent.statistics is None


def test_a_folders_vae_states_the_statistics_of_latents(tmp_path: Path) -> None:
    vae = folders.VAE | {"latents_mean": MEAN, "latents_std": DEVIATION}
    checkpoint = identify(folders.write_folder(tmp_path / "x", vae=vae))
    assert checkpoint.latent.statistics == LatentStatistics(MEAN, DEVIATION)


def test_another_vae_leaves_the_denoisers_numbers(tmp_path: Path) -> None:
    """The VAE is SDXL's: how its latents are normalised belongs to the training."""
    checkpoint = identify(playground(tmp_path / "x.safetensors"))
    other = write_sparse(tmp_path / "sdxl.safetensors", SMALL)
    supplied = supply(checkpoint, ComponentFiles(vae=str(other)))
    assert supplied.latent == checkpoint.latent
    plain = supply(identify(other), ComponentFiles(vae=str(checkpoint.path)))
    assert plain.latent == identify(other).latent


def test_another_denoiser_brings_its_own(tmp_path: Path) -> None:
    edm = playground(tmp_path / "x.safetensors")
    other = write_sparse(tmp_path / "sdxl.safetensors", SMALL)
    taken = supply(identify(other), ComponentFiles(denoiser=str(edm)))
    assert (taken.latent, levels_of(taken)) == (identify(edm).latent, levels_of(identify(edm)))
    given = supply(identify(edm), ComponentFiles(denoiser=str(other)))
    assert (given.latent, levels_of(given)) == (identify(other).latent, None)


def test_a_person_can_say_that_a_denoiser_was_trained_by_levels(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "x.safetensors", SMALL)
    said = identify(path, override=CheckpointOverride(prediction=PredictionType.EDM))
    assert levels_of(said) == EdmLevels(0.002, 80.0, 0.5)
    assert said.latent.statistics == PLAYGROUND.statistics
    assert "you say so" in str(said.evidence[-1])
