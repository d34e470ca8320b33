"""The computer does not fall asleep while pictures are made, and may once they are."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.queue.wakefulness import Wakefulness
from app.session_bus import has_owner
from app.staying_awake import by_program, stay_awake
from engine.api.request import GenerateRequest
from tests.app.fake_engine import Plan
from tests.app.session_bus import Desktop
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, fake_command

GNOME = "org.gnome.SessionManager"
OTHERS = "org.freedesktop.PowerManagement"
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the bus")


@linux
@pytest.mark.parametrize(
    ("name", "interface", "arguments"),
    [
        # 4 is suspending, and no more than that.
        (GNOME, GNOME, ("safelight", 0, "Pictures are made or files are downloaded", 4)),
        (OTHERS, f"{OTHERS}.Inhibit", ("Safelight", "Pictures are made or files are downloaded")),
    ],
    ids=["GNOME", "KDE"],
)
def test_a_desktop_is_asked_to_stay_awake_until_the_release(
    name: str, interface: str, arguments: tuple[str | int, ...], bus: str, qtbot: QtBot
) -> None:
    desktop = Desktop(interface)
    with desktop.on(bus, name):
        release = stay_awake({"DBUS_SESSION_BUS_ADDRESS": bus})
        assert release is not None
        qtbot.waitUntil(lambda: bool(desktop.asked))
        ((sender, told),) = desktop.asked
        assert told == arguments
        # Desktops undo what was asked by a program that leaves the bus.
        assert has_owner(bus, sender)
        release()
        qtbot.waitUntil(lambda: not has_owner(bus, sender))


@linux
def test_where_nobody_can_be_asked_that_is_no_fault(bus: str, tmp_path: Path) -> None:
    assert stay_awake({"DBUS_SESSION_BUS_ADDRESS": bus}) is None
    assert stay_awake({"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path / 'bus'}"}) is None
    assert stay_awake({}) is None


@pytest.mark.skipif(sys.platform == "win32", reason="a program of Unix")
def test_a_program_that_keeps_the_computer_awake_ends_with_the_release(
    tmp_path: Path, qtbot: QtBot
) -> None:
    note = tmp_path / "note"
    release = by_program(("/bin/sh", "-c", f"echo $$ > '{note}'; exec sleep 600"))
    qtbot.waitUntil(lambda: note.exists() and note.read_text().endswith("\n"))
    process = int(note.read_text())
    os.kill(process, 0)
    release()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.fixture
def awake(
    bus: str, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Staged, Desktop]]:
    """A session whose jobs take a moment, on a desktop that notes who keeps it awake."""
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus)
    staged = Staged(tmp_path, qtbot, fake_command(Plan(steps=3, step_seconds=0.05)), QUICK)
    wakefulness = Wakefulness(staged.queue, staged.session.background, rest_ms=1)
    desktop = Desktop(GNOME)
    with desktop.on(bus, GNOME):
        yield staged.start(), desktop
        wakefulness.end()
        staged.end()


@linux
def test_the_computer_stays_awake_for_the_jobs_of_the_queue(
    awake: tuple[Staged, Desktop], bus: str, tmp_path: Path
) -> None:
    staged, desktop = awake
    assert desktop.asked == []
    staged.queue.submit(GenerateRequest(prompt="a house"), tmp_path)
    staged.wait(lambda: bool(desktop.asked))
    ((sender, _),) = desktop.asked
    staged.wait_for_jobs(1)
    staged.wait(lambda: not has_owner(bus, sender))
