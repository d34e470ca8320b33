"""An EngineProcess without a process: tests say what it does, and see what it was sent."""

from pathlib import Path
from typing import TypeVar

from app.engine.end import EngineEnd
from app.engine.process import EngineProcess, EngineState
from engine.api.messages import Command, Event, JobFinished, Message, RunJob
from engine.api.record import Timings
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.folders import folders_in

T = TypeVar("T", bound=Message)
CRASH = ErrorInfo(ErrorCode.ENGINE_CRASHED, "The engine crashed.", "Try again.")
_NO_TIME = Timings(load_s=0, compile_s=0, encode_s=0, denoise_s=0, decode_s=0, save_s=0, total_s=0)


class SilentProcess(EngineProcess):
    """Ready at once; what is sent goes into `sent`."""

    def __init__(self, folder: Path, state: EngineState = EngineState.READY) -> None:
        super().__init__(folders_in(folder))
        self.sent: list[Command] = []
        self._now = state

    @property
    def state(self) -> EngineState:
        return self._now

    def send(self, command: Command) -> bool:
        connected = self._now in (EngineState.READY, EngineState.NOT_ANSWERING)
        if connected:
            self.sent.append(command)
        return connected

    def become(self, state: EngineState) -> None:
        """Change the state."""
        self._now = state
        self.state_changed.emit(state)

    def say(self, *events: Event) -> None:
        """Send events to the app."""
        for event in events:
            self.received.emit(event, b"")

    def finish(self, job: str) -> None:
        """Say that a job is finished."""
        self.say(JobFinished(job=job, device="none", timings=_NO_TIME))

    def crash(self) -> None:
        """End unexpectedly."""
        self.become(EngineState.RESTARTING)
        self.ended.emit(EngineEnd(CRASH))
        self.crashed.emit(CRASH)

    def sent_of(self, kind: type[T]) -> list[T]:
        """The commands of a kind that were sent."""
        return [command for command in self.sent if isinstance(command, kind)]

    @property
    def jobs_run(self) -> list[str]:
        """The jobs that were sent, in order."""
        return [command.job for command in self.sent_of(RunJob)]
