"""The fingerprint changes when something that verdicts depend on changes."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from backends.hardware import Adapter, PciId
from engine.devices import fingerprint
from engine.devices.fingerprint import fingerprint_of, installed_runtimes, machine_fingerprint

CARD = Adapter(
    vendor="NVIDIA",
    name="GeForce RTX 3060",
    pci=PciId(0x10DE, 0x2503),
    driver="nvidia",
    driver_version="580.82.07",
    memory_free=10 << 30,
)
RUNTIMES = ("onnxruntime_gpu-1.31.1",)


def test_the_fingerprint_is_the_same_while_nothing_changes() -> None:
    assert machine_fingerprint() == machine_fingerprint()
    busier = msgspec.structs.replace(CARD, memory_free=1 << 30)
    assert fingerprint_of(RUNTIMES, (CARD,), {}) == fingerprint_of(RUNTIMES, (busier,), {})


@pytest.mark.parametrize(
    ("runtimes", "adapters"),
    [
        (RUNTIMES, (msgspec.structs.replace(CARD, driver_version="585.0"),)),
        (RUNTIMES, (msgspec.structs.replace(CARD, driver="nouveau"),)),
        (RUNTIMES, (CARD, CARD)),
        (RUNTIMES, ()),
        (("onnxruntime_gpu-1.32.0",), (CARD,)),
        ((*RUNTIMES, "onnxruntime-1.31.1"), (CARD,)),
    ],
)
def test_a_driver_a_card_or_a_runtime_changes_the_fingerprint(
    runtimes: tuple[str, ...], adapters: tuple[Adapter, ...]
) -> None:
    assert fingerprint_of(runtimes, adapters, {}) != fingerprint_of(RUNTIMES, (CARD,), {})


@pytest.mark.parametrize(
    ("name", "value"),
    [("CUDA_VISIBLE_DEVICES", "1"), ("HSA_OVERRIDE_GFX_VERSION", "10.3.0")],
)
def test_a_variable_by_which_devices_are_chosen_changes_the_fingerprint(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(name, raising=False)
    before = machine_fingerprint()
    monkeypatch.setenv(name, value)
    assert machine_fingerprint() != before


def test_safelights_own_code_changes_the_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprint.backends, "__path__", [str(tmp_path)])
    (tmp_path / "cpu.py").write_text("one")
    before = fingerprint_of((), (), {})
    (tmp_path / "cpu.py").write_text("other")
    assert fingerprint_of((), (), {}) != before


def test_runtimes_are_known_by_the_names_of_their_folders(tmp_path: Path) -> None:
    for name in ("openvino-2026.4.1", "Onnxruntime-1.31.1", "pillow-11.0", "nvidia_cudnn-9.1"):
        (tmp_path / f"{name}.dist-info").mkdir()
    found = installed_runtimes((tmp_path, tmp_path / "absent"))
    assert found == ("Onnxruntime-1.31.1", "nvidia_cudnn-9.1", "openvino-2026.4.1")
    assert any(name.startswith("onnxruntime-") for name in installed_runtimes(map(Path, sys.path)))


def test_the_fingerprint_imports_no_vendors_runtime() -> None:
    code = (
        "import sys; from engine.devices.fingerprint import machine_fingerprint as f; f();"
        "print([m for m in ('onnxruntime', 'openvino', 'torch') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True)
    assert told.stdout.strip() == b"[]"
