"""Strategies for requests a person could make or load."""

import msgspec
from hypothesis import strategies as st

from app.form.kept_settings import settings_of
from app.queue.jobs import Job
from engine.api.conventions import CONVENTIONS
from engine.api.limits import (
    MAX_CLIP_SKIP,
    MAX_COUNT,
    MAX_GUIDANCE,
    MAX_SEED,
    MAX_SIDE,
    MAX_STEPS,
    MIN_SIDE,
)
from engine.api.methods import sampler_options_of, schedule_options_of
from engine.api.request import (
    ComponentFiles,
    GenerateRequest,
    GuidanceOptions,
    InputImage,
    SamplerOptions,
    ScheduleOptions,
    SeedOptions,
    SizeOptions,
)
from engine.api.values import (
    ConventionName,
    InputRole,
    PrecisionName,
    SamplerName,
    ScheduleName,
    TextWeightBits,
    WeightBits,
)


def optional(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | strategy


paths = st.sampled_from(("/models/one.safetensors", "/models/zwei ü.safetensors"))
sides = st.integers(MIN_SIDE, MAX_SIDE)
inputs = st.lists(
    st.builds(InputImage, role=st.sampled_from(InputRole), path=paths, weight=st.just(1.0)),
    max_size=2,
).map(tuple)

requests = st.builds(
    GenerateRequest,
    prompt=st.text(max_size=200),
    negative_prompt=st.text(max_size=50),
    checkpoint=optional(paths),
    components=st.builds(
        ComponentFiles, denoiser=optional(paths), text_encoder=optional(paths), vae=optional(paths)
    ),
    width=optional(sides),
    height=optional(sides),
    steps=optional(st.integers(1, MAX_STEPS)),
    guidance=optional(st.floats(0, MAX_GUIDANCE)),
    sampler=optional(st.sampled_from(SamplerName)),
    schedule=optional(st.sampled_from(ScheduleName)),
    seed=optional(st.integers(0, MAX_SEED)),
    count=st.integers(1, MAX_COUNT),
    clip_skip=optional(st.integers(1, MAX_CLIP_SKIP)),
    inputs=inputs,
    strength=optional(st.floats(0, 1)),
    convention=st.one_of(
        st.sampled_from(ConventionName), st.sampled_from(tuple(CONVENTIONS.values()))
    ),
    sampler_options=st.builds(SamplerOptions, eta=optional(st.floats(0, 1))),
    schedule_options=st.builds(ScheduleOptions, rho=optional(st.floats(1, 9))),
    seed_options=st.builds(
        SeedOptions,
        variation_seed=optional(st.integers(0, MAX_SEED)),
        variation_strength=st.floats(0, 1),
        batch_index=st.integers(0, 64),
    ),
    guidance_options=st.builds(GuidanceOptions, rescale=st.floats(0, 1)),
    size_options=st.builds(SizeOptions, aesthetic_score=st.floats(0, 10)),
    zero_terminal_snr=optional(st.booleans()),
    expand_wildcards=st.booleans(),
    backend=st.sampled_from(("auto", "cpu")),
    precision=st.sampled_from(PrecisionName),
    weight_bits=st.sampled_from(WeightBits),
    text_weight_bits=st.sampled_from(TextWeightBits),
    memory_limit_bytes=optional(st.integers(1 << 20, 1 << 40)),
    device_memory_limit_bytes=optional(st.integers(1 << 20, 1 << 40)),
)


def fitting(request: GenerateRequest) -> GenerateRequest:
    """Only with the options that sampler and schedule read, as readers of metadata leave them."""
    return msgspec.structs.replace(
        request,
        sampler_options=sampler_options_of(request.sampler, request.sampler_options),
        schedule_options=schedule_options_of(request.schedule, request.schedule_options),
    )


# As the form is filled with them: nothing in them is about the machine.
form_requests = requests.map(settings_of).map(fitting)


def generation_of(job: Job) -> GenerateRequest:
    """The request of a job that makes a picture."""
    assert job.generation is not None
    return job.generation
