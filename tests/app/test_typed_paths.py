"""Paths that a person types are understood, or refused in a sentence, wherever they are typed."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from app.cli import run
from app.paths import find_paths, typed_path, typed_text
from engine.devices.trials import Trials
from engine.errors import EngineError

NOBODY = "~nosuchuser/file"
LONG_NAME = "m" * 300
LONG_PATH = "/".join(["m" * 200] * 30)
QUICK = ("generate", "a house", "--steps", "1")
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other limits")

PLACES = {
    "model": (*QUICK, "--model"),
    "vae": (*QUICK, "--vae"),
    "denoiser": (*QUICK, "--denoiser"),
    "refiner": (*QUICK, "--refiner"),
    "init": (*QUICK, "--init"),
    "mask": (*QUICK, "--init", "picture.png", "--mask"),
    "from": ("generate", "--from"),
    "preview": (*QUICK, "--preview"),
    "out": (*QUICK, "--out"),
    "inspect": ("inspect",),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a picture."""
    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (64, 64)).save("picture.png")
    return tmp_path


def refusal(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> str:
    assert run(arguments) == 1
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    return said


@posix
@pytest.mark.parametrize("path", [NOBODY, LONG_NAME, f"{LONG_NAME}.png", LONG_PATH], ids=len)
@pytest.mark.parametrize("place", PLACES)
def test_a_path_that_cannot_be_is_refused_in_a_sentence(
    place: str, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capsys, [*PLACES[place], path])
    assert "home folder" in said if path == NOBODY else "is longer than this system takes" in said


@pytest.mark.parametrize("variable", ["OUTPUT", "CACHE", "MODELS", "WILDCARDS", "STATE", "LOGS"])
def test_a_folder_of_nobody_is_refused_in_a_sentence(
    variable: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"SAFELIGHT_{variable}", NOBODY)
    assert "no home folder" in refusal(capsys, ["generate", "a house"])
    with pytest.raises(EngineError):
        find_paths()


def test_paths_mean_what_a_shell_would_make_of_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    assert typed_path("~/a.ckpt") == folder / "a.ckpt"
    assert typed_path("a.ckpt") == folder / "a.ckpt"
    assert typed_text(f"new{os.sep}") == f"new{os.sep}"
    (folder / "~odd.ckpt").touch()
    assert typed_path("~odd.ckpt") == folder / "~odd.ckpt"


@posix
@pytest.mark.parametrize(
    ("path", "said"),
    [
        (".", "it is a folder"),
        ("/dev/zero", "it is a device"),
        ("pipe", "it is a pipe"),
        ("none.png", "there is no such file"),
        ("picture.png/none.png", "there is no such file"),
        ("loop", "Too many levels of symbolic links"),
    ],
)
@pytest.mark.parametrize("option", ["--init", "--mask", "--from"])
def test_a_file_that_is_no_picture_is_named_by_its_kind(
    option: str, path: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    first = ["--init", "picture.png"] if option == "--mask" else []
    assert said in refusal(capsys, [*QUICK, *first, option, path])


@pytest.mark.parametrize("out", ["file/", "file/deeper/", "file/picture.png"])
def test_an_unusable_output_folder_is_told_before_any_device_is_tried(
    out: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (folder / "file").touch()
    tried: list[str] = []

    def note(*_: object) -> None:
        tried.append(out)

    monkeypatch.setattr(Trials, "run", note)
    monkeypatch.setenv("SAFELIGHT_CACHE", str(folder / "new"))
    assert "Nothing can be written to" in refusal(capsys, [*QUICK, "--out", out])
    assert tried == []


def test_a_folder_that_is_a_file_is_called_one(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").touch()
    assert "it is no folder" in refusal(capsys, [*QUICK, "--out", "file/"])
    monkeypatch.setenv("SAFELIGHT_WILDCARDS", str(folder / "file"))
    assert "is a file" in refusal(capsys, ["generate", "a __cat__", "--steps", "1"])


@posix
def test_a_name_of_255_bytes_that_is_taken_is_saved_beside_it(folder: Path) -> None:
    name = "x" * 251 + ".png"
    (folder / name).touch()
    done = subprocess.run(
        [sys.executable, "-m", "app", *QUICK, "--size", "64x64", "--out", str(folder / name)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(folder / ("x" * 249 + "-1.png"))


def test_a_path_with_a_null_character_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "is not in" in refusal(capsys, ["inspect", "a\0b"])
