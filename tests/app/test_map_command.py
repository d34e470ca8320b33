"""`safelight map`."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.cli import run
from engine.api.preprocessors import (
    CannyOptions,
    PidinetOptions,
    PreprocessorName,
    ThresholdOptions,
)
from engine.preprocessors.annotators import AnnotatorKind
from engine.preprocessors.run import make_map
from tests.checkpoints.arrays import write_arrays
from tests.preprocessors.annotator_files import loaded, stored
from tests.preprocessors.pictures import shapes


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "discs.png"
    Image.fromarray(shapes(120, 90)).save(path)
    return path


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image)


def test_a_map_is_written_with_the_options(
    picture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = picture.with_name("edges.png")
    options = ["--option", "low=40", "--option", "high=90", "--option", "resolution=128"]
    arguments = ["map", str(picture), "--preprocessor", "canny", *options]
    assert run([*arguments, "--output", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}\n"
    wanted = make_map(shapes(120, 90), CannyOptions(resolution=128, low=40, high=90))
    assert np.array_equal(pixels(target), wanted)


def test_a_map_in_a_folder_is_named_after_its_picture(
    picture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["map", str(picture), "--preprocessor", "threshold", "--json"]
    size = ["--for-size", "240x240", "--whole"]
    assert run([*arguments, *size, "--output", str(picture.parent)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["path"] == str(picture.with_name("discs-threshold.png"))
    assert (told["width"], told["height"]) == (240, 180)
    assert told["options"]["preprocessor"] == "threshold"
    wanted = make_map(shapes(120, 90), ThresholdOptions(resolution=180))
    assert np.array_equal(pixels(Path(told["path"])), wanted)


def test_a_file_of_weights_is_run(picture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = picture.with_name("edges.safetensors")
    write_arrays(weights, stored(AnnotatorKind.PIDINET))
    options = ["--option", "resolution=64", "--option", "safe=true", "--weights", str(weights)]
    target = picture.with_name("soft.png")
    arguments = ["map", str(picture), *options, "--output", str(target), "--preprocessor"]
    assert run([*arguments, "softedge_pidinet"]) == 0
    network = loaded(weights)
    wanted = make_map(shapes(120, 90), PidinetOptions(resolution=64, safe=True), network)
    network.close()
    assert np.array_equal(pixels(target), wanted)
    capsys.readouterr()
    assert run([*arguments, "softedge_hed"]) == 1
    assert "Its usual name is ControlNetHED.pth." in capsys.readouterr().err


def test_a_transparent_picture_lies_on_white(tmp_path: Path) -> None:
    path, target = tmp_path / "clear.png", tmp_path / "negative.png"
    Image.new("RGBA", (5, 4), (9, 9, 9, 0)).save(path)
    assert run(["map", str(path), "--preprocessor", "invert", "--output", str(target)]) == 0
    assert not pixels(target).any()


def test_every_preprocessor_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["map", "--list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert names == [name.value for name in PreprocessorName], (
        "PREPROCESSORS in engine/api/preprocessors.py has all names, in their order"
    )
    assert run(["map", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["preprocessors"]
    assert [preprocessor["name"] for preprocessor in listed] == names
    assert listed[0]["options"]["low"] == 100


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["discs.png"], 2, "give a picture, --preprocessor NAME and --output FILE"),
        (["--preprocessor", "magic"], 2, "invalid choice"),
        (
            ["--preprocessor", "canny", "--option", "size=3"],
            2,
            "options of canny: low, high, resolution",
        ),
        (["--preprocessor", "canny", "--option", "low=much"], 2, "no value of low"),
        (["--preprocessor", "canny", "--option", "low=999"], 1, "must be from 1 to 255"),
        (["--preprocessor", "invert", "--for-size", "64x64"], 2, "with a resolution"),
        (["--preprocessor", "lineart"], 1, "Its usual name is sk_model.pth / sk_model2.pth"),
        (["--preprocessor", "lineart", "--weights", "gone.pth"], 1, "gone.pth"),
        (["--preprocessor", "canny", "--for-size", "9000x9000"], 1, "a side has at most 8192"),
    ],
)
def test_wrong_use_is_told(
    picture: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    status: int,
    words: str,
) -> None:
    monkeypatch.chdir(picture.parent)
    target = ["--output", "new.png"] if "--preprocessor" in arguments else []
    name = [] if "discs.png" in arguments else ["discs.png"]
    try:
        found = run(["map", *name, *arguments, *target])
    except SystemExit as stop:
        found = stop.code
    assert found == status
    assert words in capsys.readouterr().err
    assert not Path("new.png").exists()


def test_a_picture_that_claims_256_million_pixels_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broad.png"
    Image.new("1", (16_000, 16_000)).save(path)
    arguments = ["map", str(path), "--preprocessor", "canny", "--output", str(tmp_path / "new.png")]
    assert run(arguments) == 1
    assert "claims more than 89 million pixels" in capsys.readouterr().err
