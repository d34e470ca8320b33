"""A file is shown in the desktop's file manager, or its folder is opened where there is none."""

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from pytestqt.qtbot import QtBot

from app.notices.notices import NoticeState
from ui.picture_actions import reveal

NAME = "a red house, at night #1.png"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="D-Bus is asked on Linux only")


class Desktop:
    """A `dbus-send` that keeps its arguments and ends with a status; the folders opened instead."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, status: int) -> None:
        self.opened: list[Path] = []
        self.opens = True
        self.arguments = folder / "arguments"
        program = folder / "dbus-send"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {self.arguments}\nexit {status}\n')
        program.chmod(0o755)

        def find(_name: str) -> str:
            return str(program)

        patch.setattr("ui.picture_actions.QStandardPaths.findExecutable", find)
        patch.setattr("ui.picture_actions.QDesktopServices.openUrl", self._open)

    def _open(self, url: QUrl) -> bool:
        self.opened.append(Path(url.toLocalFile()))
        return self.opens


def test_the_folder_is_opened_where_no_file_manager_answers(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop = Desktop(tmp_path, monkeypatch, status=1)
    reveal(str(tmp_path / NAME), NoticeState())
    qtbot.waitUntil(lambda: desktop.opened == [tmp_path])
    assert "--print-reply" in desktop.arguments.read_text()


@pytest.mark.parametrize("opens", [True, False])
def test_a_folder_that_no_program_shows_is_named(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, opens: bool
) -> None:
    """Once nothing happened at all."""
    desktop, notices = Desktop(tmp_path, monkeypatch, status=1), NoticeState()
    desktop.opens = opens
    reveal(str(tmp_path / NAME), notices)
    qtbot.waitUntil(lambda: desktop.opened == [tmp_path])
    hints = [notice.hint for notice in notices.notices]
    assert hints == ([] if opens else [str(tmp_path)])


def test_a_file_whose_name_has_a_comma_is_one_file(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`dbus-send` takes a comma for the end of an entry."""
    desktop = Desktop(tmp_path, monkeypatch, status=0)
    reveal(str(tmp_path / NAME), NoticeState())
    qtbot.waitUntil(lambda: desktop.arguments.exists() and "string:\n" in _text(desktop))
    (entry,) = [line for line in _text(desktop).splitlines() if line.startswith("array:")]
    assert "," not in entry
    assert QUrl(entry.removeprefix("array:string:")).toLocalFile() == str(tmp_path / NAME)
    assert desktop.opened == []


def _text(desktop: Desktop) -> str:
    return desktop.arguments.read_text()
