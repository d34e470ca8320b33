"""Pictures that a refiner finishes, beside diffusers' two pipelines."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

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

from engine.api.request import InputImage, RefinerChoice, SizeOptions  # noqa: E402
from engine.api.values import InputRole, SamplerName, ScheduleName  # noqa: E402
from engine.families import identify  # noqa: E402
from tests.oracle.sdxl_folder import write_pipeline, write_refiner  # noqa: E402
from tests.oracle.test_sdxl_pipeline import (  # noqa: E402
    SEED,
    SIDE,
    TEXTS,
    THEIRS,
    check,
    our_picture,
)
from tests.pipeline.jobs import psnr  # noqa: E402

SCORES = {"aesthetic_score": 7.5, "negative_aesthetic_score": 1.5}


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("refined")
    return write_pipeline(folder), write_refiner(folder)


def opened(kind, folder: Path, scheduler=None):
    pipe = kind.from_pretrained(folder, add_watermarker=False)
    if scheduler is not None:
        pipe.scheduler = scheduler(pipe.scheduler.config)
    pipe.set_progress_bar_config(disable=True)
    return pipe


def their_picture(folders, at: float, scheduler=None, texts=TEXTS, **scores) -> np.ndarray:
    base = opened(diffusers.StableDiffusionXLPipeline, folders[0], scheduler)
    refiner = opened(diffusers.StableDiffusionXLImg2ImgPipeline, folders[1], scheduler)
    refiner.vae = base.vae
    generator = torch.Generator("cpu").manual_seed(SEED)
    given = {**THEIRS, "generator": generator, **texts}
    size = {"width": SIDE, "height": SIDE}
    latents = base(**{**given, "output_type": "latent"}, **size, denoising_end=at).images
    images = refiner(**given, **scores, image=latents, denoising_start=at).images
    return np.rint(images[0] * 255).astype(np.uint8)


def ours(folders, at: float, **changes) -> np.ndarray:
    refiner = RefinerChoice(checkpoint=str(folders[1]), switch_at=at)
    return our_picture(folders[0], "cpu", **{**TEXTS, "refiner": refiner, **changes})


def test_a_refiner_is_identified(folders) -> None:
    refiner = identify(folders[1])
    assert refiner.family == "sdxl_refiner"
    assert refiner.tokenizer == folders[1] / "tokenizer_2"


@pytest.mark.parametrize("at", [0.5, 0.8])
def test_a_handover_at_a_step_equals_diffusers(folders, at: float) -> None:
    picture = ours(folders, at)
    check(picture, their_picture(folders, at))
    assert psnr(picture, our_picture(folders[0], "cpu", **TEXTS)) < 40


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
    random = np.random.default_rng(0)
    small = random.integers(0, 256, (SIDE // 8, SIDE // 8, 3), dtype=np.uint8)
    picture = Image.fromarray(small).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    picture.save(tmp_path / "init.png")
    pixels = torch.from_numpy(np.asarray(picture, np.float32) / 255).permute(2, 0, 1)[None]
    pipe = opened(diffusers.StableDiffusionXLImg2ImgPipeline, folders[1])
    generator = torch.Generator("cpu").manual_seed(SEED)
    expected = pipe(**THEIRS, **TEXTS, generator=generator, image=pixels, strength=0.5).images
    init = InputImage(role=InputRole.INIT, path=str(tmp_path / "init.png"))
    redrawn = our_picture(folders[1], "cpu", **TEXTS, inputs=(init,), strength=0.5)
    check(redrawn, np.rint(expected[0] * 255).astype(np.uint8))
