"""`safelight settings`: what the window has, on the command line."""

import json
from pathlib import Path

import pytest

from app.cli import run
from app.settings.reading import FILE, read_settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / FILE


def test_every_setting_is_shown_with_its_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["settings"]) == 0
    shown = capsys.readouterr().out
    assert "quality" in shown
    assert "92" in shown
    assert "PNG keeps every pixel" in shown


def test_a_setting_is_changed_and_taken_back(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["settings", "picture_format", "webp"]) == 0
    assert capsys.readouterr().out == "webp\n"
    assert run(["settings", "metadata", "false"]) == 0
    assert run(["settings", "shortcuts", '{"generate": "Ctrl+G"}']) == 0
    capsys.readouterr()
    assert run(["settings", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["picture_format"], shown["metadata"]) == ("webp", False)
    assert shown["shortcuts"] == {"generate": "Ctrl+G"}
    assert run(["settings", "picture_format", "usual"]) == 0
    assert read_settings(file).settings.picture_format == "png"


def test_a_relative_folder_is_one_of_the_shells(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("pictures_folder", "models_folder", "wildcards_folder"):
        assert run(["settings", name, "my folder"]) == 0
        assert getattr(read_settings(file).settings, name) == str(tmp_path / "my folder")
        assert run(["settings", name, ""]) == 0
        assert getattr(read_settings(file).settings, name) == ""


@pytest.mark.parametrize(("name", "value"), [("quality", "101"), ("look", "mauve"), ("x", "1")])
def test_values_that_make_no_sense_are_refused(
    file: Path, name: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run(["settings", name, value])
    assert name in capsys.readouterr().err
    assert not file.exists()


def test_a_damaged_file_is_told_and_left_alone(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir()
    file.write_text("look = ")
    assert run(["settings", "quality", "50"]) == 1
    assert "cannot be used" in capsys.readouterr().err
    assert file.read_text() == "look = "
