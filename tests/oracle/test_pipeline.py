"""Whole pictures beside diffusers' pipelines: the same weights, prompts, noise and schedule."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

import logging
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from backends.base import Precision  # noqa: E402
from backends.registry import find  # noqa: E402
from engine.api.request import InputImage  # noqa: E402
from engine.api.values import InputRole, SamplerName, ScheduleName  # noqa: E402
from engine.families import identify  # noqa: E402
from tests.oracle.diffusers_pictures import opened  # noqa: E402
from tests.pipeline.jobs import a_request, psnr, run  # noqa: E402
from tests.thinned import thinned  # noqa: E402
from tests.tiny_checkpoint import SIDE, write_checkpoint  # noqa: E402

LOG = logging.getLogger(__name__)
STEPS, SEED, GUIDANCE = 10, 7, 7.0
PROMPTS = {"prompt": "a red horse, blue house", "negative_prompt": "blur"}
BETAS = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}

BACKENDS = "cpu", "intel_openvino"
backends = pytest.mark.parametrize("backend_name", BACKENDS)


@pytest.fixture(scope="module", params=["epsilon", "v_prediction"])
def checkpoint(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint")
    return write_checkpoint(folder / "tiny", prediction=request.param)


def scheduler(kind, prediction: str, **options):
    return kind(
        num_train_timesteps=1000, prediction_type=prediction, steps_offset=1, **BETAS, **options
    )


CASES = {
    "euler": (
        SamplerName.EULER,
        ScheduleName.NORMAL,
        lambda kind: scheduler(diffusers.EulerDiscreteScheduler, kind, timestep_spacing="linspace"),
    ),
    "dpmpp_2m_karras": (
        SamplerName.DPMPP_2M,
        ScheduleName.KARRAS,
        lambda kind: scheduler(diffusers.DPMSolverMultistepScheduler, kind, use_karras_sigmas=True),
    ),
    "dpmpp_2m_trailing": (
        SamplerName.DPMPP_2M,
        ScheduleName.SGM_UNIFORM,
        lambda kind: scheduler(
            diffusers.DPMSolverMultistepScheduler, kind, timestep_spacing="trailing"
        ),
    ),
    "ddim": (
        SamplerName.DDIM,
        ScheduleName.SGM_UNIFORM,
        lambda kind: scheduler(
            diffusers.DDIMScheduler,
            kind,
            timestep_spacing="trailing",
            clip_sample=False,
            set_alpha_to_one=False,
        ),
    ),
}


def pipeline(kind, folder: Path, made):
    return opened(kind, folder, safety_checker=None, scheduler=made)


def as_levels(images) -> np.ndarray:
    return np.rint(images[0] * 255).astype(np.uint8)


def generator():
    return torch.Generator("cpu").manual_seed(SEED)


# Samplers run on the processor whatever the backend.
OFTEN = {*product(("cpu",), CASES), ("intel_openvino", "euler")}


@pytest.mark.parametrize(
    ("backend_name", "case"), thinned(product(BACKENDS, CASES), OFTEN, pytest.mark.slow)
)
def test_text_to_image_equals_diffusers(checkpoint: Path, backend_name: str, case: str) -> None:
    sampler, schedule, make = CASES[case]
    found = find(backend_name)
    assert found
    made = make(identify(checkpoint).prediction.value)
    theirs = pipeline(diffusers.StableDiffusionPipeline, checkpoint, made)(
        **PROMPTS,
        width=SIDE,
        height=SIDE,
        num_inference_steps=STEPS,
        guidance_scale=GUIDANCE,
        generator=generator(),
        output_type="np",
    ).images
    request = a_request(
        checkpoint,
        **PROMPTS,
        steps=STEPS,
        seed=SEED,
        guidance=GUIDANCE,
        sampler=sampler,
        schedule=schedule,
    )
    ours = run(request, found.create(), (Precision.F32,)).pixels[0]
    measured = psnr(ours, as_levels(theirs))
    LOG.info("PSNR %.1f dB", measured)
    assert ours.std() > 20
    assert measured >= 50


@backends
def test_image_to_image_equals_diffusers(
    checkpoint: Path, backend_name: str, tmp_path: Path
) -> None:
    found = find(backend_name)
    assert found
    random = np.random.default_rng(0)
    small = random.integers(0, 256, (SIDE // 8, SIDE // 8, 3), dtype=np.uint8)
    picture = Image.fromarray(small).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    picture.save(tmp_path / "init.png")
    made = CASES["euler"][2](identify(checkpoint).prediction.value)
    pipe = pipeline(diffusers.StableDiffusionImg2ImgPipeline, checkpoint, made)
    pixels = torch.from_numpy(np.asarray(picture, np.float32) / 255).permute(2, 0, 1)[None]
    theirs = pipe(
        **PROMPTS,
        image=pixels,
        strength=0.6,  # six steps of ten
        num_inference_steps=STEPS,
        guidance_scale=GUIDANCE,
        generator=generator(),
        output_type="np",
    ).images
    request = a_request(
        checkpoint,
        **PROMPTS,
        steps=STEPS,
        seed=SEED,
        guidance=GUIDANCE,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.NORMAL,
        strength=0.6,
        inputs=(InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png")),),
    )
    result = run(request, found.create(), (Precision.F32,))
    assert result.log.steps[-1] == (6, 6)
    measured = psnr(result.pixels[0], as_levels(theirs))
    LOG.info("PSNR %.1f dB", measured)
    assert measured >= 50


@backends
def test_bfloat16_gives_nearly_the_same_picture(checkpoint: Path, backend_name: str) -> None:
    found = find(backend_name)
    assert found
    backend = found.create()
    if Precision.BF16 not in backend.probe()[0].precisions:
        pytest.skip("computes in float32 only")
    request = a_request(checkpoint, **PROMPTS, steps=STEPS, sampler=SamplerName.EULER)
    low = run(request, backend, (Precision.BF16, Precision.F32))
    exact = run(request, backend, (Precision.F32,))
    assert low.retries == ()
    measured = psnr(low.pixels[0], exact.pixels[0])
    LOG.info("PSNR %.1f dB", measured)
    assert measured >= 25
