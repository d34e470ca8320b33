"""Talking to a real engine process over its pipes."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Event, Thread
from typing import IO, TypeVar

import msgspec

from engine.api.messages import (
    Command,
    Configure,
    Hello,
    ImageSaved,
    JobCancelled,
    JobFailed,
    JobFinished,
    JobPhase,
    JobPreview,
    JobProgress,
    JobWarned,
    Message,
    Ready,
    RunJob,
    Shutdown,
)
from engine.api.messages import Event as AnyEvent
from engine.api.upscale_messages import ImageUpscaled, RunUpscale
from engine.api.wire import FrameParser, decode_event, encode
from tests.forks import forked
from tests.server.scripted_engine import Plan

# As the app starts it.
ENGINE = (sys.executable, "-I", "-m", "engine")
# It does not yield to the other processes of the tests, which leave it little.
UNYIELDING = (
    *(sys.executable, "-I", "-c"),
    "import engine.server as server; server.yield_to_others = lambda: None; server.main()",
)
_SCRIPT = str(Path(__file__).with_name("scripted_engine.py"))
# Generous: nothing here depends on how long things take.
PATIENCE_S = 120.0

Ending = JobFinished | JobCancelled | JobFailed
OfJob = JobPhase | JobProgress | JobWarned | JobPreview | ImageSaved | ImageUpscaled | Ending
T = TypeVar("T", bound=Message)


def scripted(plan: Plan, *, new: bool = False) -> tuple[str, ...]:
    """The command of an engine that does as it is told; a new process, or a fork."""
    arguments = (_SCRIPT, msgspec.json.encode(plan).decode())
    # What is missing must be missing from the start.
    return (sys.executable, "-I", *arguments) if new or plan.missing else forked(*arguments)


@dataclass(frozen=True)
class Heard:
    """An event and what it carried."""

    event: AnyEvent
    payload: bytes


class Conversation:
    """An engine process, everything it said, and a way to wait for more."""

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        *,
        reads: bool = True,
    ) -> None:
        """`folder` holds the cache and is where it runs; unless it `reads`, set `may_read`."""
        self.folder, self.command = folder, tuple(command)
        self.heard: list[Heard] = []
        self.jobs: list[str] = []
        self.may_read = Event()
        if reads:
            self.may_read.set()
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`)
        self.process = subprocess.Popen(
            [*command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            cwd=folder,
            env=None if environment is None else dict(environment),
        )
        self._changed = Condition()
        self._over = False
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()

    # --- talking ---

    def send(self, *commands: Command) -> None:
        """Send commands, in one write."""
        self.jobs += [
            command.job for command in commands if isinstance(command, RunJob | RunUpscale)
        ]
        self.send_bytes(b"".join(encode(command) for command in commands))

    def send_bytes(self, data: bytes) -> None:
        """Send whatever this is."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def hang_up(self) -> None:
        """Close the command pipe."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def configure(self) -> None:
        """Go through the handshake."""
        self.wait_for(Hello)
        self.send(Configure(cache=str(self.folder / "cache")))
        self.wait_for(Ready)

    # --- listening ---

    @property
    def events(self) -> list[AnyEvent]:
        """The events so far."""
        return [heard.event for heard in self.heard]

    def of(self, kind: type[T]) -> list[T]:
        """The events of a kind that were heard so far."""
        return [event for event in self.events if isinstance(event, kind)]

    def wait_for(self, kind: type[T], like: Callable[[T], bool] = lambda _event: True) -> T:
        """The first event of a kind that is as wanted, heard before or to come."""
        found: list[T] = []

        def is_here() -> bool:
            found[:] = [event for event in self.of(kind) if like(event)]
            return bool(found) or self._over

        with self._changed:
            arrived = self._changed.wait_for(is_here, PATIENCE_S)
        assert found, f"{kind.__name__} did not come (arrived: {arrived})\n{self.describe()}"
        return found[0]

    def wait_for_end(self) -> int:
        """The exit status, once the process has ended and everything it said is heard."""
        status = self.process.wait(PATIENCE_S)
        self._listener.join(PATIENCE_S)
        assert not self._listener.is_alive()
        return status

    def stderr(self) -> str:
        """The output of the process on stderr."""
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace")

    def describe(self) -> str:
        """The last events and what was printed, for a failure."""
        return "\n".join([*(repr(event)[:200] for event in self.events[-20:]), self.stderr()])

    # --- ending ---

    def shut_down(self) -> None:
        """End it properly; every job must have ended in exactly one way.

        An engine that is not scripted may take longer than it has, on a machine that is busy.
        """
        self.send(Shutdown())
        status = self.wait_for_end()
        assert status == 0 or (status == 1 and _SCRIPT not in self.command), self.describe()
        assert sorted(check_stream(self.events, self.jobs)) == sorted(self.jobs)

    def end(self) -> None:
        """Leave no process behind, and look whether what it said makes sense."""
        self.process.kill()
        self.may_read.set()
        self.wait_for_end()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdout.close()
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self._stderr.close()
        check_stream(self.events, self.jobs)

    def _listen(self) -> None:
        assert self.process.stdout is not None
        parser, descriptor = FrameParser(), self.process.stdout.fileno()
        self.may_read.wait()
        while data := os.read(descriptor, 1 << 16):
            for frame in parser.feed(data):
                with self._changed:
                    self.heard.append(Heard(decode_event(frame), frame.payload))
                    self._changed.notify_all()
        with self._changed:
            self._over = True
            self._changed.notify_all()


def check_stream(events: Sequence[AnyEvent], sent: Sequence[str]) -> list[str]:
    """Check the rules of every stream of events; return the jobs that ended, in order.

    Hello comes first; a job's ending is the last that is said of it, unless it was `sent` again;
    running jobs do not mix.
    """
    assert not events or isinstance(events[0], Hello)
    running: str | None = None
    over: list[str] = []
    for event in events:
        if not isinstance(event, OfJob):
            continue
        assert over.count(event.job) < sent.count(event.job), f"{event} comes after its job's end"
        if isinstance(event, Ending):
            over.append(event.job)
            running = None if running == event.job else running
        else:
            assert running in (None, event.job), f"{event} comes while {running} runs"
            running = event.job
    return over
