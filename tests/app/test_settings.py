"""`--set NAME=VALUE`."""

import argparse

import pytest

from app.cli import generate
from app.cli.settings import parse_setting, with_settings
from engine.api.conventions import CONVENTIONS, convention_of
from engine.api.fields import RequestField, fields_of
from engine.api.lora_rules import DoraRule
from engine.api.prompt_rules import Emphasis
from engine.api.request import GenerateRequest
from engine.api.values import ConventionName, SamplerName

ASKED = GenerateRequest(prompt="a cat", convention=ConventionName.COMFY)


def asked_with(*texts: str) -> GenerateRequest:
    return with_settings(ASKED, [parse_setting(text) for text in texts])


def test_settings_land_where_they_belong() -> None:
    request = asked_with(
        "eta=0.5",
        "rho=5",
        "variation_seed=7",
        "variation_strength=0.25",
        "resize_from=512, 768",
        "range=0.2,0.8",
        "zero_terminal_snr=true",
        "expand_wildcards=false",
    )
    assert request.sampler_options.eta == 0.5
    assert request.schedule_options.rho == 5
    assert request.seed_options.variation_seed == 7
    assert request.seed_options.variation_strength == 0.25
    assert request.seed_options.resize_from == (512, 768)
    assert request.guidance_options.range == (0.2, 0.8)
    assert request.zero_terminal_snr is True
    assert request.expand_wildcards is False
    assert request.convention is ConventionName.COMFY


def test_a_part_of_the_convention_is_changed_and_the_rest_stays_the_tools() -> None:
    request = asked_with("emphasis=no_norm", "discards_next_to_last=euler,heun")
    convention = convention_of(request.convention)
    assert convention.emphasis is Emphasis.NO_NORM
    assert convention.discards_next_to_last == (SamplerName.EULER, SamplerName.HEUN)
    assert convention.chunking is CONVENTIONS[ConventionName.COMFY].chunking
    assert convention.name is ConventionName.COMFY


def test_a_rule_of_loras_within_the_convention_is_changed_alone() -> None:
    convention = convention_of(asked_with("dora=trained", "glora_alpha=false").convention)
    tools = CONVENTIONS[ConventionName.COMFY]
    assert (convention.lora.dora, convention.lora.glora_alpha) == (DoraRule.TRAINED, False)
    assert convention.lora.rotation is tools.lora.rotation
    assert convention.chunking is tools.chunking


def test_without_settings_a_request_stays_as_it_is() -> None:
    assert with_settings(ASKED, []) == ASKED


@pytest.mark.parametrize("text", ["eta", "=1", "etta=1", "eta=much", "name=comfy", "range=1"])
def test_an_unknown_setting_is_reported(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="no "):
        parse_setting(text)


# Fields that an option of another name fills, or several options together.
_BY_OPTION = {
    "checkpoint": "--model",
    "components": "--vae",
    "override": "--family",
    "refiner": "--refiner",
    "width": "--size",
    "height": "--size",
    "sampler": "--sampler",
    "seed": "--seed",
    "inputs": "--init",
    "loras": "--lora",
    "image_prompts": "--image-prompt",
    # Layers and passes of a picture that is made again.
    "controls": "--from",
    "second_passes": "--hires",
    # Known of pictures that other machines made.
    "lora_hashes": "--from",
    "embedding_hashes": "--from",
}


def test_every_field_of_a_request_can_be_given_on_the_command_line() -> None:
    parser = argparse.ArgumentParser()
    generate.add_arguments(parser)
    named = vars(parser.parse_args(["a house"]))
    options = set(parser.format_help().split())
    for name, field in fields_of(GenerateRequest).items():
        by_option = name in _BY_OPTION and _BY_OPTION[name] in options
        assert name in named or field.is_setting or by_option, name


def test_no_two_settings_have_one_name() -> None:
    def inner(field: RequestField) -> list[str]:
        if field.structure is None:
            return [field.name]
        return [
            name
            for inner_field in fields_of(field.structure).values()
            for name in inner(inner_field)
        ]

    settings = (field for field in fields_of(GenerateRequest).values() if field.is_setting)
    names = [name for field in settings for name in inner(field)]
    assert len(names) == len(set(names))
    # Any text is a layer's name.
    for name in set(names) - {"name", "pag_layers"}:
        with pytest.raises(argparse.ArgumentTypeError, match=f"is no value of {name}"):
            parse_setting(f"{name}=?")


def test_a_setting_of_a_group_leaves_the_others_as_they_are() -> None:
    request = asked_with("eta=0.5", "churn=2", "eta=0.25")
    assert (request.sampler_options.eta, request.sampler_options.churn) == (0.25, 2)
