"""The display adapters in `safelight devices` and `safelight doctor`."""

import json

import pytest

from app.cli import adapters, run
from backends.hardware import Adapter, PciId
from backends.registry import BackendReference
from engine.devices.choice import Devices

CARD = Adapter(
    vendor="NVIDIA",
    name="NVIDIA GeForce RTX 4070",
    pci=PciId(0x10DE, 0x2786),
    address="0000:01:00.0",
    memory_total=12 << 30,
    memory_free=11 << 30,
    driver="nvidia",
    driver_version="560.35.03",
    integrated=False,
    architecture="sm_89",
)
PROCESSOR = Adapter(
    vendor="Intel",
    name="UHD Graphics 770",
    pci=PciId(0x8086, 0xA780),
    memory_total=32 << 30,
    driver="i915",
    driver_version="Linux 6.8.0",
    integrated=True,
)
BOARD = Adapter(
    vendor="ASPEED",
    name="ASPEED 1a03:2000",
    unusable="it is the display of a server's management controller, not a graphics processor",
)
NOTE = "ONNX Runtime does not list UHD Graphics 770."


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with three adapters, and a version whose only backend for GPUs is OpenVINO."""

    def known(name: str) -> BackendReference | None:
        return BackendReference(name, "", "") if name == "intel_openvino" else None

    monkeypatch.setattr(adapters, "list_adapters", lambda: (CARD, PROCESSOR, BOARD))
    monkeypatch.setattr(adapters, "second_opinions", lambda _adapters: (NOTE,))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    monkeypatch.setattr(adapters, "find", known)
    monkeypatch.setattr(Devices, "listed", lambda _devices: ())  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    monkeypatch.setattr(Devices, "choice", lambda _devices: "")  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]


def test_devices_shows_them_above_the_backends(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["devices"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "ADAPTER VENDOR MEMORY DRIVER BACKENDS",
        "NVIDIA GeForce RTX 4070 NVIDIA 11.0 of 12.0 GB free nvidia 560.35.03 "
        "none: no backend of this version is made for it",
        "UHD Graphics 770 Intel 32.0 GB, shared i915 Linux 6.8.0 intel_openvino",
        "ASPEED 1a03:2000 ASPEED - - "
        "none: it is the display of a server's management controller, not a graphics processor",
        NOTE,
        "",
        "BACKEND DEVICE BLOCKS OF SD 1.5 VERDICT",
    ]


def test_devices_tells_programs_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["devices", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    card, processor, board = output["adapters"]
    assert card == {
        "vendor": "NVIDIA",
        "name": "NVIDIA GeForce RTX 4070",
        "pci": "10de:2786",
        "address": "0000:01:00.0",
        "memory_total_bytes": 12 << 30,
        "memory_free_bytes": 11 << 30,
        "driver": "nvidia",
        "driver_version": "560.35.03",
        "integrated": False,
        "architecture": "sm_89",
        "backends": [],
        "reason": "no backend of this version is made for it",
    }
    assert (processor["backends"], processor["reason"]) == (["intel_openvino"], "")
    assert (board["pci"], board["memory_total_bytes"], board["reason"]) == (
        "",
        None,
        BOARD.unusable,
    )
    assert output["notes"] == [NOTE]
    assert output["devices"] == []


def test_a_machine_without_adapters_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapters, "list_adapters", tuple)
    assert run(["devices"]) == 0
    assert capsys.readouterr().out.startswith("No display adapter was found.\n\nBACKEND")


def test_doctor_includes_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [check["detail"] for check in checks if check["name"] == "adapter"] == [
        "NVIDIA GeForce RTX 4070 (NVIDIA), 11.0 of 12.0 GB free, nvidia 560.35.03; "
        "none: no backend of this version is made for it",
        "UHD Graphics 770 (Intel), 32.0 GB, shared, i915 Linux 6.8.0; intel_openvino",
        f"ASPEED 1a03:2000 (ASPEED), -, -; none: {BOARD.unusable}",
        NOTE,
    ]


def test_doctor_does_not_fault_a_machine_without_adapters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapters, "list_adapters", tuple)
    assert run(["doctor"]) == 0
    assert "no display adapter was found" in capsys.readouterr().out
