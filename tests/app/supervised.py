"""A supervised engine for tests: everything it tells is recorded, and none is left behind."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec
from pytestqt.qtbot import QtBot

from app.engine.client import EngineClient
from app.engine.connection import EngineCommand
from app.engine.end import EngineEnd
from app.engine.process import EngineProcess, EngineState, Supervision
from engine.api.messages import Event, Message
from engine.api.values import ErrorInfo
from tests.app.fake_engine import Plan
from tests.app.folders import folders_in
from tests.forks import forked

# Generous: nothing here depends on how long things take.
PATIENCE_MS = 60_000
# What a person waits for seconds takes a moment here.
QUICK = Supervision(ping_ms=50, stop_ms=500, restart_ms=(0, 20, 40))
T = TypeVar("T", bound=Message)


def fake_command(plan: Plan, *, new: bool = False) -> EngineCommand:
    """Return the command that starts a fake engine: a new process, or a fork."""
    script = str(Path(__file__).with_name("fake_engine.py"))
    arguments = (script, msgspec.json.encode(plan).decode())
    if new:
        return EngineCommand(sys.executable, ("-I", *arguments))
    return _command(*forked(*arguments))


def forked_engine(packs: Path) -> EngineCommand:
    """Return the command of a real engine that is forked."""
    return _command(*forked("-m", "engine", "--parent", str(os.getpid())), packs=str(packs))


def _command(program: str, *arguments: str, packs: str = "") -> EngineCommand:
    return EngineCommand(program, arguments, packs)


@dataclass
class Told:
    """The signals of the supervision, in order."""

    states: list[EngineState] = field(default_factory=list[EngineState])
    events: list[tuple[Event, bytes]] = field(default_factory=list[tuple[Event, bytes]])
    ends: list[EngineEnd] = field(default_factory=list[EngineEnd])
    crashes: list[ErrorInfo] = field(default_factory=list[ErrorInfo])
    given_up: list[ErrorInfo] = field(default_factory=list[ErrorInfo])

    def of(self, kind: type[T]) -> list[T]:
        """The events of a kind."""
        return [event for event, _ in self.events if isinstance(event, kind)]


def is_alive(pid: int) -> bool:
    """Return True if the process runs; one that has ended and was not waited for does not."""
    if sys.platform == "win32":
        # os.kill would end it there.
        command = ["tasklist", "/FI", f"PID eq {pid}", "/NH"]
        return (
            str(pid) in subprocess.run(command, capture_output=True, text=True, check=True).stdout
        )
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if sys.platform != "linux":
        return True
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


class Supervised:
    """An EngineProcess with its client, and what they told."""

    def __init__(
        self, folder: Path, bot: QtBot, command: EngineCommand, supervision: Supervision
    ) -> None:
        self._bot = bot
        self.folder = folder
        self.logs = folder / "logs"
        self.told = Told()
        self.process = EngineProcess(folders_in(folder), command=command, supervision=supervision)
        self.client = EngineClient(self.process)
        self.process.state_changed.connect(self.told.states.append)
        self.process.received.connect(self._heard)
        self.process.ended.connect(self.told.ends.append)
        self.process.crashed.connect(self.told.crashes.append)
        self.process.gave_up.connect(self.told.given_up.append)

    def wait(self, condition: Callable[[], bool], milliseconds: int = PATIENCE_MS) -> None:
        """Let events happen until this holds."""
        try:
            self._bot.waitUntil(condition, timeout=milliseconds)
        except Exception:
            print(self.told, self.process.last_lines)  # noqa: T201
            raise

    def start(self) -> "Supervised":
        """Start and wait until it is ready."""
        self.process.start()
        self.wait(lambda: self.process.state is EngineState.READY)
        return self

    def wait_for(self, kind: type[T], count: int = 1) -> list[T]:
        """The first `count` events of a kind."""
        self.wait(lambda: len(self.told.of(kind)) >= count)
        return self.told.of(kind)[:count]

    @property
    def pid(self) -> int:
        """The present engine's process id, as it said."""
        assert self.process.hello is not None
        return self.process.hello.pid

    def end(self) -> None:
        """Leave no process behind."""
        self.process.stop()
        self.process.wait_until_stopped()

    def _heard(self, event: Event, payload: bytes) -> None:
        self.told.events.append((event, payload))
