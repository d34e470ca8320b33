"""The supervisor of the engine process: it starts, watches, restarts and gives up on it.

Nothing here blocks but `wait_until_stopped`, which is for the end of the app.
"""

import logging
import os
import time
from collections import deque
from enum import StrEnum
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.engine.connection import EngineCommand, EngineConnection, ReadingLimits
from app.engine.end import EngineEnd, broken_error, mismatch_error, not_started_error
from app.logs import RotatingLog
from app.paths import Paths
from engine.api.messages import (
    PROTOCOL_VERSION,
    Command,
    Configure,
    EngineFatal,
    Event,
    Hello,
    LogRecord,
    Ping,
    Pong,
    Ready,
    Shutdown,
)
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.api.wire import WireError
from engine.child_python import python_command
from engine.errors import EngineError

_log = logging.getLogger(__name__)


class EngineState(StrEnum):
    """The states of the engine, as far as the app can tell."""

    # No command is accepted before READY.
    STARTING = "starting"
    READY = "ready"
    # The process lives, but its reader does not answer; commands still reach its pipe.
    NOT_ANSWERING = "not_answering"
    # The process has ended, or is being killed, and another follows.
    RESTARTING = "restarting"
    STOPPED = "stopped"


class Supervision(msgspec.Struct, frozen=True):
    """Time limits and counts for the supervision of an engine."""

    # From the start of the process to Ready: a cold disk and a busy processor take their time, and
    # a process that fails says so at once.
    handshake_ms: int = 120_000
    ping_ms: int = 1000
    # So many pings in a row without a Pong are "not answering".
    missed_pings: int = 5
    # From Shutdown, or the engine's own EngineFatal, to the kill.
    stop_ms: int = 2000
    # Delays before the first, second, ... restart after crashes; the last holds for all later ones.
    restart_ms: tuple[int, ...] = (0, 2000, 10_000)
    # So many crashes within the window end the restarts. An engine that was READY for longer than
    # the window resets the delays.
    crash_limit: int = 3
    crash_window_s: float = 300.0
    reading: ReadingLimits = msgspec.field(default_factory=ReadingLimits)


def engine_command(packs: Path) -> EngineCommand:
    """Return the command that starts this installation's engine in Python's isolated mode."""
    program, *arguments = python_command("-m", "engine", "--parent", str(os.getpid()))
    return EngineCommand(program, tuple(arguments), str(packs))


