"""NovelAI's texts and its brackets."""

import json
from typing import Any

import pytest

from engine.api.conventions import convention_of
from engine.api.noise_rules import RandomSource
from engine.api.request import GuidanceOptions
from engine.metadata.readers.novelai import as_weights
from tests.metadata.readers.pictures import recognised
from tests.metadata.readers.samples import NOVELAI, novelai


def test_novelais_texts_are_read() -> None:
    found = recognised(*novelai("Stable Diffusion XL C1E1DE52"))
    request = found.request
    assert request.prompt == "(granblue:1.05), (house:0.907029) \\(sea\\), 1girl"
    assert request.negative_prompt == "nsfw, (bad:1.05)"
    assert (request.width, request.height, request.steps) == (832, 1216, 28)
    assert (request.sampler, request.schedule) == ("euler_a", "karras")
    assert (request.seed, request.guidance) == (3816166865, 5.0)
    assert request.guidance_options == GuidanceOptions(rescale=0.2)
    assert request.clip_skip is None
    convention = convention_of(request.convention)
    assert (convention.random_source, convention.step_source) == (RandomSource.CUDA,) * 2
    assert found.warnings == (
        'It was made with NovelAI\'s "Stable Diffusion XL C1E1DE52", which there is no file of.',
        "Not taken over: sm.",
    )


def test_novelais_first_network_is_read_as_a1111_does() -> None:
    request = recognised(*novelai("Stable Diffusion 81274D13")).request
    assert request.clip_skip == 2
    assert request.seed_options.eta_seed_delta == 31337


@pytest.mark.parametrize(
    ("fields", "strength"),
    [
        # What the first network wrote of every picture that began with none.
        ({"strength": 0.69, "noise": 0.667}, None),
        ({"strength": 0.7, "noise": 0.2}, 0.7),
        ({"strength": 0.7, "noise": 0.2, "request_type": "PromptGenerateRequest"}, None),
        ({"strength": 0.4, "noise": 0, "request_type": "Img2ImgRequest"}, 0.4),
    ],
)
def test_novelais_strength_is_that_of_another_picture(
    fields: dict[str, Any], strength: float | None
) -> None:
    settings = {key: value for key, value in NOVELAI.items() if key != "request_type"}
    texts = (("Software", "NovelAI"), ("Comment", json.dumps(settings | fields)))
    found = recognised(*texts)
    assert found.request.strength == strength
    assert any("made from another picture" in told for told in found.warnings) == bool(strength)


def test_values_that_novelai_always_writes_are_not_told() -> None:
    always = {
        "cfg_sched_eligibility": "enable_for_post_summer_samplers",
        "uncond_per_vibe": True,
        "wonky_vibe_correlation": True,
        "stream": "msgpack",
        "sm": False,
    }
    texts = (("Software", "NovelAI"), ("Comment", json.dumps(NOVELAI | always)))
    assert recognised(*texts).unmapped == ()


def test_novelais_fourth_network_has_captions() -> None:
    caption: dict[str, Any] = {"caption": {"base_caption": "whole words", "char_captions": []}}
    comment = json.dumps(NOVELAI | {"v4_prompt": caption})
    texts = (
        ("Software", "NovelAI"),
        ("Source", "NovelAI Diffusion V4 37442FCA"),
        ("Comment", comment),
    )
    assert recognised(*texts).request.prompt == "whole words"


@pytest.mark.parametrize(
    ("text", "weighted"),
    [
        ("a cat", "a cat"),
        ("{{a}} b", "(a:1.1025) b"),
        ("{a [b] c}", "(a :1.05)b( c:1.05)"),
        # A bracket that lacks its other half counts all the same; white space has no weight.
        ("a} {b", "a b"),
        ("{" * 5000 + "a", "(a:18.6792)"),
        ("\\(a)", "\\\\\\(a\\)"),
        ("{ }", " "),
    ],
)
def test_brackets_become_weights(text: str, weighted: str) -> None:
    assert as_weights(text) == weighted


@pytest.mark.parametrize(
    ("text", "weighted"),
    [
        ("1.3::fog, sea::, house", "(fog, sea:1.3), house"),
        ("-0.8::feet::", "(feet:-0.8)"),
        ("{2::a::} b", "(a:2.1) b"),
        ("0.00001::a", "(a:0.00001)"),
        (".5::a :: b", "(a :0.5) b"),
        # A number ends the one before; what is no number, or ends nothing, is text.
        ("2::a, 3::b::", "(a, :2)(b:3)"),
        ("std::a, v2::b", "std::a, v2::b"),
    ],
)
def test_numbers_become_weights(text: str, weighted: str) -> None:
    assert as_weights(text, numbers=True) == weighted


def test_weights_by_number_are_text_for_earlier_networks() -> None:
    assert as_weights("1.3::fog::") == "1.3::fog::"
