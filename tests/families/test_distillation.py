"""The defaults of few-step denoisers and of denoisers trained by levels."""

import json
from pathlib import Path

import pytest

from engine.api.values import PredictionType, SamplerName, ScheduleName
from engine.families import IdentifiedCheckpoint, identify
from engine.pipeline.resolve import suggested_settings
from tests.checkpoints.files import write_sparse
from tests.families import folders, listings

_PARTS = (listings.SMALL_VAE, listings.SMALL_CLIP, listings.SMALL_OPEN_CLIP)
SDXL = listings.sdxl(listings.SMALL_SDXL, *_PARTS)
TRAILING = ScheduleName.SGM_UNIFORM


def called(folder: Path, name: str, **metadata: str) -> IdentifiedCheckpoint:
    return identify(write_sparse(folder / f"{name}.safetensors", SDXL, metadata=metadata))


def first(checkpoint: IdentifiedCheckpoint) -> tuple[SamplerName, ScheduleName, int, float]:
    found = suggested_settings(checkpoint)[0]
    return found.sampler, found.schedule, found.steps, found.guidance


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("sd_xl_turbo_1.0_fp16", (SamplerName.EULER_ANCESTRAL, TRAILING, 1, 1.0)),
        ("sdxl_lightning_4step", (SamplerName.EULER, TRAILING, 4, 1.0)),
        ("realvisxlV40_v40LightningBakedvae", (SamplerName.EULER, TRAILING, 4, 1.0)),
        ("Hyper-SDXL-8steps", (SamplerName.EULER, TRAILING, 8, 1.0)),
        ("dmd2_sdxl_4step_unet_fp16", (SamplerName.LCM, TRAILING, 4, 1.0)),
        ("DreamShaperXL_LCM", (SamplerName.LCM, TRAILING, 6, 1.5)),
        (
            "dreamshaperXL_v21TurboDPMSDE",
            (SamplerName.DPMPP_SDE, ScheduleName.KARRAS, 6, 2.0),
        ),
    ],
)
def test_by_its_name_at_last(
    tmp_path: Path, name: str, settings: tuple[SamplerName, ScheduleName, int, float]
) -> None:
    checkpoint = called(tmp_path, name)
    assert first(checkpoint) == settings
    assert "the name of the file" in str(checkpoint.evidence[-2])


@pytest.mark.parametrize(
    "name", ["x", "hyperRealism_v2", "hyper_realistic", "lightningart", "calcm"]
)
def test_other_names_say_nothing(tmp_path: Path, name: str) -> None:
    checkpoint = called(tmp_path, name)
    assert first(checkpoint) == (SamplerName.DPMPP_2M, ScheduleName.KARRAS, 20, 7.0)


def test_few_steps_hold_for_any_sampler(tmp_path: Path) -> None:
    for settings in suggested_settings(called(tmp_path, "sdxl_lightning_2step")):
        assert (settings.steps, settings.guidance) == (2, 1.0)


def test_only_the_turbo_itself_is_for_512_pixels(tmp_path: Path) -> None:
    assert called(tmp_path, "sd_xl_turbo_1.0").default_size == 512
    assert called(tmp_path, "someTurbo_v1").default_size == 1024


def test_a_card_comes_before_the_name(tmp_path: Path) -> None:
    (tmp_path / "x-turbo.civitai.info").write_text(json.dumps({"baseModel": "SDXL Lightning"}))
    checkpoint = called(tmp_path, "x-turbo")
    assert first(checkpoint)[0] is SamplerName.EULER
    assert "x-turbo.civitai.info" in str(checkpoint.evidence[-2])
    titled = called(tmp_path, "y", **{"modelspec.title": "My SDXL Hyper 4 steps"})
    assert first(titled) == (SamplerName.EULER, TRAILING, 4, 1.0)


def test_civitais_base_model_of_merges_with_turbo_is_not_taken_for_turbo_itself(
    tmp_path: Path,
) -> None:
    card = {
        "baseModel": "SDXL Turbo",
        "name": "v2.1 Turbo DPM++ SDE",
        "model": {"name": "DreamShaper XL"},
    }
    for name in ("dreamshaperXL_v21TurboDPMSDE", "sd_xl_turbo_1.0"):
        (tmp_path / f"{name}.civitai.info").write_text(json.dumps(card))
    merged = called(tmp_path, "dreamshaperXL_v21TurboDPMSDE")
    assert first(merged) == (SamplerName.DPMPP_SDE, ScheduleName.KARRAS, 6, 2.0)
    assert merged.default_size == 1024
    itself = called(tmp_path, "sd_xl_turbo_1.0")
    assert first(itself) == (SamplerName.EULER_ANCESTRAL, TRAILING, 1, 1.0)


def test_guidance_in_the_time_embedding(tmp_path: Path) -> None:
    time = "model.diffusion_model.time_embed.cond_proj.weight"
    path = write_sparse(tmp_path / "x.safetensors", SDXL | {time: (32, 256)})
    assert first(identify(path)) == (SamplerName.LCM, TRAILING, 4, 8.0)


def test_a_folders_scheduler_decides_schedule_and_sampler(tmp_path: Path) -> None:
    spaced = folders.SCHEDULER | {"timestep_spacing": "trailing"}
    trailing = identify(folders.write_folder(tmp_path / "x", scheduler=spaced))
    assert first(trailing) == (SamplerName.DPMPP_2M, TRAILING, 20, 7.0)
    consistent = folders.SCHEDULER | {"_class_name": "LCMScheduler"}
    lcm = identify(folders.write_folder(tmp_path / "y" / "y", scheduler=consistent))
    assert first(lcm)[0] is SamplerName.LCM


def test_one_step_that_predicts_the_picture(tmp_path: Path) -> None:
    checkpoint = called(tmp_path, "sdxl_lightning_1step_x0")
    assert checkpoint.prediction is PredictionType.SAMPLE
    assert first(checkpoint) == (SamplerName.EULER, TRAILING, 1, 1.0)
