"""One engine process from its start to its end: commands in, events out, stderr to the log."""

import logging
import sys
import time
from collections import deque

import msgspec
from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from app.engine.end import EngineEnd, broken_error, crash_error, flood_error, not_started_error
from app.environment import engine_environment
from app.logs import RotatingLog
from engine.api.messages import (
    Command,
    Event,
    JobCancelled,
    JobFailed,
    JobFinished,
    JobPreview,
)
from engine.api.values import ErrorInfo
from engine.api.wire import Frame, FrameParser, WireError, decode_event, encode

if sys.platform == "win32":
    from app.engine.windows_job import KillOnCloseJob

_CHUNK_BYTES = 1 << 18
_TAIL_LINES = 200
_TAIL_LINE_CHARACTERS = 500
_log = logging.getLogger(__name__)


class EngineCommand(msgspec.Struct, frozen=True):
    """The program and arguments that start the engine, and the folder of its runtime packs."""

    program: str
    arguments: tuple[str, ...] = ()
    packs: str = ""


class ReadingLimits(msgspec.Struct, frozen=True):
    """Limits of reading: milliseconds for each turn of the event loop, and unread bytes.

    `backlog_bytes` limits bytes that came faster than they are parsed, not an unfinished frame.
    """

    turn_ms: float = 4.0
    backlog_bytes: int = 8 << 20


