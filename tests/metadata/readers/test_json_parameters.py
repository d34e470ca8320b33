"""RuinedFooocus, Hugging Face spaces and Civitai's generator: settings as one JSON object."""

import json
from typing import Any

from engine.api import ScheduleName
from engine.api.conventions import convention_of
from engine.api.prompt_rules import PromptGrammar
from engine.api.values import ConventionName
from tests.metadata.readers.graphs import TEXT_TO_PICTURE
from tests.metadata.readers.pictures import recognised

RUINED = {
    "Prompt": "a (big:1.2) cat",
    "Negative": "rain",
    "steps": 30,
    "cfg": 8,
    "width": 1024,
    "height": 768,
    "seed": 2020,
    "sampler_name": "dpmpp_2m_sde_gpu",
    "scheduler": "karras",
    "base_model_name": "xl.safetensors",
    "base_model_hash": "BEFC",
    "loras": [{"name": "ink", "weight": 0.5}],
    "start_step": 0,
    "denoise": None,
    "clip_skip": 1,
    "software": "RuinedFooocus",
}
SPACE = {
    "prompt": "a cat",
    "negative_prompt": "rain",
    "resolution": "1024 x 768",
    "guidance_scale": 5.5,
    "num_inference_steps": 24,
    "seed": 443,
    "sampler": "DPM++ 2M Karras",
    "Model": "Some XL",
    "Model hash": "BDB5",
    "use_upscaler": None,
}
ASKED = {
    "prompt": "a cat, #tag",
    "negativePrompt": "rain",
    "cfgScale": 5,
    "sampler": "Euler a",
    "clipSkip": 2,
    "steps": 25,
    "width": 1024,
    "height": 768,
    "seed": 131,
    "workflow": "txt2img",
}


def test_ruinedfooocus_is_read() -> None:
    found = recognised(("parameters", json.dumps(RUINED)))
    request = found.request
    assert found.tool == "RuinedFooocus"
    assert (request.prompt, request.negative_prompt) == ("a (big:1.2) cat", "rain")
    assert (request.width, request.height, request.steps) == (1024, 768, 30)
    assert (request.sampler, request.schedule) == ("dpmpp_2m_sde", "karras")
    assert (request.seed, request.guidance) == (2020, 8.0)
    assert request.convention is ConventionName.COMFY
    assert found.warnings == ('It was made with the model "xl.safetensors"; choose it to match.',)


def test_a_hugging_face_space_is_read() -> None:
    found = recognised(("parameters", json.dumps(SPACE)))
    request = found.request
    assert (request.prompt, request.negative_prompt) == ("a cat", "rain")
    assert (request.width, request.height, request.steps) == (1024, 768, 24)
    assert (request.sampler, request.schedule) == ("dpmpp_2m", "karras")
    assert (request.seed, request.guidance) == (443, 5.5)
    assert request.convention is ConventionName.DIFFUSERS
    assert found.warnings == ('It was made with the model "Some XL"; choose it to match.',)


def test_a_space_that_may_weight_words_gives_a_warning() -> None:
    found = recognised(("parameters", json.dumps(SPACE | {"prompt": "a (cat)"})))
    assert any("brackets is not known" in warning for warning in found.warnings)


def test_civitais_graph_is_read_first() -> None:
    written: dict[str, Any] = TEXT_TO_PICTURE | {
        "extraMetadata": json.dumps(ASKED),
        "extra": {"airs": []},
    }
    found = recognised(("exif:UserComment", json.dumps(written)))
    assert found.tool == "Civitai"
    assert (found.request.seed, found.request.steps) == (156680208700286, 20)


def test_civitais_settings_are_read_if_its_graph_has_no_sampler() -> None:
    written = {"9": TEXT_TO_PICTURE["9"], "extraMetadata": json.dumps(ASKED)}
    found = recognised(("exif:UserComment", json.dumps(written)))
    request = found.request
    assert (request.prompt, request.negative_prompt) == ("a cat, #tag", "rain")
    assert (request.sampler, request.schedule) == ("euler_a", ScheduleName.NORMAL)
    assert (request.width, request.height, request.clip_skip) == (1024, 768, 2)
    assert (request.seed, request.steps, request.guidance) == (131, 25, 5.0)
    assert convention_of(request.convention).grammar is PromptGrammar.A1111
    assert found.unmapped == ()


def test_a_text_of_comfyuis_nodes_is_read_by_comfyuis_grammar() -> None:
    text = "a [b]\nSteps: 20, Sampler: euler_karras, CFG Scale: 8, Seed: 5, Version: ComfyUI"
    assert recognised(("parameters", text)).request.convention is ConventionName.COMFY
