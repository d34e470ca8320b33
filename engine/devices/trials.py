"""Runs the trials of devices: starts a child process for each backend, and makes its report."""

import os
import signal
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO

import msgspec

from backends import hardware
from backends.base import Cancellation
from backends.registry import BackendReference
from engine.awake_clock import awake_seconds
from engine.child_python import python_command
from engine.devices.trial_messages import (
    AllReported,
    DevicesFound,
    TrialFinished,
    TrialMessage,
    TrialStarted,
    decode_message,
)
from engine.devices.verdicts import BackendReport, TriedDevice
from engine.errors import Cancelled

_POLL_S = 0.1
_CHUNK_BYTES = 1 << 16
_MAX_LINE_BYTES = 1 << 20
_TAIL_BYTES = 4096
_GIB = 1 << 30


class TrialLimits(msgspec.Struct, frozen=True):
    """The limits of a child process: seconds without a message, and bytes of private memory.

    Seconds in which the computer sleeps do not count.
    """

    silence_s: float = 120.0
    memory_bytes: int = 8 * _GIB

    @staticmethod
    def of_this_machine() -> "TrialLimits":
        """Return limits of half the machine's memory, but at least what a trial needs."""
        return TrialLimits(memory_bytes=max(4 * _GIB, hardware.host_memory().total // 2))


class Trials:
    """Runs the trials of backends, each in child processes."""

    def __init__(
        self,
        limits: TrialLimits,
        command: tuple[str, ...] | None = None,
        clock: Callable[[], float] = awake_seconds,
    ) -> None:
        self._limits, self._clock = limits, clock
        self._command = command or python_command("-m", "engine.devices.trial_process")

    def list_devices(
        self, reference: BackendReference, fingerprint: str, cancel: Cancellation
    ) -> BackendReport:
        """List a backend's devices without running anything on them. Raises Cancelled."""
        results = _Results(cancel)
        failure = self._listen(reference, Path(), results, "--look")
        return _report(reference.name, fingerprint, results, failure)

    def run(
        self, reference: BackendReference, fingerprint: str, folder: Path, cancel: Cancellation
    ) -> BackendReport:
        """Try each device in a child process; if one kills it, start another for the rest.

        `folder` is for files that the trials of several backends share. Raises Cancelled.
        """
        results = _Results(cancel)
        failure = self._listen(reference, folder, results)
        while failure and results.running and results.untried:
            results.blame_running(failure)
            failure = self._listen(reference, folder, results)
        return _report(reference.name, fingerprint, results, failure)

    def _listen(
        self, reference: BackendReference, folder: Path, results: "_Results", *options: str
    ) -> str:
        """Collect the results of the devices that are left; return a failure, or "" at the end.

        What falls silent is tried once more: the disk may be slow, and what the first process has
        read of a runtime is in memory then.
        """
        end = self._listen_once(reference, folder, results, options)
        if end.was_silent:
            results.forget_running()
            end = self._listen_once(reference, folder, results, options)
        return end.failure

    def _listen_once(
        self,
        reference: BackendReference,
        folder: Path,
        results: "_Results",
        options: tuple[str, ...],
    ) -> "_End":
        """Run a child process and collect its results."""
        results.running = ""
        arguments = (reference.module, reference.type_name, str(folder))
        parent = (f"--parent={os.getpid()}",)
        skip = tuple(f"--skip={device}" for device in (*results.figures, *results.problems))
        with _started((*self._command, *arguments, *parent, *options, *skip)) as child:
            return self._hear_out(child, results)

    def _hear_out(self, child: "_Child", results: "_Results") -> "_End":
        """Take messages until the child finishes, fails or exceeds a limit."""
        limits = self._limits
        latest = self._clock() + limits.silence_s
        while True:
            try:
                line = child.lines.get(timeout=_POLL_S)
            except Empty:
                if results.cancel.is_set():
                    raise Cancelled from None
                if self._clock() > latest:
                    silence = f"It did not answer for {limits.silence_s:.0f} s."
                    return _End(silence, was_silent=True)
                if (hardware.private_bytes(child.process.pid) or 0) > limits.memory_bytes:
                    return _End(f"It took more than {limits.memory_bytes / 1e9:.1f} GB of memory.")
                continue
            if line is None:
                return _End(child.end())
            message = decode_message(line)
            if message is None:
                return _End("It said something that is no answer.")
            if isinstance(message, AllReported):
                return _End()
            results.take(message)
            latest = self._clock() + limits.silence_s


class _End(msgspec.Struct, frozen=True):
    """The end of a child process: its failure as a sentence, or "" if it finished.

    `was_silent`: it had said nothing for too long.
    """

    failure: str = ""
    was_silent: bool = False


class _Results:
    """The messages of a backend's child processes, collected."""

    def __init__(self, cancel: Cancellation) -> None:
        self.cancel = cancel
        self.devices: dict[str, TriedDevice] = {}
        self.running = ""
        self.figures: dict[str, list[TrialFinished]] = {}
        self.problems: dict[str, str] = {}

    @property
    def untried(self) -> bool:
        """True while a usable automatic device has neither finished nor ended its process."""
        over = {*self.figures, *self.problems, self.running}
        return any(
            d.id not in over and d.automatic for d in self.devices.values() if not d.unusable
        )

    def take(self, message: TrialMessage) -> None:
        """Record a message."""
        match message:
            case DevicesFound():
                self.devices |= {device.id: device for device in message.devices}
            case TrialStarted():
                self.running = message.device
            case TrialFinished():
                self.figures.setdefault(message.device, []).append(message)
            case AllReported():
                pass

    def blame_running(self, failure: str) -> None:
        """Blame the failure of the process on the device that was running."""
        self.problems[self.running] = failure

    def forget_running(self) -> None:
        """Forget the results of the device that was running: it is tried again."""
        self.figures.pop(self.running, None)

    def tried(self) -> tuple[TriedDevice, ...]:
        """Return each device with the results of its trial."""
        return tuple(
            msgspec.structs.replace(
                device,
                figures=tuple(did.figures for did in self.figures.get(name, ())),
                disturbed=any(did.disturbed for did in self.figures.get(name, ())),
                problem=self.problems.get(name, ""),
            )
            for name, device in self.devices.items()
        )


def _report(backend: str, fingerprint: str, results: _Results, failure: str) -> BackendReport:
    if failure and results.running:
        results.blame_running(failure)
        failure = ""
    return BackendReport(
        backend=backend, fingerprint=fingerprint, devices=results.tried(), problem=failure
    )


class _Child:
    """A child process, its lines as they arrive, and the end of its stderr."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        # The lines of its stdout; None marks the end.
        self.lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._tail = b""
        self._reading = self._start(self._read)
        self._noting = self._start(self._note)

    def end(self) -> str:
        """Wait for the end of a child whose pipe is closed; return its failure as a sentence."""
        self._noting.join(_POLL_S)
        try:
            status = self.process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            return "It closed its pipe and did not end."
        return child_failure(status, self._tail)

    def kill(self) -> None:
        """Kill the process and wait until it has ended."""
        self.process.kill()
        self.process.wait()
        for thread in (self._reading, self._noting):
            thread.join()

    def _start(self, target: Callable[[], None]) -> Thread:
        thread = Thread(target=target, name="trial", daemon=True)
        thread.start()
        return thread

    def _read(self) -> None:
        rest = b""
        while chunk := _read_some(self.process.stdout):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self.lines.put(line)
            if len(rest) > _MAX_LINE_BYTES:
                self.lines.put(b"")  # not a message
                rest = b""
        self.lines.put(None)

    def _note(self) -> None:
        while chunk := _read_some(self.process.stderr):
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]


@contextmanager
def _started(command: tuple[str, ...]) -> Generator[_Child]:
    """Start a child process that is killed at the end of the block."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        child = _Child(process)
        try:
            yield child
        finally:
            child.kill()


def child_failure(status: int, written: bytes) -> str:
    """Return the failure of a child as a sentence, by its exit status and the end of its stderr."""
    last = written.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
    how = f"It crashed ({_signal_name(status)})" if _is_crash(status) else "It ended by itself"
    return f"{how}: {last}" if last else f"{how}."


def _read_some(pipe: IO[bytes] | None) -> bytes:
    assert pipe is not None
    with suppress(OSError):
        return os.read(pipe.fileno(), _CHUNK_BYTES)
    return b""


def _is_crash(status: int) -> bool:
    """Return True for the exit status of a signal, or of a Windows exception such as 0xC0000005."""
    return status < 0 or status >= 1 << 31


def _signal_name(status: int) -> str:
    with suppress(ValueError):
        return signal.Signals(-status).name
    return f"{status & 0xFFFFFFFF:#010x}"
