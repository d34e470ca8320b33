"""Arguments that make no sense end with a sentence and status 2, not with a traceback."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from app.cli import run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder with a picture that no command is to touch."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    Image.new("RGB", (8, 8)).save("a.png")
    yield here
    assert [file.name for file in here.iterdir()] == ["a.png"]


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The last line of what a command says that ends with status 2."""
    with pytest.raises(SystemExit) as stop:
        run(arguments)
    assert stop.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


UPSCALE = ["upscale", "a.png", "--model", "lanczos"]
MAP = ["map", "a.png", "--preprocessor", "canny", "--output", "m.png"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["upscale", "", "--model", "lanczos", "--scale", "2"],
        ["upscale", "a.png", "", "--model", "lanczos", "--scale", "2"],
        ["upscale", "a.png", "--model", ""],
        [*UPSCALE, "--scale", "2", "--output", ""],
        ["bench", "--model", ""],
        ["inspect", ""],
        ["bake", "--lora", "x", "--out", ""],
        ["map", "", *MAP[2:]],
        [*MAP, "--weights", ""],
        ["packs", "show", ""],
        ["updates", "check", "--from", ""],
        ["cache", "clear", ""],
        ["generate", "a house", "--model", ""],
        ["generate", "a house", "--from", ""],
        ["generate", "a house", "--init", ""],
        ["generate", "a house", "--refiner", ""],
        ["generate", "a house", "--out", ""],
        ["generate", "a house", "--vae", ""],
        ["generate", "a house", "--backend", ""],
        ["generate", "a house", "--control", ""],
        ["generate", "a house", "--image-prompt", ""],
    ],
)
def test_an_empty_name_is_none(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A script writes one whose variable is not set."""
    told = refused(arguments, capsys)
    assert told.startswith(f"safelight {arguments[0]}")
    assert "an empty text is nothing to go by" in told


def test_a_prompt_may_be_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["generate", "", "--negative", "", "--steps", "0"]) == 1
    assert "number of steps" in capsys.readouterr().err


@pytest.mark.parametrize("command", [UPSCALE, MAP[:-2], ["bench"], ["generate", "a house"]])
def test_a_size_without_pixels_is_none(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    option = "--for-size" if "map" in command else "--size"
    for size in ("0x0", "0x64", "64x0"):
        assert f"'{size}' is no size" in refused([*command, option, size], capsys)


@pytest.mark.parametrize("size", ["8x8", "513x512", "99999x512"])
def test_a_size_that_no_picture_has_is_not_timed(
    size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"{size} is no size of a picture" in refused(["bench", "--size", size], capsys)


@pytest.mark.parametrize("steps", ["0", "-1", "99999999999999999999"])
def test_a_number_of_steps_that_no_picture_has_is_not_timed(
    steps: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refused(["bench", "--steps", steps], capsys)
    assert f"--steps is from 1 to 1000, not {steps}" in told
