"""The tryout notices what is wrong with a tree."""

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from installers.tryout.__main__ import contents, unchanged
from installers.tryout.commands import same_picture
from installers.tryout.program import Program, TryoutError, checked_out


def program(folder: Path, script: str) -> Program:
    return Program(("sh", "-c", script), folder, folder)


def test_a_tree_that_nothing_wrote_into_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.pyc").write_text("a")
    unchanged(tmp_path, contents(tmp_path))


@pytest.mark.parametrize("name", ["a.pyc", "b.pyc", "__pycache__/a.pyc"])
def test_a_file_that_was_written_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.pyc").write_text("a")
    before = contents(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("other")
    with pytest.raises(TryoutError, match=name):
        unchanged(tmp_path, before)


def test_a_command_that_fails_is_named_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(TryoutError, match=r"`safelight `.* 3, not 0:\nno disk"):
        program(tmp_path, "echo no disk >&2; exit 3").run()


def test_a_warning_of_the_interpreter_is_refused(tmp_path: Path) -> None:
    warned = "echo Could not find platform dependent libraries '<exec_prefix>' >&2"
    with pytest.raises(TryoutError, match="exec_prefix"):
        program(tmp_path, warned).run()


def test_a_program_that_makes_no_picture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TryoutError, match=r"there is no .*a\.png"):
        program(tmp_path, "exit 0").picture("a.png")


def test_a_program_has_nothing_of_the_present_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFELIGHT_TEST", "here")
    asked = replace(
        program(tmp_path, 'echo "$SAFELIGHT_TEST" "$HOME" "$OWN"'), environment={"OWN": "1"}
    )
    assert asked.run() == f" {tmp_path} 1\n"


def test_the_checkout_is_asked_in_folders_of_its_own(tmp_path: Path) -> None:
    found = checked_out(tmp_path).answer("models")
    assert Path(found["folder"]).is_relative_to(tmp_path)
    assert [model["name"] for model in found["models"]] == ["starter"]


def test_pictures_may_differ_by_rounding_alone(tmp_path: Path) -> None:
    paths = [tmp_path / f"{value}.png" for value in (100, 102, 103)]
    for path in paths:
        Image.new("RGB", (4, 4), (int(path.stem),) * 3).save(path)
    same_picture(paths[0], paths[1])
    with pytest.raises(TryoutError, match="by 3 of 255"):
        same_picture(paths[0], paths[2])
