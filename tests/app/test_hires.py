"""`--hires` and its options, and what they make of a request."""

import argparse
from pathlib import Path

import pytest

from app.cli import hires
from app.cli.terminal import Usage
from engine.api.second_passes import SecondPass
from engine.api.values import SamplerName, ScheduleName


def passes(*arguments: str, before: tuple[SecondPass, ...] = ()) -> tuple[SecondPass, ...]:
    parser = argparse.ArgumentParser()
    hires.add_arguments(parser)
    return hires.with_hires(before, parser.parse_args(arguments))


def test_options_are_a_second_pass(tmp_path: Path) -> None:
    upscaler = tmp_path / "4x.pth"
    upscaler.touch()
    (found,) = passes(
        *("--hires", "1.5", "--hires-strength", "0.5", "--hires-upscaler", str(upscaler)),
        *("--hires-steps", "12", "--hires-cfg", "4", "--hires-sampler", "DPM++ 2M Karras"),
        *("--hires-prompt", "a castle", "--hires-negative-prompt", "rain"),
        *("--hires-seed", "3", "--hires-tile", "768"),
    )
    assert found == SecondPass(
        scale=1.5,
        strength=0.5,
        upscaler=str(upscaler),
        steps=12,
        guidance=4,
        sampler=SamplerName.DPMPP_2M,
        schedule=ScheduleName.KARRAS,
        prompt="a castle",
        negative_prompt="rain",
        seed=3,
        tile=768,
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("latent", "Latent"),
        ("Latent (bicubic antialiased)", "Latent (bicubic antialiased)"),
        ("latent-bicubic-antialiased", "Latent (bicubic antialiased)"),
        ("latent-nearest-exact", "Latent (nearest-exact)"),
        ("Lanczos", "lanczos"),
        ("area", "area"),
    ],
)
def test_methods_without_a_file_are_called_by_names(typed: str, meant: str) -> None:
    assert passes("--hires", "2", "--hires-upscaler", typed)[0].upscaler == meant


def test_options_change_the_first_pass_of_a_picture() -> None:
    before = SecondPass(width=1024, height=1024, strength=0.3), SecondPass(upscaler="area")
    assert passes("--hires-strength", "0.6", before=before) == (
        SecondPass(width=1024, height=1024, strength=0.6),
        before[1],
    )
    assert passes("--hires", "2", before=before)[0] == SecondPass(strength=0.3)
    assert passes("--no-hires", before=before) == ()
    assert passes(before=before) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("--hires-strength", "0.5"),
        ("--hires", "2", "--hires-size", "512x512"),
        ("--no-hires", "--hires", "2"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(Usage):
        passes(*arguments)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--hires", "'much' is no number"),
        ("--hires-strength", "'much' is no number"),
        ("--hires-cfg", "'much' is no number"),
        ("--hires-steps", "'much' is no whole number"),
        ("--hires-seed", "'much' is no whole number"),
        ("--hires-tile", "'much' is no whole number"),
        ("--hires-size", "'much' is no size"),
        ("--hires-sampler", "'much' is none of euler"),
        ("--hires-schedule", "'much' is none of normal"),
    ],
)
def test_a_value_of_another_kind_is_told_in_words(
    option: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        passes("--hires", "2", option, "much")
    assert f"argument {option}: {words}" in capsys.readouterr().err
