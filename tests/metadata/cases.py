"""Texts and records for AUTOMATIC1111's own reader, whose answers `freeze.py` keeps."""

from typing import Any

import msgspec

from engine.api import ConventionName, InputImage, InputRole, SamplerName, ScheduleName
from engine.api.conventions import CONVENTIONS
from engine.api.noise_rules import InitialNoise, RandomSource
from engine.api.prompt_rules import Emphasis
from engine.api.request import GuidanceOptions, SamplerOptions, ScheduleOptions, SeedOptions
from engine.metadata.infotext import format_infotext
from engine.metadata.record_text import record_infotext
from tests.metadata.records import PLAIN, PLAIN_REQUEST

# As people's files have them, and as they should not.
TEXTS = (
    "",
    "a cat",
    "two: pairs, are: prompt",
    "a cat\nNegative prompt: blurry\nmore: of it\n"
    "Steps: 20, Sampler: DPM++ 2M Karras, CFG scale: 7, Seed: 1, Size: 512x768",
    "Negative prompt: b\naa: 1, bb: 2, cc: 3",
    "  p  \n q \nNegative prompt:n\n\naa: 1, bb: 2, cc: 3\n",
    'p\nx: 1, aa: b:c, -bb: "q, c/c-c 1:  , dd: "x" y, ee: "z"',
    "p\nSteps: 20, Seed: 1, Size: 640x1024, First pass size: 0x0, Denoising strength: 0.7",
    "p\nSteps: 20, Seed: 1, Size: 640x1024, First pass size: 448x704",
    'p\nSteps: 1, Lora hashes: "foo: 1a2b, bar: \\"3c\\"", Wildcard: "a\\nb", Version: v1.10.1',
    "(p:1.2)\nSteps: 20, Sampler: DDIM, Seed: 1, Version: v1.5.1",
    "[a:b:0.5]\nSteps: 20, Sampler: PLMS, Seed: 1, Refiner: x [0123], Version: v1.7.0-133-gab12",
    "p\nSteps: 20, Schedule type: SGM Uniform, Sampler: DPM++ 2M SDE, Emphasis: No norm",
    "猫, café\nNegative prompt: 犬\nSteps: 5, Sampler: Euler a, Model: 模型, Seed: 3",
    "p\nSteps: 20, Sampler: DPM++ 2M SDE Heun Exponential, Seed: 1, ENSD: 31337, RNG: CPU",
)


def _record(**changes: Any) -> Any:
    request = msgspec.structs.replace(PLAIN_REQUEST, **changes)
    return msgspec.structs.replace(PLAIN, request=request)


def _convention(**changes: Any) -> Any:
    return msgspec.structs.replace(CONVENTIONS[ConventionName.A1111], **changes)


RECORDS_BY_NAME = {
    "plain": PLAIN,
    "odd prompts": _record(
        prompt='a "cat", {x|y} \\(sic\\)\n<lora:foo:0.8>, [a:b:0.5]: 7 & <b>é 猫</b>',
        negative_prompt="Steps: 3, Seed: 4\nblurry",
        checkpoint='C:\\models\\a: "b", c.safetensors',
    ),
    "every option": _record(
        sampler=SamplerName.HEUN,
        schedule=ScheduleName.KARRAS,
        clip_skip=2,
        inputs=(InputImage(role=InputRole.INIT, path="in.png"),),
        strength=0.45,
        convention=_convention(
            random_source=RandomSource.CUDA,
            emphasis=Emphasis.NO_NORM,
            initial_noise=InitialNoise.VARIANCE,
            discards_next_to_last=(SamplerName.HEUN,),
        ),
        sampler_options=SamplerOptions(
            noise_scale=1.003, churn=0.5, churn_from=0.05, churn_to=10.5
        ),
        schedule_options=ScheduleOptions(sigma_min=0.03, sigma_max=14.0, rho=5.0),
        seed_options=SeedOptions(
            variation_seed=7,
            variation_strength=0.25,
            resize_from=(512, 640),
            eta_seed_delta=31337,
        ),
        guidance_options=GuidanceOptions(rescale=0.7, range=(0.25, 1.0)),
        zero_terminal_snr=True,
    ),
    "eta": _record(
        sampler=SamplerName.EULER_ANCESTRAL,
        schedule=ScheduleName.NORMAL,
        sampler_options=SamplerOptions(eta=0.67),
        convention=_convention(emphasis=Emphasis.NONE),
    ),
    "eta of DDIM": _record(
        sampler=SamplerName.DDIM,
        schedule=ScheduleName.NORMAL,
        sampler_options=SamplerOptions(eta=0.5),
    ),
}

OURS = {name: format_infotext(record_infotext(record)) for name, record in RECORDS_BY_NAME.items()}
