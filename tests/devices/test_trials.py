"""A driver that misbehaves in its trial harms only the child process."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import numpy as np
import pytest

from engine.awake_clock import awake_seconds
from engine.cancel import CancelToken
from engine.devices.trials import TrialLimits, Trials
from engine.devices.verdicts import BackendReport
from engine.errors import Cancelled
from tests.devices.conftest import COMMAND, misbehaving

PATIENT = TrialLimits(silence_s=240)
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")


def children() -> set[str]:
    """The process ids of this process's children, ended ones that nobody waited for included."""
    lists = Path("/proc/self/task").glob("*/children")
    return {pid for listing in lists for pid in listing.read_text().split()}


def run(
    type_name: str,
    folder: Path,
    limits: TrialLimits = PATIENT,
    clock: Callable[[], float] = awake_seconds,
) -> BackendReport:
    reference = misbehaving(type_name)
    return Trials(limits, COMMAND, clock).run(reference, "now", folder, CancelToken())


def test_the_processor_passes_and_its_result_is_the_reference(
    processor: tuple[Path, BackendReport],
) -> None:
    folder, report = processor
    assert report.problem == ""
    (device,) = report.devices
    assert device.works
    assert device.right_precisions == ("f32",)
    expected = np.load(folder / "expected.npy")
    assert expected.shape == (2, 4, 64, 64)
    # Near unit size, so that half precision has a chance.
    assert 0.1 < expected.std() < 10


@pytest.mark.oracle
def test_a_device_with_correct_results_gets_its_figures(shared: Path) -> None:
    report = run("Right", shared)
    assert report.problem == ""
    assert [device.id for device in report.devices] == ["first", "second"]
    for device in report.devices:
        assert device.works
        assert device.right_precisions == ("f16", "f32")
        assert all(figure.difference == 0 for figure in device.figures)
        assert 0 < device.milliseconds < float("inf")


def test_a_device_is_not_used_in_a_precision_with_wrong_results(shared: Path) -> None:
    first, _ = run("WrongInHalf", shared).devices
    assert first.works
    assert [precision.value for precision in first.device("bad").precisions] == ["f32"]
    assert "f16: it is off by 2.0%" in first.sentence


def test_a_result_of_nan_is_wrong(shared: Path) -> None:
    first, _ = run("NotANumber", shared).devices
    assert not first.works
    assert first.milliseconds == float("inf")
    assert "its numbers are none" in first.sentence


def test_times_taken_while_other_programs_were_busy_are_disturbed(shared: Path) -> None:
    first, second = run("BesideOthers", shared).devices
    assert first.works
    assert second.works
    assert (first.disturbed, second.disturbed) == (False, True)


def test_a_crash_on_probe_ends_only_the_child_process(shared: Path) -> None:
    report = run("AbortsOnProbe", shared)
    assert report.problem.startswith("It crashed (SIGABRT)")
    assert report.devices == ()


def test_a_crash_is_blamed_on_the_device_that_was_running(shared: Path) -> None:
    report = run("CrashesOnFirst", shared)
    first, second = report.devices
    assert not first.works
    assert first.problem.startswith("It crashed (SIGSEGV)")
    assert second.works
    assert report.problem == ""


def test_a_trial_that_hangs_is_ended(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = tmp_path / "hangs"
    hangs.touch()
    monkeypatch.setenv("SAFELIGHT_TEST_HANGS", str(hangs))

    def seconds() -> float:
        """The clock, which jumps each time that a child hangs."""
        return awake_seconds() + 1000 * hangs.stat().st_size

    report = run("HangsOnProbe", shared, clock=seconds)
    assert report.problem == "It did not answer for 240 s."
    assert hangs.stat().st_size == 2  # it was tried once more


@pytest.mark.parametrize("type_name", ["StartsSlowly", "RunsSlowly"])
def test_a_runtime_that_is_slow_once_is_tried_again(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, type_name: str
) -> None:
    mark = tmp_path / "was slow"
    monkeypatch.setenv("SAFELIGHT_TEST_SLOW", str(mark))

    def seconds() -> float:
        """The clock, which jumps once the child is slow."""
        return awake_seconds() + 1000 * mark.exists()

    report = run(type_name, shared, clock=seconds)
    assert mark.exists()
    assert report.problem == ""
    for device in report.devices:
        assert device.works
        assert device.right_precisions == ("f16", "f32")


@linux_only
def test_a_trial_that_takes_all_memory_is_ended(shared: Path) -> None:
    report = run("EatsMemory", shared, TrialLimits(silence_s=240, memory_bytes=600 << 20))
    assert all("of memory" in device.problem for device in report.devices)


def test_a_runtime_that_prints_does_not_disturb_the_trial(shared: Path) -> None:
    assert all(device.works for device in run("Prints", shared).devices)


def test_garbage_on_the_pipe_is_reported_as_a_problem(shared: Path) -> None:
    report = run("WritesEverywhere", shared)
    assert report.problem == "It said something that is no answer."
    assert report.devices == ()


def test_an_unexpected_exception_is_named_in_the_report(shared: Path) -> None:
    first, second = run("Raises", shared).devices
    assert first.problem == second.problem == "It ended by itself: ZeroDivisionError: a bug"


def test_a_backends_refusal_is_reported_in_its_own_words(shared: Path) -> None:
    first, _ = run("Refuses", shared).devices
    assert not first.works
    assert "the driver is too old" in first.sentence


def test_a_child_that_exits_silently_is_a_problem(shared: Path) -> None:
    assert all(d.problem.startswith("It ended by itself") for d in run("Leaves", shared).devices)


def test_listing_devices_runs_nothing_on_them(shared: Path) -> None:
    trials = Trials(PATIENT, COMMAND)
    report = trials.list_devices(misbehaving("Leaves"), "now", CancelToken())
    assert [device.tried for device in report.devices] == [False, False]
    assert report.problem == ""


def test_a_child_that_lists_devices_imports_no_compiler() -> None:
    code = (
        "import engine.devices.trial_process, sys; print('engine.compile.compiler' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"


@linux_only
def test_cancelling_ends_the_child_process(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFELIGHT_TEST_HANGS", str(tmp_path / "hangs"))
    token, before = CancelToken(), children()
    Timer(1, token.cancel).start()
    with pytest.raises(Cancelled):
        Trials(PATIENT, COMMAND).run(misbehaving("HangsOnProbe"), "now", shared, token)
    assert children() == before
