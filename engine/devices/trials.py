"""Trials as the engine sees them: a child process for each backend, and what came of it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO

import msgspec

from backends import hardware
from backends.base import Cancellation
from backends.registry import BackendReference
from engine.devices.trial_messages import Did, Over, Saw, Tries, Word, decode_word
from engine.devices.verdicts import BackendReport, TriedDevice
from engine.errors import Cancelled

_POLL_S = 0.1
_CHUNK_BYTES = 1 << 16
_MAX_LINE_BYTES = 1 << 20
_TAIL_BYTES = 4096
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """When a child is ended: how long it may say nothing, and the memory no file backs."""

    silence_s: float = 120.0
    memory_bytes: int = 8 * _GIB

    @staticmethod
    def of_this_machine() -> "TrialLimits":
        """Half of its memory, but what a trial surely needs."""
        return TrialLimits(memory_bytes=max(4 * _GIB, hardware.host_memory().total // 2))


class Trials:
    """Runs trials that share a folder: the weights, and what the processor makes of them."""

    def __init__(self, limits: TrialLimits, command: tuple[str, ...] | None = None) -> None:
        self._limits = limits
        self._command = command or (sys.executable, "-I", "-m", "engine.devices.trial_process")

    def look(
        self, reference: BackendReference, fingerprint: str, cancel: Cancellation
    ) -> BackendReport:
        """The devices of a backend, of which none has run anything. Raises Cancelled."""
        heard = _Heard(cancel)
        end = self._listen(reference, Path(), ("--look",), heard)
        return _report(reference.name, fingerprint, heard, end)

    def run(
        self, reference: BackendReference, fingerprint: str, folder: Path, cancel: Cancellation
    ) -> BackendReport:
        """How the backend's devices did; where one ends the process, the others get another.

        `folder` is for what the trials of several backends share. Raises Cancelled.
        """
        heard = _Heard(cancel)
        end = self._listen(reference, folder, (), heard)
        while end and heard.at_work and heard.untried:
            heard.ended(end)
            skip = tuple(f"--skip={device}" for device in (*heard.figures, *heard.problems))
            end = self._listen(reference, folder, skip, heard)
        return _report(reference.name, fingerprint, heard, end)

    def _listen(
        self, reference: BackendReference, folder: Path, options: tuple[str, ...], heard: "_Heard"
    ) -> str:
        """Start a child and hear it out; how it ended where that was not as it should."""
        heard.at_work = ""
        arguments = (reference.module, reference.type_name, str(folder))
        parent = (f"--parent={os.getpid()}",)
        with _started((*self._command, *arguments, *parent, *options)) as child:
            return self._hear_out(child, heard)

    def _hear_out(self, child: "_Child", heard: "_Heard") -> str:
        """Take its words until it ends or has to be ended."""
        latest = monotonic() + self._limits.silence_s
        while True:
            try:
                line = child.lines.get(timeout=_POLL_S)
            except Empty:
                if heard.cancel.is_set():
                    raise Cancelled from None
                if monotonic() > latest:
                    return f"It did not answer for {self._limits.silence_s:.0f} s."
                if (hardware.private_bytes(child.process.pid) or 0) > self._limits.memory_bytes:
                    return f"It took more than {self._limits.memory_bytes / 1e9:.1f} GB of memory."
                continue
            if line is None:
                return child.end()
            word = decode_word(line)
            if word is None:
                return "It said something that is no answer."
            if isinstance(word, Over):
                return ""
            heard.take(word)
            latest = monotonic() + self._limits.silence_s


class _Heard:
    """What a backend's children have said."""

    def __init__(self, cancel: Cancellation) -> None:
        self.cancel = cancel
        self.devices: dict[str, TriedDevice] = {}
        self.at_work = ""
        self.figures: dict[str, list[Did]] = {}
        self.problems: dict[str, str] = {}

    @property
    def untried(self) -> bool:
        """Whether a device is left that did not run, nor end its process."""
        over = {*self.figures, *self.problems, self.at_work}
        return any(
            d.id not in over and d.automatic for d in self.devices.values() if not d.unusable
        )

    def take(self, word: Word) -> None:
        """Note a word."""
        match word:
            case Saw():
                self.devices |= {device.id: device for device in word.devices}
            case Tries():
                self.at_work = word.device
            case Did():
                self.figures.setdefault(word.device, []).append(word)
            case Over():
                pass

    def ended(self, end: str) -> None:
        """Hold the end of the process against the device that was at work."""
        self.problems[self.at_work] = end

    def tried(self) -> tuple[TriedDevice, ...]:
        """Each device with how it did."""
        return tuple(
            msgspec.structs.replace(
                device,
                figures=tuple(did.figures for did in self.figures.get(name, ())),
                problem=self.problems.get(name, ""),
            )
            for name, device in self.devices.items()
        )


def _report(backend: str, fingerprint: str, heard: _Heard, end: str) -> BackendReport:
    if end and heard.at_work:
        heard.ended(end)
        end = ""
    return BackendReport(
        backend=backend, fingerprint=fingerprint, devices=heard.tried(), problem=end
    )


class _Child:
    """A child process, its lines as they come, and the last it wrote to stderr."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        # None is the end.
        self.lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._tail = b""
        self._reading = self._start(self._read)
        self._noting = self._start(self._note)

    def end(self) -> str:
        """How it ended, once its pipe is closed."""
        self._noting.join(_POLL_S)
        try:
            status = self.process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            return "It closed its pipe and did not end."
        last = self._tail.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        how = f"It crashed ({_signal_name(status)})" if _is_crash(status) else "It ended by itself"
        return f"{how}: {last}" if last else f"{how}."

    def kill(self) -> None:
        """End it, and hear the end."""
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
                self.lines.put(b"")  # no word
                rest = b""
        self.lines.put(None)

    def _note(self) -> None:
        while chunk := _read_some(self.process.stderr):
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]


@contextmanager
def _started(command: tuple[str, ...]) -> Generator[_Child]:
    """A child that does not outlive the block."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        child = _Child(process)
        try:
            yield child
        finally:
            child.kill()


def _read_some(pipe: IO[bytes] | None) -> bytes:
    assert pipe is not None
    with suppress(OSError):
        return os.read(pipe.fileno(), _CHUNK_BYTES)
    return b""


def _is_crash(status: int) -> bool:
    """Ended by a signal, or by what Windows has for one: 0xC0000005 and its like."""
    return status < 0 or status >= 1 << 31


def _signal_name(status: int) -> str:
    with suppress(ValueError):
        return signal.Signals(-status).name
    return f"{status & 0xFFFFFFFF:#010x}"
