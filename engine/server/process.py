"""The engine process: its start, the handling of commands, and its end."""

import faulthandler
import os
import signal
import threading
from functools import partial
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from threading import Event as Flag
from threading import Lock, Thread
from types import FrameType
from typing import NoReturn

from engine import refused_files
from engine.api.map_messages import CancelMap, MakeMap
from engine.api.messages import (
    PROTOCOL_VERSION,
    CancelJob,
    Command,
    Configure,
    EngineFatal,
    Hello,
    Ping,
    Pong,
    Query,
    Ready,
    RunJob,
    Shutdown,
)
from engine.api.sentences import sentence
from engine.api.upscale_messages import RunUpscale
from engine.api.values import ErrorCode, ErrorInfo
from engine.api.wire import FrameParser, WireError, decode_command
from engine.heap import LARGE_RESULT, importing, keep_heap_compact
from engine.packs import use_packs
from engine.parent import die_with_parent
from engine.server.failures import error_info, speakable
from engine.server.job_line import JobLine
from engine.server.log_events import log_as_events
from engine.server.map_line import MapLine
from engine.server.outbox import Outbox
from engine.stdio import Pipes, take_stdio

# From the call of `stop` until the process is ended, even if a thread hangs.
GRACE_S = 1.0
_CHUNK_BYTES = 1 << 16
_STDERR = 2
# The names of the threads without which the engine is of no use.
_READER, _ANSWERER = "commands", "queries"
_NEEDED = frozenset({_READER, _ANSWERER})


def run_engine(parent: int | None) -> NoReturn:
    """Serve the app, whose process id is `parent` where it started this one, and end the process.

    Exit status 0 when the app went away or sent Shutdown, 1 for a failure or where something
    hung and had to be ended.
    """
    keep_heap_compact(LARGE_RESULT)
    engine = Engine(take_stdio(), use_packs().problems)
    faulthandler.enable(_STDERR)
    die_with_parent(parent)
    # With a parent, Ctrl-C in its terminal is the parent's to handle.
    signal.signal(signal.SIGINT, engine.interrupted if parent is None else signal.SIG_IGN)
    status = engine.serve()
    # Native libraries may hang or crash while the interpreter takes itself apart.
    os._exit(status)


