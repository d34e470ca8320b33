"""Masked and edited pictures beside A1111 and ComfyUI, written again in plain torch."""
# pyright: basic
# torch, diffusers and transformers are absent from the environment that is type-checked.

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFilter

pytestmark = [
    pytest.mark.oracle,
    # k-diffusion copies tensors by torch.tensor
    pytest.mark.filterwarnings("ignore:To copy construct from a tensor:UserWarning"),
]
for module in ("torch", "diffusers", "transformers", "scipy"):
    pytest.importorskip(module)

from backends.base import Precision  # noqa: E402
from backends.cpu import CpuBackend  # noqa: E402
from engine.api.masks import MaskedContent, MaskOptions  # noqa: E402
from engine.api.request import GuidanceOptions, InputImage  # noqa: E402
from engine.api.values import ConventionName, InputRole, SamplerName, ScheduleName  # noqa: E402
from tests.oracle.fidelity.picture import GUIDANCE, NEGATIVE, PROMPT, SEED, STEPS  # noqa: E402
from tests.oracle.masked_tools import (  # noqa: E402
    Masked,
    SeeingMore,
    render_a1111,
    render_comfy,
)
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run  # noqa: E402
from tests.tiny_checkpoint import SIDE, write_checkpoint  # noqa: E402

LOG = logging.getLogger(__name__)
LIMIT = 50
CONTENTS = {content.label: content for content in MaskedContent}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Checkpoints by their channels, a picture, a mask and a soft one, and larger ones."""
    folder = tmp_path_factory.mktemp("masked")
    for channels in (4, 8, 9):
        write_checkpoint(folder / str(channels), in_channels=channels)
    small = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    picture = Image.fromarray(small).resize((2 * SIDE, 2 * SIDE), Image.Resampling.BICUBIC)
    picture.save(folder / "large.png")
    picture.resize((SIDE, SIDE)).save(folder / "init.png")
    levels = np.zeros((2 * SIDE, 2 * SIDE), np.uint8)
    levels[27:81, 45:105] = 255
    mask = Image.fromarray(levels)
    mask.save(folder / "large mask.png")
    mask = mask.resize((SIDE, SIDE), Image.Resampling.NEAREST)
    mask.save(folder / "mask.png")
    mask.filter(ImageFilter.GaussianBlur(5)).save(folder / "soft.png")
    return folder


@pytest.fixture(scope="module")
def networks(folder: Path):
    loaded: dict[int, SeeingMore] = {}

    def get(channels: int) -> SeeingMore:
        if channels not in loaded:
            loaded[channels] = SeeingMore(folder / str(channels))
        return loaded[channels]

    return get


def ours(checkpoint: Path, tool: ConventionName, sampler: str, schedule: str, job: Masked, **more):
    images = [(InputRole.INIT, job.init), (InputRole.MASK, job.mask)]
    changes: dict[str, Any] = {
        "prompt": PROMPT,
        "negative_prompt": NEGATIVE,
        "steps": STEPS,
        "seed": SEED,
        "guidance": GUIDANCE,
        "sampler": SamplerName(sampler),
        "schedule": ScheduleName(schedule) if schedule else None,
        "convention": tool,
        "strength": job.strength,
        "inputs": tuple(InputImage(role=r, path=str(path)) for r, path in images if path),
        "guidance_options": GuidanceOptions(image_guidance=job.image_guidance),
    }
    request = a_request(checkpoint, **(changes | more))
    return run(request, CpuBackend(), (Precision.F32,), residency=RESIDENCY).pixels[0]


def check(made: np.ndarray, expected: np.ndarray) -> None:
    measured = psnr(made, expected)
    LOG.info("PSNR %.1f dB", measured)
    assert made.std() > 10
    assert measured >= LIMIT


# Channels, the tool's sampler and schedule, ours, and what else is asked for.
A1111 = {
    "original": (4, "Euler a", "Uniform", "euler_a", "normal", {}),
    "fill": (4, "DPM++ 2M", "Karras", "dpmpp_2m", "karras", {"content": "fill"}),
    "latent noise": (4, "Euler", "Uniform", "euler", "normal", {"content": "latent noise"}),
    "latent nothing": (4, "Euler", "Uniform", "euler", "normal", {"content": "latent nothing"}),
    "not masked": (4, "Euler", "Uniform", "euler", "normal", {"inverted": True, "blur": 0}),
    "by timesteps": (4, "DDIM", "", "ddim", "", {"strength": 0.6}),
    "only masked": (4, "DPM++ 2M", "Karras", "dpmpp_2m", "karras", {"padding": 12}),
    "inpainting": (9, "Euler a", "Uniform", "euler_a", "normal", {"strength": 1.0}),
    "edit": (8, "Euler", "Uniform", "euler", "normal", {"image_guidance": 1.7, "strength": 1.0}),
}


@pytest.mark.parametrize("case", A1111)
def test_masked_pictures_equal_a1111s(folder: Path, networks, case: str) -> None:
    channels, sampler, schedule, our_sampler, our_schedule, asked = A1111[case]
    names = ("large.png", "large mask.png") if case == "only masked" else ("init.png", "mask.png")
    init, mask = (folder / name for name in names)
    job = Masked(init, None if case == "edit" else mask, sampler, schedule, **asked)
    options = MaskOptions(
        blur=job.blur,
        inverted=job.inverted,
        content=CONTENTS[job.content],
        only_masked=job.padding is not None,
        padding=job.padding or 0,
    )
    made = ours(
        folder / str(channels),
        ConventionName.A1111,
        our_sampler,
        our_schedule,
        job,
        mask_options=options,
    )
    check(made, render_a1111(networks(channels), job))


COMFY = {
    "hard": (4, "euler", "normal", "mask.png", {}),
    "soft": (4, "dpmpp_2m", "karras", "soft.png", {}),
    "ancestral": (4, "euler_ancestral", "normal", "soft.png", {"strength": 0.5}),
    "inpainting": (9, "euler", "normal", "soft.png", {"strength": 1.0}),
    "edit": (8, "euler", "normal", None, {"image_guidance": 1.5, "strength": 1.0}),
}


@pytest.mark.parametrize("case", COMFY)
def test_masked_pictures_equal_comfyuis(folder: Path, networks, case: str) -> None:
    channels, sampler, schedule, name, asked = COMFY[case]
    mask = folder / name if name else None
    job = Masked(folder / "init.png", mask, sampler, schedule, **asked)
    our_sampler = "euler_a" if sampler == "euler_ancestral" else sampler
    made = ours(folder / str(channels), ConventionName.COMFY, our_sampler, schedule, job)
    check(made, render_comfy(networks(channels), job))
