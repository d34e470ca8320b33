"""InvokeAI's metadata of all its ages."""

import json

from engine.api import GenerateRequest, SamplerName, ScheduleName
from engine.api.conventions import RandomSource, convention_of
from engine.api.lora import LoraChoice
from engine.api.request import GuidanceOptions
from engine.api.values import ConventionName
from tests.metadata.frozen import frozen
from tests.metadata.readers.pictures import recognised
from tests.metadata.readers.samples import INVOKE


def test_invokeais_metadata_is_read() -> None:
    found = recognised(("invokeai_metadata", json.dumps(INVOKE)), ("invokeai_graph", "{}"))
    assert found.request == GenerateRequest(
        prompt="a red house++",
        negative_prompt="rain",
        width=512,
        height=640,
        steps=30,
        guidance=7.5,
        sampler=SamplerName.DPMPP_2M_SDE,
        schedule=ScheduleName.KARRAS,
        seed=2885716361,
        clip_skip=2,
        convention=ConventionName.INVOKE,
        guidance_options=GuidanceOptions(rescale=0.1),
        loras=(LoraChoice(file="ink", strength=0.75),),
        expand_wildcards=False,
    )
    assert found.warnings == (
        'It was made with the model "dream"; choose it to match.',
        'It was made with the VAE "soft"; choose it to match.',
    )


def test_invokeai_3_and_noise_of_a_card_are_read() -> None:
    fields = INVOKE | {
        "rand_device": "cuda",
        "scheduler": "ddim",
        "model": {"model_name": "dream", "base_model": "sd-1"},
        "loras": [{"lora": {"model_name": "ink", "base_model": "sd-1"}, "weight": 1}],
        "vae": None,
        "hrf_enabled": True,
        "strength": 0.6,
        "init_image": "x.png",
    }
    found = recognised(("invokeai_metadata", json.dumps(fields)))
    assert convention_of(found.request.convention).random_source is RandomSource.CUDA
    assert (found.request.sampler, found.request.schedule) == ("ddim", "ddim")
    assert found.request.strength == 0.6
    assert found.warnings == (
        'It was made with the model "dream"; choose it to match.',
        "It was made from another picture, which is not in the file.",
        "Not taken over: hrf_enabled.",
    )


def test_unknown_samplers_of_invokeai_give_a_warning() -> None:
    found = recognised(("invokeai_metadata", json.dumps(INVOKE | {"scheduler": "dpmpp_2s_k"})))
    assert (found.request.sampler, found.request.schedule) == (None, None)
    assert found.warnings[0] == '"scheduler: dpmpp_2s_k" was not taken over.'
    other = recognised(("invokeai_metadata", json.dumps(INVOKE | {"rand_device": "xpu"})))
    assert "card of another kind" in other.warnings[-1]


def test_invokeai_before_version_3_is_read() -> None:
    # `InvokeAIMetadataParser.parse_meta_tag_sd_metadata`.
    fields = {
        "model": "stable diffusion",
        "model_weights": "stable-diffusion-1.5",
        "app_version": "2.3.0",
        "image": {
            "prompt": [{"prompt": "a red house [rain] [snow, ]", "weight": 1}],
            "steps": 50, "cfg_scale": 7.5, "sampler": "k_euler_a", "seed": 5, "width": 512,
            "height": 640, "threshold": 0, "perlin": 0, "variations": [], "type": "txt2img",
        },
    }  # fmt: skip
    found = recognised(("Dream", "older"), ("sd-metadata", json.dumps(fields)))
    request = found.request
    assert (request.prompt, request.negative_prompt) == ("a red house", "rain, snow")
    assert (request.sampler, request.steps, request.seed) == ("euler_a", 50, 5)
    assert convention_of(request.convention).random_source is RandomSource.CUDA
    assert found.unmapped == ()


def test_invokeais_first_notation_is_read() -> None:
    dream = frozen("invoke")["written"]["dream"]
    # The seed was added by whoever called it: `-S`.
    request = recognised(("Dream", dream + " -S42")).request
    assert (request.prompt, request.negative_prompt) == ("a red house", "rain")
    assert (request.width, request.height, request.steps) == (512, 768, 50)
    assert (request.sampler, request.guidance, request.seed) == ("lms", 7.5, 42)
