"""`--lora FILE[:STRENGTH[:TEXT]]`."""

import argparse
from pathlib import Path

import msgspec
import pytest

from app.cli import generate
from app.cli.loras import changed, folders, parse_lora, with_loras
from app.library.lora_memory import LoraMemory
from app.model_folders import named_folders
from engine.api.lora import LoraChoice, LoraReport
from tests.app.folders import folders_in


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ink", LoraChoice(file="ink")),
        ("ink:0.8", LoraChoice(file="ink", strength=0.8)),
        ("ink:0.8:-0.5", LoraChoice(file="ink", strength=0.8, text_strength=-0.5)),
        ("styles/ink.safetensors:2", LoraChoice(file="styles/ink.safetensors", strength=2)),
        ("C:\\loras\\ink.safetensors", LoraChoice(file="C:\\loras\\ink.safetensors")),
        ("C:\\ink.pt:0.5", LoraChoice(file="C:\\ink.pt", strength=0.5)),
        ("C:\\ink.pt:0.5:1", LoraChoice(file="C:\\ink.pt", strength=0.5, text_strength=1)),
        ("nan:0.5", LoraChoice(file="nan", strength=0.5)),
        ("ink:v2", LoraChoice(file="ink:v2")),
        ("ink:v2:1e-1", LoraChoice(file="ink:v2", strength=0.1)),
        ("ink:3:0.5:1", LoraChoice(file="ink:3", strength=0.5, text_strength=1)),
    ],
)
def test_a_lora_has_a_name_and_up_to_two_strengths(text: str, wanted: LoraChoice) -> None:
    assert parse_lora(text) == wanted


def test_a_file_whose_name_ends_with_a_number_is_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ink:2", "ink"):
        (tmp_path / name).touch()
    assert parse_lora("ink:2") == LoraChoice(file=str(tmp_path / "ink:2"))
    assert parse_lora("ink:2:0.5") == LoraChoice(file=str(tmp_path / "ink:2"), strength=0.5)
    assert parse_lora("ink:3") == LoraChoice(file=str(tmp_path / "ink"), strength=3)


@pytest.mark.parametrize("text", ["", ":0.5", "ink:101", "ink:-101", "ink:nan", "ink:1:inf"])
def test_a_text_that_names_no_lora_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        parse_lora(text)


def test_a_lora_that_is_given_again_has_its_new_strength() -> None:
    before = (LoraChoice(file="a"), LoraChoice(file="b", strength=0.5))
    changed = with_loras(before, [LoraChoice(file="b", strength=0.7), LoraChoice(file="c")])
    assert [(lora.file, lora.strength) for lora in changed] == [("a", 1), ("b", 0.7), ("c", 1)]


def test_a_lora_whose_file_has_changed_is_told() -> None:
    def reports(**digests: str) -> tuple[LoraReport, ...]:
        return tuple(LoraReport(name=name, digest=digest) for name, digest in digests.items())

    before = reports(same="1", other="1", found_since="", lost="1")
    assert changed(before, reports(same="1", other="2", found_since="3", lost="")) == ("other",)


def test_the_option_is_taken_several_times() -> None:
    parser = argparse.ArgumentParser()
    generate.add_arguments(parser)
    options = parser.parse_args(["a house", "--lora", "a:0.5", "--lora", "b"])
    assert options.wanted_loras == [LoraChoice(file="a", strength=0.5), LoraChoice(file="b")]


def test_pictures_are_made_with_the_loras_of_the_windows_folders(tmp_path: Path) -> None:
    paths = msgspec.structs.replace(folders_in(tmp_path), loras=(tmp_path / "shared",))
    LoraMemory(paths.state).add_folder(tmp_path / "window")
    parser = argparse.ArgumentParser()
    generate.add_arguments(parser)
    options = parser.parse_args(["a house", "--lora-folder", str(tmp_path / "option")])
    wanted = tuple(tmp_path / name for name in ("option", "shared", "window"))
    assert folders(paths, options) == wanted
    assert "the folders that are named in the window" in " ".join(parser.format_help().split())


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"folders": 1}'])
def test_a_damaged_list_of_folders_names_none(tmp_path: Path, content: bytes) -> None:
    paths = folders_in(tmp_path)
    paths.state.mkdir()
    (paths.state / "loras.json").write_bytes(content)
    assert named_folders(paths) == ()
