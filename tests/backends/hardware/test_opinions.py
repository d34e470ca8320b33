"""Differences with the devices that ONNX Runtime and torchruntime's database see."""

from types import SimpleNamespace

import pytest

from backends.hardware import opinions
from backends.hardware.adapter import Adapter, PciId
from backends.hardware.names import torchruntime_entries
from backends.hardware.opinions import (
    RuntimeDevice,
    database_differences,
    runtime_device,
    runtime_differences,
    second_opinions,
)

CARD = Adapter("NVIDIA", "GeForce RTX 4070", PciId(0x10DE, 0x2786), integrated=False)
PROCESSOR = Adapter("AMD", "Radeon 780M", PciId(0x1002, 0x15BF), integrated=True)
BOARD = Adapter("ASPEED", "ASPEED", PciId(0x1A03, 0x2000), unusable="it is a board's")


def test_torchruntimes_database_is_wrong_about_meteor_lake() -> None:
    meteor_lake = Adapter("Intel", "Intel Arc Graphics", PciId(0x8086, 0x7D55), integrated=True)
    entries = torchruntime_entries({PciId(0x8086, 0x7D55)})
    assert database_differences((meteor_lake,), entries) == (
        "torchruntime's database takes Intel Arc Graphics for a card of its own; "
        "here it is part of the processor.",
    )


def test_agreement_gives_no_sentence() -> None:
    listed = [
        RuntimeDevice(PciId(0x10DE, 0x2786), True),
        RuntimeDevice(PciId(0x1002, 0x15BF), None),
    ]
    assert runtime_differences((CARD, PROCESSOR, BOARD), listed) == ()
    entries = torchruntime_entries({PciId(0x10DE, 0x2786), PciId(0x1002, 0x15BF)})
    assert len(entries) == 2
    assert database_differences((CARD, PROCESSOR, BOARD), entries) == ()


def test_gpus_that_only_onnx_runtime_sees_are_named() -> None:
    listed = [
        RuntimeDevice(PciId(0x10DE, 0x2786), False),
        RuntimeDevice(PciId(0x8086, 0x56A0), True),
    ]
    assert runtime_differences((CARD, PROCESSOR), listed) == (
        "ONNX Runtime lists a GPU that the system does not: Intel 8086:56a0.",
        "ONNX Runtime takes GeForce RTX 4070 for part of the processor; "
        "here it is a card of its own.",
        "ONNX Runtime does not list Radeon 780M.",
    )


def test_a_device_of_onnx_runtime_is_read() -> None:
    kind = SimpleNamespace(name="GPU")
    facts = {"vendor_id": 0x10DE, "device_id": 0x2786, "type": kind}
    discrete = SimpleNamespace(**facts, metadata={"Discrete": "1"})
    assert runtime_device(discrete) == RuntimeDevice(PciId(0x10DE, 0x2786), True)
    assert runtime_device(SimpleNamespace(**facts, metadata={})).discrete is None


def test_onnx_runtime_here_is_asked() -> None:
    # Whatever this machine has, a card that is not in it is not in ONNX Runtime's list either.
    ghost = Adapter("NVIDIA", "Ghost", PciId(0x10DE, 0xFFFF), integrated=False)
    assert "ONNX Runtime does not list Ghost." in second_opinions((ghost,))


def test_a_package_that_is_not_installed_has_no_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_name: str) -> None:
        return None

    monkeypatch.setattr(opinions, "find_spec", nothing)
    monkeypatch.setattr("backends.hardware.names.find_spec", nothing)
    assert second_opinions((CARD,)) == ()
