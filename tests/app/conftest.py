"""Every test of the app has folders of its own, and leaves no engine behind."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from pytestqt.qtbot import QtBot

from app.engine.connection import EngineCommand
from app.engine.process import Supervision
from tests.app.fake_engine import Plan
from tests.app.known_hardware import write_verdicts
from tests.app.sessions import Staged
from tests.app.supervised import QUICK, Supervised, fake_command


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("OUTPUT", "CACHE", "MODELS", "STATE", "CONFIG", "LOGS", "VERSIONS"):
        monkeypatch.setenv(f"SAFELIGHT_{name}", str(tmp_path / name.lower()))
    write_verdicts(tmp_path / "cache")


class Supervise(Protocol):
    """Makes a supervised engine, a fake one that follows the plan unless a command is given.

    It is a fork, which ends a moment after the process that the app knows, unless it is `new`.
    """

    def __call__(
        self,
        plan: Plan = ...,
        supervision: Supervision = ...,
        command: EngineCommand | None = ...,
        *,
        new: bool = ...,
    ) -> Supervised: ...


@pytest.fixture
def supervise(tmp_path: Path, qtbot: QtBot) -> Iterator[Supervise]:
    made: list[Supervised] = []

    def make(
        plan: Plan = Plan(),  # noqa: B008 (immutable)
        supervision: Supervision = QUICK,
        command: EngineCommand | None = None,
        *,
        new: bool = False,
    ) -> Supervised:
        command = command or fake_command(plan, new=new)
        made.append(Supervised(tmp_path, qtbot, command, supervision))
        return made[-1]

    yield make
    for supervised in made:
        supervised.end()


@pytest.fixture
def staged(tmp_path: Path, qtbot: QtBot) -> Iterator[Staged]:
    """A session over the real engine, which is not started yet."""
    staged = Staged(tmp_path, qtbot, None)
    yield staged
    staged.end()


@pytest.fixture
def bus() -> Iterator[str]:
    """The address of a bus on which nobody is yet."""
    daemon = shutil.which("dbus-daemon")
    if daemon is None:
        pytest.skip("dbus-daemon is not installed")
    command = [daemon, "--session", "--nofork", "--print-address"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()
