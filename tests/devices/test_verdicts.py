"""Verdicts are kept in a file, and a damaged file is no error."""

from pathlib import Path

import msgspec
import pytest

from backends.base import Precision
from engine.api.machine import PrecisionFigures
from engine.devices.verdicts import BackendReport, TriedDevice, VerdictStore

HALF = PrecisionFigures(precision="f16", milliseconds=12.5, difference=1e-3)
DEVICE = TriedDevice(id="0", name="RTX 3060", precisions=("f16", "f32"), figures=(HALF,))
REPORT = BackendReport(backend="nvidia_cuda", fingerprint="now", devices=(DEVICE,))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "devices.json"


def test_a_report_is_found_by_another_process(path: Path) -> None:
    VerdictStore(path, "now").keep(REPORT)
    assert VerdictStore(path, "now").find("nvidia_cuda") == REPORT
    assert VerdictStore(path, "now").find("webgpu") is None
    assert [file.name for file in path.parent.iterdir()] == ["devices.json"]


def test_a_report_holds_only_in_its_own_machine_state(path: Path) -> None:
    VerdictStore(path, "now").keep(REPORT)
    after = VerdictStore(path, "after the driver's update")
    assert after.find("nvidia_cuda") is None
    after.keep(BackendReport(backend="cpu", fingerprint=after.fingerprint))
    assert VerdictStore(path, "now").find("nvidia_cuda") == REPORT
    assert VerdictStore(path, "now").find("cpu") is None


def test_old_machine_states_are_removed(path: Path) -> None:
    VerdictStore(path, "now").keep(REPORT)
    for number in range(4):
        VerdictStore(path, "").keep(BackendReport(backend="cpu", fingerprint=f"{number}"))
    assert VerdictStore(path, "now").find("nvidia_cuda") is None
    assert VerdictStore(path, "0").find("cpu") is not None


def test_the_newest_report_replaces_older_ones(path: Path) -> None:
    store = VerdictStore(path, "now")
    store.keep(REPORT)
    store.keep(msgspec.structs.replace(REPORT, problem="It crashed (SIGSEGV)."))
    found = store.find("nvidia_cuda")
    assert found is not None
    assert found.problem


def test_two_processes_keep_each_others_reports(path: Path) -> None:
    store, other = VerdictStore(path, "now"), VerdictStore(path, "now")
    store.keep(REPORT)
    other.keep(BackendReport(backend="cpu", fingerprint="now"))
    assert store.find("cpu") is not None
    assert other.find("nvidia_cuda") == REPORT


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"\xff\xfe", b"[]", b'{"version":2,"reports":[]}', b"[" * 100_000]
)
def test_a_damaged_file_is_ignored(path: Path, damage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    store = VerdictStore(path, "now")
    assert store.find("nvidia_cuda") is None
    store.keep(REPORT)
    assert VerdictStore(path, "now").find("nvidia_cuda") == REPORT


def test_a_half_written_file_is_ignored(path: Path) -> None:
    VerdictStore(path, "now").keep(REPORT)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert VerdictStore(path, "now").find("nvidia_cuda") is None


def test_a_report_that_cannot_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("no folder")
    store = VerdictStore(tmp_path / "cache" / "devices.json", "now")
    store.keep(REPORT)
    assert store.find("nvidia_cuda") == REPORT
    store.forget()
    assert store.find("nvidia_cuda") is None


def test_forgetting_deletes_every_report(path: Path) -> None:
    store = VerdictStore(path, "now")
    store.keep(REPORT)
    store.forget()
    assert store.find("nvidia_cuda") is None
    store.forget()


def test_precisions_have_times_where_their_results_are_right() -> None:
    exact = PrecisionFigures(precision="f32", milliseconds=HALF.milliseconds - 1)
    device = msgspec.structs.replace(DEVICE, figures=(HALF, exact))
    half, whole = Precision(HALF.precision), Precision.F32
    assert device.times == {half: HALF.milliseconds, whole: exact.milliseconds}
    assert device.milliseconds == HALF.milliseconds
    wrong = msgspec.structs.replace(exact, problem="it is off by 2.0%")
    assert msgspec.structs.replace(DEVICE, figures=(HALF, wrong)).times == {half: HALF.milliseconds}
    assert msgspec.structs.replace(device, problem="it hung").times == {}


def test_a_device_is_offered_in_the_precisions_with_correct_results() -> None:
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


def test_reports_that_cannot_be_deleted_are_forgotten_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = VerdictStore(path, "now")
    store.keep(REPORT)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        store.forget()
        assert store.find("nvidia_cuda") is None
    store.keep(BackendReport(backend="cpu", fingerprint="now"))
    assert store.find("cpu") is not None
    assert VerdictStore(path, "now").find("nvidia_cuda") is None
