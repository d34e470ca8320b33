"""`--set NAME=VALUE`."""

import argparse

import pytest

from app.cli.settings import parse_setting, with_settings
from engine.api.conventions import CONVENTIONS, Emphasis, convention_of
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


def test_without_settings_a_request_stays_as_it_is() -> None:
    assert with_settings(ASKED, []) == ASKED


@pytest.mark.parametrize("text", ["eta", "=1", "etta=1", "eta=much", "name=comfy", "range=1"])
def test_what_is_no_setting_is_told(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="no "):
        parse_setting(text)