class EngineProcess(QObject):
    """Keeps one engine running between `start` and `stop`."""

    # EngineState
    state_changed = Signal(object)
    # (Event, payload bytes): every event but Hello, Ready, Pong, EngineFatal and LogRecord
    received = Signal(object, object)
    # EngineEnd: the process has ended, for any reason, and all its events were received before
    ended = Signal(object)
    # ErrorInfo: the process ended without a request; after `ended`
    crashed = Signal(object)
    # ErrorInfo: the engine is started again only by `start`; after `crashed`
    gave_up = Signal(object)

    def __init__(
        self,
        paths: Paths,
        *,
        command: EngineCommand | None = None,
        supervision: Supervision | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._own_lora_folders = tuple(map(str, paths.loras))
        self._configure = Configure(
            cache=str(paths.cache),
            wildcards=str(paths.wildcards),
            models=str(paths.models),
            lora_folders=self._own_lora_folders,
            embedding_folders=tuple(map(str, paths.embeddings)),
        )
        self._command = command or engine_command(paths.packs)
        self._supervision = supervision or Supervision()
        self._log = RotatingLog(paths.logs / "engine.log")
        self._state = EngineState.STOPPED
        self._connection: EngineConnection | None = None
        self._hello: Hello | None = None
        # `stop` or `force_stop` was called for the present connection.
        self._stopping = False
        self._forced = False
        # `start` was called while the previous process was still on its way out.
        self._start_again = False
        self._crashes: deque[float] = deque()
        self._failures_in_a_row = 0
        self._ready_since: float | None = None
        self._sequence = 0
        self._unanswered = 0
        self._handshake = self._timer(self._supervision.handshake_ms, self._on_no_handshake)
        self._restart = self._timer(0, self._spawn)
        self._deadline = self._timer(self._supervision.stop_ms, self._kill)
        self._ping = self._timer(self._supervision.ping_ms, self._on_ping, repeat=True)

    @property
    def state(self) -> EngineState:
        """The state of the engine."""
        return self._state

    @property
    def hello(self) -> Hello | None:
        """The Hello of the present engine; None before it came."""
        return self._hello

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The last lines that the present engine wrote to stderr, for a report; at most 200."""
        return self._connection.last_lines if self._connection else ()

    def use_lora_folders(self, folders: tuple[str, ...]) -> None:
        """Give these folders, beside its own, to every engine that is started from now on."""
        every = dict.fromkeys((*self._own_lora_folders, *folders))
        self._configure = msgspec.structs.replace(self._configure, lora_folders=tuple(every))

    def start(self) -> None:
        """Start the engine unless it is started; earlier crashes are forgotten."""
        if self._state is not EngineState.STOPPED:
            return
        self._crashes.clear()
        self._failures_in_a_row = 0
        self._set_state(EngineState.STARTING)
        if self._connection is None:
            self._spawn()
        else:
            self._start_again = True

    def stop(self) -> None:
        """Have the engine cancel its work and exit; kill it if that takes longer than 2 s.

        The state is STOPPED at once. Events that come until the end are still received.
        """
        if self._state is EngineState.STOPPED:
            return
        self._restart.stop()
        self._start_again = False
        self._set_state(EngineState.STOPPED)
        if self._connection is None or self._stopping:
            return
        self._stopping = True
        self._handshake.stop()
        self._ping.stop()
        self._connection.send(Shutdown())
        self._connection.close_input()
        self._deadline.start()

    def restart(self) -> None:
        """Have the engine exit as by `stop`, and start another; a job that it ran begins anew."""
        self.stop()
        self.start()

    def wait_until_stopped(self) -> None:
        """Block after `stop` until the process is gone, for at most about 3 s."""
        if self._connection is None:
            return
        connection = self._connection
        if not connection.wait(max(0, self._deadline.remainingTime())):
            connection.kill()
            connection.wait(1000)

    def force_stop(self) -> None:
        """Kill the process, whatever it does, and start another; not counted as a crash."""
        if self._connection is not None and not self._stopping:
            self._forced = True
            self._set_state(EngineState.RESTARTING)
            self._kill()

    def send(self, command: Command) -> bool:
        """Send a command; return False if no engine takes it.

        Raises EngineError(REQUEST_INVALID) for a command that cannot be put into a frame.
        """
        connected = self._state in (EngineState.READY, EngineState.NOT_ANSWERING)
        if self._connection is None or not connected:
            return False
        try:
            self._connection.send(command)
        except (WireError, UnicodeEncodeError) as error:
            raise EngineError(
                ErrorCode.REQUEST_INVALID,
                sentence("This cannot be sent to the engine: a text is too long or not valid."),
                sentence("Shorten the prompt, or choose a file with a simpler name."),
                str(error),
            ) from error
        return True

    def _spawn(self) -> None:
        self._set_state(EngineState.STARTING)
        self._hello = None
        self._stopping = self._forced = self._start_again = False
        self._ready_since = None
        self._unanswered = 0
        reading = self._supervision.reading
        connection = EngineConnection(self._command, self._log, reading, self)
        connection.received.connect(self._on_received)
        connection.ended.connect(self._on_ended)
        self._connection = connection
        self._handshake.start()
        connection.start()

    def _on_received(self, event: Event, payload: bytes) -> None:
        match event:
            case EngineFatal():
                self._on_fatal(event.error)
            case LogRecord():
                level = logging.getLevelNamesMapping().get(event.level.upper(), logging.INFO)
                logging.getLogger("engine").log(level, "%s: %s", event.logger, event.text)
            case Hello():
                self._on_hello(event)
            case _ if self._hello is None:
                self._fail(broken_error(f"{type(event).__name__} came before Hello"))
            case Ready():
                self._on_ready()
            case Pong():
                self._on_pong(event)
            case _ if self._ready_since is None:
                self._fail(broken_error(f"{type(event).__name__} came before Ready"))
            case _:
                self.received.emit(event, payload)

    def _on_hello(self, hello: Hello) -> None:
        if self._hello is not None:
            self._fail(broken_error("a second Hello"))
        elif hello.protocol != PROTOCOL_VERSION:
            versions = f"protocol {hello.protocol} of {hello.version}; ours is {PROTOCOL_VERSION}"
            self._fail(mismatch_error(versions))
        else:
            self._hello = hello
            if self._connection is not None and not self._stopping:
                self._connection.send(self._configure)

    def _on_ready(self) -> None:
        if self._ready_since is not None:
            self._fail(broken_error("a second Ready"))
            return
        self._ready_since = time.monotonic()
        self._handshake.stop()
        if self._state is EngineState.STARTING:
            self._set_state(EngineState.READY)
            self._ping.start()

    def _on_fatal(self, error: ErrorInfo) -> None:
        """Keep the engine's reason for its exit; kill it only if it does not exit in time."""
        if self._connection is None:
            return
        self._connection.explain(error)
        if not self._stopping:
            self._set_state(EngineState.RESTARTING)
            self._deadline.start()

    def _on_no_handshake(self) -> None:
        reason = f"no answer within {self._supervision.handshake_ms / 1000:g} s"
        self._fail(not_started_error(self._command.program, reason))

    def _on_ping(self) -> None:
        # Ticks are counted, not seconds: after a stall of our own, or a sleep of the computer,
        # the timer ticks once, and the Pong that waits in the pipe is read before the next tick.
        if self._unanswered >= self._supervision.missed_pings:
            if self._state is EngineState.READY:
                self._set_state(EngineState.NOT_ANSWERING)
            return
        if self._unanswered == 0:
            self._sequence += 1
            self.send(Ping(sequence=self._sequence))
        self._unanswered += 1

    def _on_pong(self, pong: Pong) -> None:
        if pong.sequence == self._sequence:
            self._unanswered = 0
            if self._state is EngineState.NOT_ANSWERING:
                self._set_state(EngineState.READY)

    def _fail(self, error: ErrorInfo) -> None:
        if self._connection is not None:
            self._connection.fail(error)

    def _kill(self) -> None:
        if self._connection is not None:
            self._connection.kill()

    def _on_ended(self, end: EngineEnd) -> None:
        connection, self._connection = self._connection, None
        for timer in (self._handshake, self._deadline, self._ping):
            timer.stop()
        if connection is not None:
            connection.deleteLater()
        if self._stopping:
            self.ended.emit(EngineEnd(end.error, requested=True))
            if self._start_again:
                self._spawn()
        elif self._forced:
            self._restart.start(0)
            self.ended.emit(EngineEnd(_forced_error(end.error)))
        else:
            self._on_crash(end)

    def _on_crash(self, end: EngineEnd) -> None:
        _log.error("%s %s", end.error.message, end.error.detail)
        final = self._final_error(end)
        if final is None:
            delays = self._supervision.restart_ms
            self._restart.start(delays[min(self._failures_in_a_row, len(delays)) - 1])
        self._set_state(EngineState.RESTARTING if final is None else EngineState.STOPPED)
        self.ended.emit(end)
        self.crashed.emit(end.error)
        if final is not None:
            self.gave_up.emit(final)

    def _final_error(self, end: EngineEnd) -> ErrorInfo | None:
        """Count a crash; return the error to give up with, or None if a restart is due."""
        now = time.monotonic()
        window = self._supervision.crash_window_s
        if self._ready_since is not None and now - self._ready_since > window:
            self._failures_in_a_row = 0
        self._failures_in_a_row += 1
        self._crashes.append(now)
        while now - self._crashes[0] > window:
            self._crashes.popleft()
        if end.never_started or end.error.code is ErrorCode.PROTOCOL_MISMATCH:
            return end.error
        if len(self._crashes) < self._supervision.crash_limit:
            return None
        count = len(self._crashes)
        times = sentence("The engine ended {n} times in a short while.", n=count)
        return ErrorInfo(
            end.error.code,
            sentence("{times} {message}", times=times, message=end.error.text),
            end.error.advice,
            end.error.detail,
        )

    def _set_state(self, state: EngineState) -> None:
        if state is not self._state:
            self._state = state
            self.state_changed.emit(state)

    def _timer(self, milliseconds: int, slot: object, *, repeat: bool = False) -> QTimer:
        timer = QTimer(self, interval=milliseconds, singleShot=not repeat)
        timer.timeout.connect(slot)
        return timer


def _forced_error(error: ErrorInfo) -> ErrorInfo:
    return ErrorInfo(
        ErrorCode.ENGINE_CRASHED, sentence("The engine was stopped by force."), "", error.detail
    )
