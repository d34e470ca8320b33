"""Pictures of diffusers' pipelines beside the engine's: the same weights, prompts and noise."""
# pyright: basic, reportMissingImports=false
# torch and diffusers are absent from the environment that is type-checked.

import inspect
import logging
from collections.abc import Collection
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import diffusers
import numpy as np
import torch
from PIL import Image

from backends.base import Array, Precision
from backends.registry import find
from engine.api.values import SamplerName, ScheduleName
from engine.embeddings.library import NO_EMBEDDINGS
from engine.pipeline.picture_loras import no_loras
from tests.pipeline.jobs import RESIDENCY, a_request, psnr, run
from tests.tiny_checkpoint import SIDE

LOG = logging.getLogger(__name__)
STEPS, SEED, GUIDANCE = 6, 7, 6.0
BETAS = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
SIZE = {"width": SIDE, "height": SIDE}
OURS = {
    **SIZE,
    "steps": STEPS,
    "seed": SEED,
    "guidance": GUIDANCE,
    "sampler": SamplerName.EULER,
    "schedule": ScheduleName.NORMAL,
}
THEIRS = {"num_inference_steps": STEPS, "guidance_scale": GUIDANCE, "output_type": "np"}
# With an "a", with which SDXL's second tokenizer fills up: to it that is padding, to the first a
# word.
TEXTS: dict[str, Any] = {"prompt": "a red horse, blue house", "negative_prompt": "a blur"}


def euler(**options):
    """The scheduler that does what `OURS` asks for."""
    return diffusers.EulerDiscreteScheduler(
        timestep_spacing="linspace", steps_offset=1, **BETAS, **options
    )


def opened(kind, folder: Path, **parts):
    """A pipeline of this kind, with parts of its own; networks are read from the folder once."""
    unused = {"add_watermarker": False} if "XL" in kind.__name__ else {}
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.safetensors")}
    read, known = _networks_of(frozenset(times.items())), inspect.signature(kind).parameters
    # Tests change them.
    given = {name: deepcopy(read[name]) for name in read.keys() & known.keys() - parts.keys()}
    pipe = kind.from_pretrained(folder, **unused, **given, **parts)
    pipe.set_progress_bar_config(disable=True)
    for name in known.keys() - given.keys() - parts.keys():
        part = vars(pipe).get(name)
        if isinstance(part, torch.nn.Module):
            read[name] = deepcopy(part)
    return pipe


@lru_cache(maxsize=3)
def _networks_of(files: Collection[tuple[Path, int]]) -> dict[str, torch.nn.Module]:
    """The networks of a folder by name, as far as they were read from these files."""
    return {}


def their_pixels(pipe, **changes) -> Array:
    """The picture of a pipeline, uint8 [height, width, 3]; `changes` are arguments of its call."""
    generator = torch.Generator("cpu").manual_seed(SEED)
    images = pipe(**{**THEIRS, "generator": generator, **changes}).images
    return np.rint(images[0] * 255).astype(np.uint8)


def our_pixels(
    folder: Path,
    backend_name: str = "cpu",
    *,
    read_loras: Any = no_loras,
    embeddings: Any = NO_EMBEDDINGS,
    lookup: Any = None,
    **changes,
) -> Array:
    """The engine's picture, without a warning.

    `read_loras`, `embeddings` and `lookup` are those of `run`, `changes` fields of the request.
    """
    found = find(backend_name)
    assert found
    request = a_request(folder, **{**OURS, **changes})
    tried = (Precision.F32,)
    given = {"read_loras": read_loras, "embeddings": embeddings, "lookup": lookup}
    if backend_name == "cpu":
        given["residency"] = RESIDENCY
    result = run(request, found.create(), tried, **given)
    assert not result.warnings, result.warnings
    return result.pixels[0]


def check(ours: Array, expected: Array) -> None:
    """Hold a picture to diffusers': equal but for rounding, and not of one colour."""
    measured = psnr(ours, expected)
    LOG.info("PSNR %.1f dB", measured)
    assert ours.std() > 10
    assert measured >= 50


def write_init(path: Path):
    """Write a picture of soft colours to start from; return it as diffusers takes it."""
    small = np.random.default_rng(0).integers(0, 256, (SIDE // 8, SIDE // 8, 3), dtype=np.uint8)
    picture = Image.fromarray(small).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    picture.save(path)
    return torch.from_numpy(np.asarray(picture, np.float32) / 255).permute(2, 0, 1)[None]
