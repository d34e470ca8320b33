"""A start that fails says so where a person sees it, and names what Windows refuses."""

import ctypes
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from app import faulty_start
from app.installation import explain
from engine.refused_files import is_refused

POLICY = "An Application Control policy has blocked this file. "


@pytest.fixture
def boxes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The message boxes that a Windows shows, whose texts are recorded here."""
    shown: list[tuple[object, ...]] = []

    def show(*arguments: object) -> None:
        shown.append(arguments)

    user32 = SimpleNamespace(MessageBoxW=show)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(user32=user32), raising=False)
    monkeypatch.setattr(ctypes, "FormatError", {4551: POLICY}.get, raising=False)
    return shown


def test_the_program_without_a_console_shows_a_box(
    boxes: list[tuple[object, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/Safelight/runtime/pythonw.exe")
    assert faulty_start.say("It failed.", "Do this.") == 1
    assert boxes[0][1] == "It failed.\n\nDo this."


def test_the_command_shows_no_box(
    boxes: list[tuple[object, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "executable", "/Safelight/runtime/python.exe")
    faulty_start.say("It failed.", "Do this.")
    assert not boxes
    assert capsys.readouterr().err == "It failed. Do this.\n"


@pytest.mark.usefixtures("boxes")
def test_an_import_that_a_policy_refuses_is_recognised_by_windows_own_words() -> None:
    refused = ImportError(f"DLL load failed while importing QtCore: {POLICY.strip()}")
    assert is_refused(refused)
    message, hint = explain(refused)
    assert message == "Windows does not let Safelight load one of its files."
    assert "Smart App Control" in hint
    assert "QtCore" in hint


@pytest.mark.usefixtures("boxes")
def test_other_failures_are_not_taken_for_refused_ones() -> None:
    assert not is_refused(ImportError("DLL load failed while importing QtCore: not found"))


def test_a_program_that_a_policy_refuses_is_recognised_by_its_number() -> None:
    error = OSError("refused")
    error.winerror = 4551  # type: ignore[attr-defined]
    assert is_refused(error)


def test_a_module_that_is_missing_ends_the_start_with_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @faulty_start.say_of_import
    def start() -> NoReturn:
        raise ModuleNotFoundError("No module named 'ui'")

    with pytest.raises(SystemExit) as ended:
        start()
    assert ended.value.code == 1
    assert capsys.readouterr().err == (
        "A part of Safelight cannot be loaded: No module named 'ui'. Install Safelight again.\n"
    )


@pytest.mark.parametrize(("arguments", "shown"), [([], True), (["generate", "a house"], False)])
def test_a_box_tells_of_a_window_on_macos_whose_error_stream_nobody_sees(
    arguments: list[str], shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = tmp_path / "box"
    command = faulty_start.alert_command("It does not start.", 'Say "help" & go.')
    assert command[0] == "/usr/bin/osascript"
    told = [sys.executable, "-c", f"import sys; open({str(box)!r}, 'w').write(repr(sys.argv[1:]))"]

    def recorded(*texts: str) -> list[str]:
        return [*told, *texts]

    def unseen(_descriptor: int) -> bool:
        return False

    monkeypatch.setattr(faulty_start, "alert_command", recorded)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "isatty", unseen)
    monkeypatch.setattr(sys, "argv", ["safelight", *arguments])
    assert faulty_start.say("It does not start.", 'Say "help" & go.') == 1
    assert box.exists() == shown
    # The texts are arguments of the script, so that none of their characters is a part of it.
    assert command[-2:] == ["It does not start.", 'Say "help" & go.']
    assert "help" not in " ".join(command[:-2])