class Engine:
    """The engine's side of one connection with the app, from Hello to the end."""

    def __init__(self, pipes: Pipes, pack_problems: tuple[str, ...] = ()) -> None:
        self._commands = pipes.commands
        self._pack_problems = pack_problems
        self._outbox = Outbox(pipes.events, gone=self.stop)
        self._jobs = JobLine(self._outbox.put)
        self._maps = MapLine(self._outbox.put)
        self._queries: SimpleQueue[Query] = SimpleQueue()
        self._folders: Configure | None = None
        self._configured = Flag()
        self._stop_lock = Lock()
        self._stopping = False
        self._status = 0

    def serve(self) -> int:
        """Serve the app from Hello to the end, on the main thread; return the exit status."""
        threading.excepthook = self._thread_died
        self._outbox.start()
        hello = Hello(
            version=version("safelight"), pid=os.getpid(), pack_problems=self._pack_problems
        )
        self._outbox.put(hello)
        Thread(target=self._read, name=_READER, daemon=True).start()
        self._work()
        self._outbox.close()
        self._outbox.drain(GRACE_S)
        return self._status

    def stop(self, status: int = 0) -> None:
        """Cancel everything and end the process, within GRACE_S. Any thread may call this."""
        with self._stop_lock:
            if self._stopping:
                return
            self._stopping, self._status = True, status
        # A watchdog in C: it needs no interpreter lock, which a hung native call may hold. It
        # writes the stack of every thread to stderr.
        faulthandler.dump_traceback_later(GRACE_S, exit=True, file=_STDERR)
        self._jobs.close()
        self._configured.set()

    def interrupted(self, _signal: int, _frame: FrameType | None) -> None:
        """Stop after Ctrl-C, on another thread, because the main thread may hold any lock."""
        Thread(target=self.stop, name="interrupt", daemon=True).start()

    def _work(self) -> None:
        """Get ready, then run jobs until stopped."""
        try:
            with importing():
                from engine.checkpoints.background_hash import BackgroundHash
                from engine.jobs.kept_facts import known_files
                from engine.jobs.runner import JobRunner
                from engine.jobs.services import JobServices
                from engine.memory.residency import Residency
                from engine.server.answers import answer_all
                from engine.server.job_run import run_job, tell_hash
                from engine.server.map_answers import make_maps
        except Exception as error:  # noqa: BLE001 (whatever a broken installation raises, the app is told)
            self._fail(_broken_installation(error))
            return
        self._configured.wait()
        if self._folders is None or self._stopping:
            return
        log_as_events(self._outbox.put)
        folders, put, cache = self._folders, self._outbox.put, Path(self._folders.cache)
        hashes = BackgroundHash(known_files(cache), partial(tell_hash, put))
        services = JobServices.in_cache(
            cache,
            wildcards=_path(folders.wildcards),
            models=_path(folders.models),
            loras=map(Path, folders.lora_folders),
            embeddings=map(Path, folders.embedding_folders),
            residency=Residency(),
            hashes=hashes,
        )
        runner = JobRunner(services, prepares=True)
        make_maps(self._maps, cache / "maps", services)
        put(Ready())
        arguments = (self._queries, runner, put)
        Thread(target=answer_all, args=arguments, name=_ANSWERER, daemon=True).start()
        self._jobs.run(
            lambda command, token: run_job(runner, command, token, put), rest=runner.release
        )
        hashes.close()
        runner.close()

    def _read(self) -> None:
        """Read and handle commands until the app closes the pipe."""
        parser = FrameParser()
        try:
            while data := os.read(self._commands, _CHUNK_BYTES):
                for frame in parser.feed(data):
                    self._take(decode_command(frame))
                    if self._stopping:
                        return
        except WireError as error:
            self._fail(
                ErrorInfo(
                    ErrorCode.PROTOCOL_BROKEN,
                    sentence("The app sent something the engine does not understand."),
                    sentence("Start Safelight again; if it happens again, install it again."),
                    speakable(str(error)),
                )
            )
        except OSError:  # how Windows may say that the other end is gone
            self.stop()
        else:
            self.stop()

    def _take(self, command: Command) -> None:
        """Act on a command, without ever waiting. Raises WireError for one out of place."""
        match command:
            case Ping():
                self._outbox.put(Pong(sequence=command.sequence), wait=False)
            case Shutdown():
                self.stop()
            case Configure():
                self._configure(command)
            case _ if self._folders is None:
                raise WireError(f"{type(command).__name__} before Configure")
            case RunJob() | RunUpscale():
                self._jobs.add(command)
            case CancelJob():
                self._jobs.cancel(command.job)
            case MakeMap():
                self._maps.add(command)
            case CancelMap():
                self._maps.cancel(command.query)
            case _:
                self._queries.put(command)

    def _configure(self, command: Configure) -> None:
        if command.protocol != PROTOCOL_VERSION:
            self._fail(
                ErrorInfo(
                    ErrorCode.PROTOCOL_MISMATCH,
                    sentence(
                        "The app speaks version {protocol} of the protocol, the engine "
                        "{protocol_version}.",
                        protocol=command.protocol,
                        protocol_version=PROTOCOL_VERSION,
                    ),
                    sentence("Install Safelight again: parts of it are of different versions."),
                )
            )
            return
        if self._folders is not None:
            raise WireError("Configure comes again")
        self._folders = command
        self._configured.set()

    def _fail(self, error: ErrorInfo) -> None:
        """Send the error as the last event, and stop the engine."""
        self._outbox.put(EngineFatal(error=error), wait=False)
        self._outbox.close()
        self.stop(status=1)

    def _thread_died(self, what: threading.ExceptHookArgs) -> None:
        """Stop the engine if a thread that it needs has failed."""
        threading.__excepthook__(what)
        if what.exc_value is not None and what.thread is not None and what.thread.name in _NEEDED:
            self._fail(error_info(what.exc_value))


def _broken_installation(error: Exception) -> ErrorInfo:
    """Return the error for an engine whose own modules cannot be imported."""
    message, hint = "A part of Safelight cannot be loaded.", "Install Safelight again."
    if refused_files.is_refused(error):
        message, hint = refused_files.MESSAGE, refused_files.HINT
    return ErrorInfo(ErrorCode.ENGINE_NOT_STARTED, message, hint, error_info(error).detail)


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None
