"""Pictures of denoisers that were trained as in EDM, beside diffusers and ComfyUI's formulas."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

import json
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from engine.api.request import InputImage  # noqa: E402
from engine.api.values import InputRole, PredictionType, SamplerName, ScheduleName  # noqa: E402
from engine.families import identify  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    SIZE,
    TEXTS,
    check,
    opened,
    our_pixels,
    their_pixels,
    write_init,
)
from tests.oracle.sdxl_folder import write_pipeline  # noqa: E402

# Playground 2.5's and CosXL's schedulers, with CosXL's schedule.
KARRAS = {"sigma_min": 0.002, "sigma_max": 80.0, "sigma_data": 0.5, "rho": 7.0}
COSXL = {
    "sigma_min": 0.002,
    "sigma_max": 120.0,
    "sigma_data": 1.0,
    "prediction_type": "v_prediction",
    "sigma_schedule": "exponential",
}
MEAN, DEVIATION = (-0.2, 0.3, -0.1, 0.15), (1.2, 0.9, 1.1, 0.8)

CASES = {
    "playground": (
        diffusers.EDMDPMSolverMultistepScheduler(**KARRAS),
        SamplerName.DPMPP_2M,
        ScheduleName.KARRAS,
        PredictionType.EDM,
    ),
    "playground_euler": (
        diffusers.EDMEulerScheduler(**KARRAS),
        SamplerName.EULER,
        ScheduleName.KARRAS,
        PredictionType.EDM,
    ),
    "cosxl": (
        diffusers.EDMEulerScheduler(**COSXL),
        SamplerName.EULER,
        ScheduleName.EXPONENTIAL,
        PredictionType.EDM_V,
    ),
}


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    """A folder as Playground's or CosXL's would be, and how our picture is asked for."""
    scheduler, sampler, schedule, prediction = CASES[request.param]
    folder = write_pipeline(tmp_path_factory.mktemp(request.param))
    scheduler.save_pretrained(folder / "scheduler")
    index = json.loads((folder / "model_index.json").read_text())
    index["scheduler"] = ["diffusers", type(scheduler).__name__]
    (folder / "model_index.json").write_text(json.dumps(index))
    if prediction is PredictionType.EDM:
        config = json.loads((folder / "vae" / "config.json").read_text())
        config |= {"latents_mean": MEAN, "latents_std": DEVIATION, "scaling_factor": 0.5}
        (folder / "vae" / "config.json").write_text(json.dumps(config))
    assert identify(folder).prediction is prediction
    return folder, {"sampler": sampler, "schedule": schedule, **TEXTS}


def test_text_to_image_equals_diffusers(case) -> None:
    folder, ours = case
    pipe = opened(diffusers.StableDiffusionXLPipeline, folder)
    check(our_pixels(folder, **ours), their_pixels(pipe, **SIZE, **TEXTS))


def test_image_to_image_equals_diffusers(case, tmp_path: Path) -> None:
    folder, ours = case
    pixels = write_init(tmp_path / "init.png")
    pipe = opened(diffusers.StableDiffusionXLImg2ImgPipeline, folder)
    expected = their_pixels(pipe, image=pixels, strength=0.5, **TEXTS)
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png"))
    check(our_pixels(folder, **ours, inputs=(init,), strength=0.5), expected)
