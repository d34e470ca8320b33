"""The guard's cases: a name, a checkpoint, and the request's differences from the usual one.

Cases of sampling, guidance and batches are here; `prompt_cases`, `canvas_cases` and `family_cases`
have the rest. Paths are names of checkpoints and of pictures in the guard's folder.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.api.conventions import CONVENTIONS, Convention
from engine.api.noise_rules import BatchSeeds, InitialNoise, RandomSource, SdeNoise, StepSeed
from engine.api.request import (
    GenerateRequest,
    GuidanceOptions,
    SamplerOptions,
    ScheduleOptions,
    SeedOptions,
)
from engine.api.values import ConventionName, SamplerName, ScheduleName

SIDE = 64
SD1, FOLDER, SDXL = "sd1.safetensors", "folder", "sdxl.safetensors"

# Few steps, so that hundreds of pictures take a minute.
USUAL = GenerateRequest(
    prompt="a red horse, blue house",
    negative_prompt="blur",
    width=SIDE,
    height=SIDE,
    steps=3,
    guidance=6.0,
    seed=7,
    backend="cpu",
)


@dataclass(frozen=True)
class Case:
    """A request; `changes` are its fields that are not those of `USUAL`."""

    name: str
    checkpoint: str
    changes: Mapping[str, Any]

    @property
    def request(self) -> GenerateRequest:
        """The request, with names for paths."""
        return msgspec.structs.replace(USUAL, checkpoint=self.checkpoint, **self.changes)

    @property
    def pictures(self) -> list[str]:
        """A name for each picture that it makes."""
        count = self.request.count
        return [self.name if count == 1 else f"{self.name} {n + 1}" for n in range(count)]


def case(name: str, checkpoint: str = SD1, /, **changes: Any) -> Case:
    """A line of a table."""
    return Case(name, checkpoint, changes)


def habits(name: ConventionName, **changes: Any) -> Convention:
    """A tool's convention with these fields."""
    return msgspec.structs.replace(CONVENTIONS[name], **changes)


S, T = SamplerName, ScheduleName
A1111, COMFY, DIFFUSERS, INVOKE = (
    ConventionName.A1111,
    ConventionName.COMFY,
    ConventionName.DIFFUSERS,
    ConventionName.INVOKE,
)
# Restart restarts from 20 steps on; in as many steps DDPM does what Euler a does.
_STEPS = {S.RESTART: 20, S.DDPM: 5}
# Align Your Steps has ten; a polyexponential schedule of 1 is the exponential one.
_OF_SCHEDULES: Mapping[ScheduleName, Mapping[str, Any]] = {
    T.ALIGN_YOUR_STEPS: {"steps": 10},
    T.POLYEXPONENTIAL: {"schedule_options": ScheduleOptions(rho=1.7)},
}
# Samplers that a tool runs otherwise than A1111 does.
_VARIANTS = {
    COMFY: (S.LMS, S.PLMS, S.UNIPC, S.DPM2, S.DPM_FAST, S.DDIM, S.DPMPP_SDE, S.EULER_ANCESTRAL),
    DIFFUSERS: (S.DEIS, S.UNIPC, S.TCD, S.DDIM, S.LCM, S.DPMPP_2M_SDE, S.EULER_ANCESTRAL),
    INVOKE: (S.DEIS, S.TCD, S.DPMPP_SDE, S.DPMPP_2M_SDE, S.EULER_ANCESTRAL, S.DPMPP_2M),
}
_SCHEDULES = {
    COMFY: (T.BETA, T.KL_OPTIMAL, T.ALIGN_YOUR_STEPS, T.SGM_UNIFORM),
    DIFFUSERS: (T.NORMAL, T.SGM_UNIFORM, T.DDIM, T.KARRAS),
}