class EngineConnection(QObject):
    """A running engine process and the pipes to it; made once for each process."""

    # (Event, payload bytes)
    received = Signal(object, object)
    # EngineEnd; once, after every event.
    ended = Signal(object)

    def __init__(
        self,
        command: EngineCommand,
        log: RotatingLog,
        limits: ReadingLimits,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._command = command
        self._limits = limits
        self._parser = FrameParser()
        self._preview: tuple[JobPreview, bytes] | None = None
        # The reason we gave up on the process; nothing is read from then on.
        self._failure: ErrorInfo | None = None
        self._explanation: ErrorInfo | None = None
        self._exit: tuple[int, bool] | None = None
        self._over = False
        self._errors = _ErrorOutput(log)
        self._continue = QTimer(self, singleShot=True, interval=0)
        self._continue.timeout.connect(self._read)
        self._process = self._make_process()

    def start(self) -> None:
        """Start the process; `ended` is emitted if that fails."""
        self._process.start()

    def send(self, command: Command) -> None:
        """Write a command. Raises WireError for one that is too large."""
        frame = encode(command)
        if self._process.state() is QProcess.ProcessState.Running:
            self._process.write(frame)

    def close_input(self) -> None:
        """Let the engine read the end of its commands once all are written."""
        self._process.closeWriteChannel()

    def fail(self, error: ErrorInfo) -> None:
        """Stop reading and kill the process; `ended` carries this error."""
        if self._failure is None and not self._over:
            self._failure = error
            self._continue.stop()
            self._process.closeReadChannel(QProcess.ProcessChannel.StandardOutput)
            self._process.kill()

    def explain(self, error: ErrorInfo) -> None:
        """Keep the error that the engine reported before its end, for `ended`."""
        self._explanation = error

    def kill(self) -> None:
        """Kill the process; events that it sent before are still received."""
        self._process.kill()

    def wait(self, milliseconds: int) -> bool:
        """Block until the process has ended and its events are received; False if time is up."""
        if self._over:
            return True
        ended = self._process.waitForFinished(milliseconds)
        while self._exit is not None and not self._over:
            self._read()
        return ended

    @property
    def pid(self) -> int:
        """The process id, 0 before the start and after the end."""
        return self._process.processId()

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The last lines that the engine wrote to stderr, at most 200."""
        return self._errors.last_lines

    def _make_process(self) -> QProcess:
        process = QProcess(self)
        process.setProgram(self._command.program)
        process.setArguments(self._command.arguments)
        process.setProcessEnvironment(engine_environment(self._command.packs))
        if sys.platform != "win32":
            flags = QProcess.UnixProcessFlag
            # A session of its own: Ctrl-C in a terminal is for the app, which stops the engine.
            process.setUnixProcessParameters(
                flags.ResetSignalHandlers | flags.CloseFileDescriptors | flags.CreateNewSession
            )
        process.readyReadStandardOutput.connect(self._on_output)
        process.readyReadStandardError.connect(self._on_error_output)
        process.started.connect(self._on_started)
        process.finished.connect(self._on_finished)
        process.errorOccurred.connect(self._on_process_error)
        return process

    def _on_started(self) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
        self._errors.take(f"--- engine {self.pid} started at {stamp}Z\n".encode())
        if sys.platform == "win32":
            try:
                _job().add(self._process.processId())
            except OSError as error:
                # The end of its input still ends the engine, unless it hangs in native code.
                _log.warning("the engine is in no job object: %s", error)

    def _on_output(self) -> None:
        # If a turn is scheduled, it first parses the earlier bytes, then reads these, too.
        if not self._continue.isActive():
            self._read()
        self._require_small_backlog()

    def _read(self) -> None:
        """Parse received bytes for one turn; schedule another turn if there are more."""
        try:
            more = self._read_turn()
        except WireError as error:
            self._preview = None
            self.fail(broken_error(str(error)))
            more = False
        self._emit_preview()
        if more:
            self._continue.start()
        elif self._exit is not None:
            self._end()

    def _read_turn(self) -> bool:
        """Parse until this turn's time is up; return True if there is more. Raises WireError."""
        deadline = time.perf_counter() + self._limits.turn_ms / 1000
        chunk = b""
        while self._failure is None:
            for frame in self._parser.feed(chunk):
                self._take(frame)
                if self._failure is not None:
                    return False
                if time.perf_counter() > deadline:
                    return True
            chunk = bytes(self._process.read(_CHUNK_BYTES).data())
            if not chunk:
                break
        return False

    def _take(self, frame: Frame) -> None:
        event = decode_event(frame)
        if isinstance(event, JobPreview):
            _require_pixels(event, frame.payload)
            # Emitted at the end of the turn: of several only the newest is worth showing.
            self._preview = event, frame.payload
            return
        if isinstance(event, JobFinished | JobCancelled | JobFailed):
            self._preview = None
        self._emit(event, frame.payload)

    def _emit(self, event: Event, payload: bytes) -> None:
        self.received.emit(event, payload)

    def _emit_preview(self) -> None:
        if self._preview is not None:
            event, payload = self._preview
            self._preview = None
            self._emit(event, payload)

    def _require_small_backlog(self) -> None:
        waiting = self._process.bytesAvailable()
        if waiting > self._limits.backlog_bytes:
            self.fail(flood_error(f"{waiting} bytes were waiting"))

    def _on_error_output(self) -> None:
        self._errors.take(bytes(self._process.readAllStandardError().data()))

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._exit = code, status is QProcess.ExitStatus.CrashExit
        self._on_error_output()
        if self._failure is not None:
            self._end()
        elif not self._continue.isActive():
            self._read()

    def _on_process_error(self, error: QProcess.ProcessError) -> None:
        # Every other error is followed by `finished`, or is a pipe whose other end is gone.
        if error is QProcess.ProcessError.FailedToStart and not self._over:
            self._over = True
            reason = not_started_error(self._command.program, self._process.errorString())
            self.ended.emit(EngineEnd(reason, never_started=True))

    def _end(self) -> None:
        if self._over or self._exit is None:
            return
        self._over = True
        code, by_signal = self._exit
        lines = self.last_lines
        self._errors.close()
        known = self._failure or self._explanation
        error = known or crash_error(code, by_signal=by_signal, last_lines=lines)
        self.ended.emit(EngineEnd(error))


class _ErrorOutput:
    """The engine's stderr: all of it goes to the log, the last lines are kept for a report."""

    def __init__(self, log: RotatingLog) -> None:
        self._log = log
        self._lines: deque[str] = deque(maxlen=_TAIL_LINES)
        self._rest = b""

    def take(self, data: bytes) -> None:
        self._log.write(data)
        *lines, rest = (self._rest + data).split(b"\n")
        self._lines.extend(map(_plain, lines))
        # An unfinished line must not grow without limit.
        self._rest = rest[:_TAIL_LINE_CHARACTERS]

    @property
    def last_lines(self) -> tuple[str, ...]:
        return (*self._lines, *filter(None, [_plain(self._rest)]))[-_TAIL_LINES:]

    def close(self) -> None:
        self._log.close()


def _plain(line: bytes) -> str:
    """Return the line's printable characters, at most `_TAIL_LINE_CHARACTERS`."""
    text = line[: 4 * _TAIL_LINE_CHARACTERS].decode("utf-8", "replace").replace("\t", "    ")
    return "".join(filter(str.isprintable, text))[:_TAIL_LINE_CHARACTERS]


def _require_pixels(event: JobPreview, payload: bytes) -> None:
    """Raise WireError unless the payload has all pixels, as the code that draws needs."""
    sides = event.width > 0 and event.height > 0
    if not sides or len(payload) != 3 * event.width * event.height:
        size = f"{event.width}x{event.height}"
        raise WireError(f"a preview of {size} pixels in {len(payload)} bytes")


if sys.platform == "win32":
    _jobs: list[KillOnCloseJob] = []

    def _job() -> KillOnCloseJob:
        """The one job object of this process."""
        if not _jobs:
            _jobs.append(KillOnCloseJob())
        return _jobs[0]
