"""What was found out is kept, and nothing that is wrong with the file is anybody's problem."""

from pathlib import Path

import msgspec
import pytest

from engine.api.machine import PrecisionFigures
from engine.devices.verdicts import BackendReport, TriedDevice, VerdictStore

HALF = PrecisionFigures(precision="f16", milliseconds=12.5, difference=1e-3)
DEVICE = TriedDevice(id="0", name="RTX 3060", precisions=("f16", "f32"), figures=(HALF,))
REPORT = BackendReport(backend="nvidia_cuda", fingerprint="now", devices=(DEVICE,))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "devices.json"


def test_a_report_is_found_again_by_another_process(path: Path) -> None:
    VerdictStore(path, "now").keep(REPORT)
    assert VerdictStore(path, "now").find("nvidia_cuda") == REPORT
    assert VerdictStore(path, "now").find("webgpu") is None
    assert [file.name for file in path.parent.iterdir()] == ["devices.json"]


def test_another_state_of_the_machine_knows_nothing_until_it_is_back(path: Path) -> None:
    VerdictStore(path, "now").keep(REPORT)
    after = VerdictStore(path, "after the driver's update")
    assert after.find("nvidia_cuda") is None
    after.keep(BackendReport(backend="cpu", fingerprint=after.fingerprint))
    assert VerdictStore(path, "now").find("nvidia_cuda") == REPORT
    assert VerdictStore(path, "now").find("cpu") is None


def test_states_long_past_are_swept(path: Path) -> None:
    VerdictStore(path, "now").keep(REPORT)
    for number in range(4):
        VerdictStore(path, "").keep(BackendReport(backend="cpu", fingerprint=f"{number}"))
    assert VerdictStore(path, "now").find("nvidia_cuda") is None
    assert VerdictStore(path, "0").find("cpu") is not None


def test_the_newest_report_holds(path: Path) -> None:
    store = VerdictStore(path, "now")
    store.keep(REPORT)
    store.keep(msgspec.structs.replace(REPORT, problem="It crashed (SIGSEGV)."))
    found = store.find("nvidia_cuda")
    assert found is not None
    assert found.problem


def test_two_processes_keep_each_others_reports(path: Path) -> None:
    one, other = VerdictStore(path, "now"), VerdictStore(path, "now")
    one.keep(REPORT)
    other.keep(BackendReport(backend="cpu", fingerprint="now"))
    assert one.find("cpu") is not None
    assert other.find("nvidia_cuda") == REPORT


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"\xff\xfe", b"[]", b'{"version":2,"reports":[]}', b"[" * 100_000]
)
def test_a_damaged_file_is_as_none(path: Path, damage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    store = VerdictStore(path, "now")
    assert store.find("nvidia_cuda") is None
    store.keep(REPORT)
    assert VerdictStore(path, "now").find("nvidia_cuda") == REPORT


def test_a_half_written_file_is_as_none(path: Path) -> None:
    VerdictStore(path, "now").keep(REPORT)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert VerdictStore(path, "now").find("nvidia_cuda") is None


def test_what_the_disk_does_not_take_is_known_until_the_end(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    store = VerdictStore(tmp_path / "cache" / "devices.json", "now")
    store.keep(REPORT)
    assert store.find("nvidia_cuda") == REPORT
    store.forget()
    assert store.find("nvidia_cuda") is None


def test_forgotten_is_forgotten(path: Path) -> None:
    store = VerdictStore(path, "now")
    store.keep(REPORT)
    store.forget()
    assert store.find("nvidia_cuda") is None
    store.forget()


def test_a_device_is_offered_in_what_it_is_right_in() -> None:
    wrong = PrecisionFigures(precision="f32", milliseconds=1.0, problem="it is off by 2.0%")
    device = msgspec.structs.replace(DEVICE, figures=(wrong, HALF))
    assert device.works
    assert device.milliseconds == 12.5
    assert [p.value for p in device.device("nvidia_cuda").precisions] == ["f16"]
    none = msgspec.structs.replace(device, figures=(wrong,))
    assert not none.works
    assert none.milliseconds == float("inf")
    crashed = msgspec.structs.replace(device, problem="It crashed (SIGSEGV).")
    assert not crashed.works
    assert crashed.sentence == "It crashed (SIGSEGV)."