def sampling() -> Iterator[Case]:
    """Every sampler, every schedule, and what they may be told."""
    for sampler in S:
        steps = _STEPS.get(sampler, 4)
        yield case(f"sampler {sampler}", sampler=sampler, steps=steps)
    for schedule in T:
        if schedule is not T.NORMAL:  # which is the uniform one, where it is told nothing
            asked = {"sampler": S.EULER, "steps": 5, **_OF_SCHEDULES.get(schedule, {})}
            yield case(f"schedule {schedule}", schedule=schedule, **asked)
    for convention, samplers in _VARIANTS.items():
        for sampler in samplers:
            asked = {"convention": convention, "sampler": sampler, "steps": 4}
            yield case(f"sampler {sampler} {convention}", FOLDER, **asked)
    for convention, schedules in _SCHEDULES.items():
        for schedule in schedules:
            asked = {"convention": convention, "sampler": S.EULER, "schedule": schedule, "steps": 5}
            yield case(f"schedule {schedule} {convention}", FOLDER, **asked)
    churn = SamplerOptions(churn=2.0, churn_from=0.1, churn_to=10.0, noise_scale=1.02)
    yield case("sampler euler churned", sampler=S.EULER, sampler_options=churn)
    eta = SamplerOptions(eta=0.4, noise_scale=0.9)
    yield case("sampler dpmpp_2m_sde eta", sampler=S.DPMPP_2M_SDE, sampler_options=eta)
    yield case("sampler ddim eta", sampler=S.DDIM, sampler_options=eta)
    ends = ScheduleOptions(sigma_min=0.1, sigma_max=9.0)
    yield case("schedule normal ends", sampler=S.EULER, schedule=T.NORMAL, schedule_options=ends)
    bent = ScheduleOptions(sigma_min=0.1, sigma_max=9.0, rho=3.0)
    yield case("schedule karras rho", sampler=S.EULER, schedule=T.KARRAS, schedule_options=bent)


def guidance() -> Iterator[Case]:
    """Ways in which the prompt is followed."""
    yield case("guidance none", guidance=1.0)
    yield case("guidance rescaled", guidance_options=GuidanceOptions(rescale=0.7))
    early = GuidanceOptions(range=(0.0, 0.5))
    yield case("guidance early", steps=4, guidance_options=early)
    both = GuidanceOptions(rescale=0.4, range=(0.3, 1.0))
    yield case("guidance late and rescaled", steps=4, guidance_options=both)
    yield case("guidance of an empty negative prompt", negative_prompt="")
    yield case("levels that end in noise alone", zero_terminal_snr=True, sampler=S.EULER)
    yield case("default guidance, steps and sampler", steps=None, guidance=None, sampler=S.LCM)


def seeds() -> Iterator[Case]:
    """Batches, variations, and the noise of each tool."""
    for convention in ConventionName:
        asked = {"convention": convention, "sampler": S.EULER_ANCESTRAL}
        yield case(f"batch {convention}", FOLDER, count=2, **asked)
    place = SeedOptions(batch_index=2, batch_size=4)
    yield case("a place in a batch", FOLDER, convention=COMFY, seed_options=place)
    turned = SeedOptions(variation_seed=99, variation_strength=0.3)
    yield case("variation", seed_options=turned)
    yield case("batch of variations", seed_options=turned, count=2, seed=8)
    yield case("variation comfy", FOLDER, seed_options=turned, convention=COMFY)
    yield case("noise of another size", seed_options=SeedOptions(resize_from=(96, 64)))
    delta = SeedOptions(eta_seed_delta=31337)
    yield case("eta seed delta", sampler=S.EULER_ANCESTRAL, seed_options=delta)
    yield case("a seed of 64 bits", seed=2**63 + 5)
    ancestral = {"sampler": S.EULER_ANCESTRAL}
    cuda = habits(A1111, random_source=RandomSource.CUDA, step_source=RandomSource.CUDA)
    yield case("noise of a CUDA card", convention=cuda, **ancestral)
    flipped = habits(A1111, step_seed=StepSeed.FLIPPED, initial_noise=InitialNoise.VARIANCE)
    yield case("step seed flipped, first noise widened", convention=flipped, **ancestral)
    one_stream = habits(A1111, batch_seeds=BatchSeeds.ONE_STREAM)
    yield case("batch of one stream", convention=one_stream, count=2, seed=9)
    for noise in SdeNoise:
        asked = {"convention": habits(COMFY, sde_noise=noise), "sampler": S.DPMPP_2M_SDE}
        yield case(f"noise of steps {noise}", FOLDER, **asked)
    latest = habits(A1111, discards_next_to_last=tuple(S))
    yield case("next to last level discarded", convention=latest)
    yield case("pixels rounded", convention=habits(A1111, rounds_pixels=True))
