"""Backends for the child process of a trial: one that is right, and what drivers do."""

import ctypes
import os
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from backends.base import (
    Array,
    Artifact,
    BackendError,
    Cancellation,
    Device,
    Graph,
    Precision,
    Progress,
    Session,
)
from backends.null import NullBackend, NullSession, Script


class Right(NullBackend):
    """Two devices that give the processor's result without computing it."""

    def probe(self) -> list[Device]:
        (device,) = super().probe()
        device = replace(device, precisions=(Precision.F16, Precision.F32))
        return [replace(device, id="first"), replace(device, id="second")]

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
        """Do what a driver does."""

    def scale(self, precision: Precision) -> float:
        """What results are multiplied with."""
        return 1.0


class _Known(NullSession):
    def __init__(self, graph: Graph, scale: float) -> None:
        super().__init__(graph, Script())
        self._scale = scale

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        expected = np.load(os.environ["SAFELIGHT_TEST_EXPECTED"])
        return {self.outputs[0].name: expected * self._scale}


class WrongInHalf(Right):
    """Off by two in a hundred where it is fast."""

    def scale(self, precision: Precision) -> float:
        return 1.02 if precision is Precision.F16 else 1.0


class NotANumber(Right):
    """Overflows."""

    def scale(self, precision: Precision) -> float:
        return np.nan


class AbortsOnProbe(Right):
    """As a C++ assertion does."""

    def probe(self) -> list[Device]:
        os.abort()


class CrashesOnFirst(Right):
    """Reads where nothing is, on its first device, in its second precision."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        if device.id == "first" and precision is Precision.F32:
            ctypes.string_at(0)


class HangsOnProbe(Right):
    """And does not let go of the interpreter: PyDLL keeps its lock."""

    def probe(self) -> list[Device]:
        ctypes.PyDLL(None).sleep(600)
        return []


class EatsMemory(Right):
    """Without end."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        eaten: list[bytes] = []
        while True:
            eaten.append(b"\1" * (32 << 20))
            time.sleep(0.02)


class Prints(Right):
    """On what it takes for the terminal."""

    def probe(self) -> list[Device]:
        os.write(1, b"noise from a driver\n" * 1000)
        ctypes.CDLL(None).puts(b'{"type":"Over"}')
        ctypes.CDLL(None).fflush(None)
        return super().probe()


class WritesEverywhere(Right):
    """Into every file that is open."""

    def probe(self) -> list[Device]:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"\xff\0garbage\n")
            except OSError:
                continue
        return super().probe()


class Raises(Right):
    """What no backend may."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        raise ZeroDivisionError("a bug")


class Refuses(Right):
    """As a backend should."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        raise BackendError("the driver is too old")


class Leaves(Right):
    """Some runtimes call exit."""

    def misbehave(self, device: Device, precision: Precision) -> None:
        os._exit(0)
