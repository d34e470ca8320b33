"""Backends for a trial's child process: a correct one, and those that misbehave as drivers do."""

import ctypes
import os
import time
from itertools import count
from pathlib import Path

import msgspec
import numpy as np

from backends.base import (
    Array,
    Artifact,
    BackendError,
    Cancellation,
    Device,
    Feeds,
    Graph,
    Precision,
    Progress,
    Session,
)
from backends.hardware import ProcessorTimes
from backends.null import NullBackend, NullSession, Script
from engine.devices import other_programs


class Right(NullBackend):
    """Two devices that return the processor's result without computing."""

    def probe(self) -> list[Device]:
        (device,) = super().probe()
        device = msgspec.structs.replace(device, precisions=(Precision.F16, Precision.F32))
        return [
            msgspec.structs.replace(device, id="first"),
            msgspec.structs.replace(device, id="second"),
        ]

    def load(
        self,
        graph: Graph,
        artifact: Artifact | None,
        device: Device,
        progress: Progress,
        cancel: Cancellation,
    ) -> Session:
        self.misbehave(device, graph.precision)
        return _Known(graph, self.scale(graph.precision))

    def misbehave(self, device: Device, precision: Precision) -> None:
        """Misbehave as a driver does."""

    def scale(self, precision: Precision) -> float:
        """Return the factor that results are multiplied with."""
        return 1.0


class _Known(NullSession):
    def __init__(self, graph: Graph, scale: float) -> None:
        super().__init__(graph, Script())
        self._scale = scale

    def run(self, feeds: Feeds) -> dict[str, Array]:
        expected = np.load(os.environ["SAFELIGHT_TEST_EXPECTED"])
        return {self.outputs[0].name: expected * self._scale}


class WrongInHalf(Right):
    """Results are off by two in a hundred in half precision."""

    def scale(self, precision: Precision) -> float:
        return 1.02 if precision is Precision.F16 else 1.0


class NotANumber(Right):
    """Results overflow."""

    def scale(self, precision: Precision) -> float:
        return np.nan


class AbortsOnProbe(Right):
    """Aborts while probing, as a C++ assertion does."""

    def probe(self) -> list[Device]:
        os.abort()


class CrashesOnFirst(Right):
    """The first device reads invalid memory in its second precision."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        if device.id == "first" and precision is Precision.F32:
            ctypes.string_at(0)


class HangsOnProbe(Right):
    """Hangs while probing and holds the interpreter's lock, as PyDLL does.

    Appends a byte to the file of SAFELIGHT_TEST_HANGS each time.
    """

    def probe(self) -> list[Device]:
        with Path(os.environ["SAFELIGHT_TEST_HANGS"]).open("ab") as file:
            file.write(b"1")
        ctypes.PyDLL(None).sleep(600)
        return []


class StartsSlowly(Right):
    """Takes ten minutes to start the first time, as from a disk that is slow."""

    def probe(self) -> list[Device]:
        _be_slow_once()
        return super().probe()


class RunsSlowly(Right):
    """Takes ten minutes for the first device's second precision, the first time."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        if device.id == "first" and precision is Precision.F32:
            _be_slow_once()


def _be_slow_once() -> None:
    mark = Path(os.environ["SAFELIGHT_TEST_SLOW"])
    if not mark.exists():
        mark.touch()
        time.sleep(600)


class EatsMemory(Right):
    """Allocates memory without end."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        eaten: list[bytes] = []
        while True:
            eaten.append(b"\1" * (32 << 20))
            time.sleep(0.02)


class Prints(Right):
    """Prints to stdout while probing."""

    def probe(self) -> list[Device]:
        os.write(1, b"noise from a driver\n" * 1000)
        ctypes.CDLL(None).puts(b'{"type":"Over"}')
        ctypes.CDLL(None).fflush(None)
        return super().probe()


class WritesEverywhere(Right):
    """Writes to every open file."""

    def probe(self) -> list[Device]:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"\xff\0garbage\n")
            except OSError:
                continue
        return super().probe()


class Raises(Right):
    """Raises an exception that no backend may raise."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        raise ZeroDivisionError("a bug")


class Refuses(Right):
    """Raises BackendError, as a backend should."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        raise BackendError("the driver is too old")


class Leaves(Right):
    """Calls exit, as some runtimes do."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        os._exit(0)


class BesideOthers(Right):
    """The second device's float32 is timed while other programs take all processors."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        seconds = count()
        busy = device.id == "second" and precision is Precision.F32

        def times() -> ProcessorTimes:
            spent = 100.0 * next(seconds) * (os.cpu_count() or 1)
            return ProcessorTimes(spent, spent if busy else 0.0)

        other_programs.processor_times = times
