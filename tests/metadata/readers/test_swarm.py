"""SwarmUI's parameters, in its own JSON."""

import json

import msgspec

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.conventions import CONVENTIONS, BatchSeeds, RandomSource, convention_of
from engine.api.request import GuidanceOptions, ScheduleOptions, SeedOptions
from engine.api.values import ConventionName
from tests.metadata.readers.pictures import recognised
from tests.metadata.readers.samples import SWARM


def test_swarmuis_parameters_are_read() -> None:
    found = recognised(("parameters", json.dumps(SWARM, indent=2)))
    convention = msgspec.structs.replace(
        CONVENTIONS[ConventionName.COMFY], batch_seeds=BatchSeeds.SUCCESSIVE
    )
    assert found.request == GenerateRequest(
        prompt="a photo of a cat",
        width=1024,
        height=768,
        steps=20,
        guidance=7.0,
        sampler=SamplerName.EULER,
        schedule=ScheduleName.NORMAL,
        seed=1,
        convention=convention,
        expand_wildcards=False,
    )
    assert found.tool == "SwarmUI"
    assert found.unmapped == ()
    assert len(found.warnings) == 1


def test_swarmuis_options_as_text_are_read() -> None:
    parameters = SWARM["sui_image_params"] | {
        "steps": "25",
        "sampler": "dpmpp_2m_sde_gpu",
        "scheduler": "karras",
        "clipstopatlayer": -2,
        "variationseed": 9,
        "variationseedstrength": "0.5",
        "samplersigmamin": 0.05,
        "samplerrho": 5,
        "rescalecfgmultiplier": 0.6,
        "loras": "ink,line",
        "loraweights": ["0.8"],
        "vae": "soft",
        "refinermodel": "other",
    }
    found = recognised(("exif:UserComment", json.dumps({"sui_image_params": parameters})))
    request = found.request
    assert (request.steps, request.clip_skip) == (25, 2)
    assert (request.sampler, request.schedule) == ("dpmpp_2m_sde", "karras")
    assert convention_of(request.convention).step_source is RandomSource.CUDA
    assert request.seed_options == SeedOptions(variation_seed=9, variation_strength=0.5)
    assert request.schedule_options == ScheduleOptions(sigma_min=0.05, rho=5.0)
    assert request.guidance_options == GuidanceOptions(rescale=0.6)
    assert found.warnings[1:] == (
        'It was made with the VAE "soft"; choose it to match.',
        "Not taken over: refinermodel.",
    )
