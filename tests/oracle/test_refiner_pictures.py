"""Pictures that a refiner finishes, beside diffusers' two pipelines."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.oracle,
    # diffusers' schedulers hand tensors to NumPy in a way that NumPy 2.4 deprecates
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
torch = pytest.importorskip("torch")
diffusers = pytest.importorskip("diffusers")

from backends.base import Array  # noqa: E402
from engine.api.request import InputImage, RefinerChoice, SizeOptions  # noqa: E402
from engine.api.values import InputRole, SamplerName, ScheduleName  # noqa: E402
from engine.families import identify  # noqa: E402
from tests.oracle.diffusers_pictures import (  # noqa: E402
    SEED,
    SIZE,
    TEXTS,
    THEIRS,
    check,
    opened,
    our_pixels,
    their_pixels,
    write_init,
)
from tests.oracle.sdxl_folder import write_pipeline, write_refiner  # noqa: E402
from tests.pipeline.jobs import psnr  # noqa: E402

SCORES = {"aesthetic_score": 7.5, "negative_aesthetic_score": 1.5}


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("refined")
    return write_pipeline(folder), write_refiner(folder)


def their_picture(folders, at: float, scheduler=None, texts=TEXTS, **scores) -> Array:
    base = opened(diffusers.StableDiffusionXLPipeline, folders[0])
    refiner = opened(diffusers.StableDiffusionXLImg2ImgPipeline, folders[1], vae=base.vae)
    if scheduler is not None:
        for pipe in (base, refiner):
            pipe.scheduler = scheduler(pipe.scheduler.config)
    # The refiner's noise follows the base's.
    generator = torch.Generator("cpu").manual_seed(SEED)
    given = {**THEIRS, "output_type": "latent", "generator": generator, **texts}
    latents = base(**given, **SIZE, denoising_end=at).images
    changes = {"generator": generator, "image": latents, "denoising_start": at}
    return their_pixels(refiner, **changes, **texts, **scores)


def ours(folders, at: float, **changes) -> Array:
    refiner = RefinerChoice(checkpoint=str(folders[1]), switch_at=at)
    return our_pixels(folders[0], **{**TEXTS, "refiner": refiner, **changes})


def test_a_refiner_is_identified(folders) -> None:
    refiner = identify(folders[1])
    assert refiner.family == "sdxl_refiner"
    assert refiner.tokenizer == folders[1] / "tokenizer_2"


@pytest.mark.parametrize("at", [0.5, 0.8])
def test_a_handover_at_a_step_equals_diffusers(folders, at: float) -> None:
    picture = ours(folders, at)
    check(picture, their_picture(folders, at))
    assert psnr(picture, our_pixels(folders[0], **TEXTS)) < 40


def multistep(config):
    return diffusers.DPMSolverMultistepScheduler.from_config(config, use_karras_sigmas=True)


def ancestral(config):
    return diffusers.EulerAncestralDiscreteScheduler.from_config(config)


def test_a_multistep_sampler_starts_again_after_the_handover(folders) -> None:
    picture = ours(folders, 0.5, sampler=SamplerName.DPMPP_2M, schedule=ScheduleName.KARRAS)
    check(picture, their_picture(folders, 0.5, multistep))


def test_the_noise_of_the_steps_continues_after_the_handover(folders) -> None:
    picture = ours(folders, 0.5, sampler=SamplerName.EULER_ANCESTRAL)
    check(picture, their_picture(folders, 0.5, ancestral))


def test_aesthetic_scores_and_an_empty_negative_prompt_equal_diffusers(folders) -> None:
    """The base zeroes what the refiner encodes."""
    texts = {"prompt": TEXTS["prompt"]}
    options = SizeOptions(aesthetic_score=7.5, negative_aesthetic_score=1.5)
    picture = ours(folders, 0.5, **texts, negative_prompt="", size_options=options)
    check(picture, their_picture(folders, 0.5, texts=texts, **SCORES))


def test_the_refiner_alone_redraws_a_picture(folders, tmp_path: Path) -> None:
    pixels = write_init(tmp_path / "init.png")
    pipe = opened(diffusers.StableDiffusionXLImg2ImgPipeline, folders[1])
    expected = their_pixels(pipe, **TEXTS, image=pixels, strength=0.5)
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png"))
    redrawn = our_pixels(folders[1], **TEXTS, inputs=(init,), strength=0.5)
    check(redrawn, expected)
