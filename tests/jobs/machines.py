"""Machines of other sizes: the processor's runtime, told of as much memory as one of them has."""

import msgspec
import pytest

from backends.base import Device, MemoryInfo, OperatorSet
from backends.cpu import CpuBackend
from engine.cancel import CancelToken
from engine.devices.choice import Candidate, Devices

GB = 10**9


class Machine(CpuBackend):
    """A processor with so much free memory; as a `card` it holds all weights in its own."""

    def __init__(self, free_bytes: int, *, card: bool = False) -> None:
        self.free_bytes, self.card = free_bytes, card

    @property
    def candidate(self) -> Candidate:
        """The machine's only device."""
        return Candidate(self, self.probe()[0])

    def memory(self, device: Device) -> MemoryInfo:
        return MemoryInfo(self.free_bytes, self.free_bytes, integrated=not self.card)

    def operators(self, device: Device) -> OperatorSet:
        return msgspec.structs.replace(super().operators(device), reads_in_place=not self.card)

    def be_the_only_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make this the only machine that jobs are planned for."""

        def candidates(_devices: Devices, _wanted: str, _cancel: CancelToken) -> list[Candidate]:
            return [self.candidate]

        monkeypatch.setattr(Devices, "candidates", candidates)
