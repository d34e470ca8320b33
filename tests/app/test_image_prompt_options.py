"""`--image-prompt` and its options on the command line."""

import argparse
from pathlib import Path

import pytest

from app.cli import image_prompts
from app.cli.terminal import Usage
from engine.api.image_prompts import (
    AdapterBlocks,
    AdapterScaling,
    ImagePrompt,
    ImagePromptReport,
    PictureCombination,
)


def read(*words: str, before: tuple[ImagePrompt, ...] = ()) -> tuple[ImagePrompt, ...]:
    parser = argparse.ArgumentParser()
    image_prompts.add_arguments(parser)
    return image_prompts.with_image_prompts(before, parser.parse_args(words))


def test_options_belong_to_the_image_prompt_before_them(tmp_path: Path) -> None:
    cat, dog = str(tmp_path / "cat.png"), str(tmp_path / "dog.png")
    first, second = read(
        *("--image-prompt", cat, "--adapter", "plus", "--adapter-weight", "0.7"),
        *("--adapter-range", "0,0.5", "--adapter-blocks", "style"),
        *("--image-prompt", dog, "--adapter", "face", "--adapter-mask", cat),
    )
    assert first == ImagePrompt(
        image=cat, adapter="plus", weight=0.7, range=(0.0, 0.5), blocks=AdapterBlocks.STYLE
    )
    assert second == ImagePrompt(image=dog, adapter="face", mask=cat)


def test_several_pictures_and_the_weight_of_keys_are_one_image_prompt(tmp_path: Path) -> None:
    cat, dog, cow = (str(tmp_path / f"{name}.png") for name in ("cat", "dog", "cow"))
    (prompt,) = read(
        *("--image-prompt", cat, "--adapter", "plus", "--adapter-also", dog),
        *("--adapter-also", cow, "--adapter-combine", "norm-average"),
        *("--adapter-scaling", "keys_and_values"),
    )
    assert prompt == ImagePrompt(
        image=cat,
        adapter="plus",
        further=(dog, cow),
        combination=PictureCombination.NORM_AVERAGE,
        scaling=AdapterScaling.KEYS_AND_VALUES,
    )


def test_an_adapter_that_is_there_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "plus.bin").touch()
    (prompt,) = read("--image-prompt", "cat.png", "--adapter", str(tmp_path / "plus.bin"))
    assert prompt.adapter == str(tmp_path / "plus.bin")
    assert Path(prompt.image).is_absolute()


def test_image_prompts_of_a_picture_stay_unless_others_are_named() -> None:
    before = (ImagePrompt(image="/a.png", adapter="a"),)
    assert read(before=before) == before
    (other,) = read("--image-prompt", "/b.png", "--adapter", "b", before=before)
    assert other.adapter == "b"


@pytest.mark.parametrize(
    "words",
    [
        ("--adapter", "plus"),
        ("--image-prompt", "a.png", "--adapter-weight", "heavy"),
        ("--image-prompt", "a.png", "--adapter-weight", "nan"),
        ("--image-prompt", "a.png", "--adapter-range", "1,0"),
        ("--image-prompt", "a.png", "--adapter-blocks", "corner"),
        ("--image-prompt", "a.png", "--adapter-scaling", "corner"),
        ("--image-prompt", "a.png", "--adapter-combine", "corner"),
    ],
)
def test_options_that_mean_nothing_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        read(*words)


def test_an_image_prompt_needs_an_adapter() -> None:
    with pytest.raises(Usage, match="--adapter FILE"):
        read("--image-prompt", "a.png")


def test_files_with_another_content_are_named() -> None:
    before = ImagePromptReport(name="plus", digest="a", encoder_digest="b", image_sha256="c")
    assert image_prompts.changed((before,), (before,)) == ()
    now = ImagePromptReport(name="plus", digest="x", encoder_digest="y", image_sha256="z")
    assert len(image_prompts.changed((before,), (now,))) == 3
