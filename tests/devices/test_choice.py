"""The devices a job may run on, their order, and which backends are asked before they are tried."""

from collections.abc import Callable
from pathlib import Path

import pytest

from backends.base import Cancellation, Device
from backends.null import NullBackend
from backends.registry import BackendReference
from engine.api.machine import PrecisionFigures
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.devices.activity import JobActivity
from engine.devices.choice import Devices
from engine.devices.trials import TrialLimits, Trials
from engine.devices.verdicts import BackendReport, TriedDevice
from engine.errors import EngineError

MODULE = __name__


class Safe(NullBackend):
    """A trusted backend, as those that come with Safelight."""

    def probe(self) -> list[Device]:
        return [Device("safe", "0", "the processor", (*super().probe()[0].precisions,))]


class Risky(NullBackend):
    """A backend that must not be asked in this process before a child process survived it."""

    def __init__(self) -> None:
        super().__init__()

    def probe(self) -> list[Device]:
        raise AssertionError("the engine probed a runtime that could end it")


def reference(name: str, *, trusted: bool = False, automatic: bool = True) -> BackendReference:
    kind = "Safe" if trusted else "Risky"
    return BackendReference(name, MODULE, kind, automatic=automatic, trusted=trusted)


SAFE = reference("safe", trusted=True)
FAST, FASTER = reference("fast"), reference("faster")
RARE = reference("rare", automatic=False)


def tried(milliseconds: float, **changes: object) -> TriedDevice:
    figures = (PrecisionFigures(precision="f16", milliseconds=milliseconds),)
    given = {"id": "0", "name": "RTX 3060", "precisions": ("f16",), "figures": figures} | changes
    return TriedDevice(**given)  # pyright: ignore[reportArgumentType]


class CannedTrials(Trials):
    """Trials that return given reports and record which backends were tried."""

    def __init__(self, **devices: TriedDevice | str) -> None:
        super().__init__(TrialLimits())
        self.devices = devices
        self.looked: list[str] = []
        self.ran: list[str] = []
        self.before: Callable[[], object] = lambda: None

    def list_devices(
        self, reference: BackendReference, fingerprint: str, cancel: Cancellation
    ) -> BackendReport:
        self.looked.append(reference.name)
        return self._report(reference, fingerprint)

    def run(
        self, reference: BackendReference, fingerprint: str, folder: Path, cancel: Cancellation
    ) -> BackendReport:
        self.ran.append(reference.name)
        self.before()
        return self._report(reference, fingerprint)

    def _report(self, reference: BackendReference, fingerprint: str) -> BackendReport:
        known = self.devices[reference.name]
        if isinstance(known, str):
            return BackendReport(backend=reference.name, fingerprint=fingerprint, problem=known)
        return BackendReport(backend=reference.name, fingerprint=fingerprint, devices=(known,))


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace the registry's backends."""

    def set_backends(*references: BackendReference) -> None:
        monkeypatch.setattr("backends.registry.BACKENDS", references)
        monkeypatch.setattr("engine.devices.choice.BACKENDS", references)

    monkeypatch.setattr("engine.devices.choice.machine_fingerprint", lambda: "now")
    return set_backends


def order(devices: Devices, wanted: str = "auto") -> list[str]:
    return [candidate.device.backend for candidate in devices.candidates(wanted)]


def verify(devices: Devices, *, again: bool = False) -> list[tuple[str, int]]:
    return [(report.backend, left) for report, left in devices.verify(again=again)]


def test_the_first_picture_waits_for_no_driver(tmp_path: Path, only: Callable[..., None]) -> None:
    only(FAST, SAFE)
    devices = Devices(tmp_path, CannedTrials())
    (candidate,) = devices.candidates("auto")
    assert candidate.device.backend == "safe"
    assert devices.has_news()
    assert [(d.backend, d.checked) for d in devices.listed()] == [("safe", False), ("fast", False)]


def test_the_fastest_device_comes_first_and_its_lead_is_given(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    only(FAST, SAFE, FASTER)
    trials = CannedTrials(fast=tried(38), faster=tried(20), safe=tried(400, id="0"))
    devices = Devices(tmp_path, trials)
    # The trusted reference backend first, then the registry's order.
    assert verify(devices) == [("safe", 2), ("fast", 1), ("faster", 0)]
    found = devices.candidates("auto")
    assert [c.device.backend for c in found] == ["faster", "fast", "safe"]
    assert [c.choice for c in found] == [
        "1.9x faster than fast here",
        "10.5x faster than safe here",
        "the only one that is known to work here",
    ]
    assert [d.backend for d in devices.listed()] == ["faster", "fast", "safe"]
    assert devices.choice() == "1.9x faster than fast here"


def test_the_registrys_order_decides_between_equally_fast_devices(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    only(FASTER, FAST)
    devices = Devices(tmp_path, CannedTrials(fast=tried(20), faster=tried(20)))
    verify(devices)
    assert order(devices) == ["faster", "fast"]
    assert devices.choice() == "about as fast as fast here"


def test_a_device_is_tried_again_only_when_the_machine_changes(
    tmp_path: Path, only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    only(FAST, SAFE)
    trials = CannedTrials(fast=tried(20), safe=tried(400))
    verify(Devices(tmp_path, trials))
    again = Devices(tmp_path, trials)
    assert not again.has_news()
    assert verify(again) == []
    monkeypatch.setattr("engine.devices.choice.machine_fingerprint", lambda: "another driver")
    changed = Devices(tmp_path, trials)
    assert changed.has_news()
    assert order(changed) == ["safe"]


def test_a_device_that_crashes_or_computes_wrongly_is_never_chosen(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    only(FAST, FASTER, SAFE)
    wrong = (PrecisionFigures(precision="f16", milliseconds=1, problem="it is off by 2.0%"),)
    trials = CannedTrials(
        fast="It crashed (SIGABRT).", faster=tried(1, figures=wrong), safe=tried(400)
    )
    devices = Devices(tmp_path, trials)
    verify(devices)
    assert order(devices) == ["safe"]
    reasons = {info.backend: info.unusable for info in devices.listed()}
    assert reasons["fast"] == "It crashed (SIGABRT)."
    assert "off by 2.0%" in reasons["faster"]
    # The verdict is remembered: no second crash unless asked for.
    assert not devices.has_news()
    with pytest.raises(EngineError) as caught:
        devices.candidates("fast")
    assert caught.value.code is ErrorCode.BACKEND_UNAVAILABLE
    assert "SIGABRT" in caught.value.message


def test_a_backend_asked_for_by_name_is_listed_by_a_child_process_first(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    only(FAST, SAFE, RARE)
    untried = tried(0, figures=(), automatic=False)
    trials = CannedTrials(fast="It did not answer for 120 s.", rare=untried)
    devices = Devices(tmp_path, trials)
    with pytest.raises(EngineError, match=r"did not answer"):
        devices.candidates("fast")
    assert order(devices, "rare") == ["rare"]
    assert order(devices, "safe") == ["safe"]
    assert [c.choice for c in devices.candidates("rare")] == ["asked for"]
    assert (trials.looked, trials.ran) == (["fast", "rare"], [])
    with pytest.raises(EngineError) as caught:
        devices.candidates("other")
    assert caught.value.code is ErrorCode.BACKEND_UNKNOWN


def test_a_backend_that_is_not_automatic_is_only_listed(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    only(SAFE, RARE)
    trials = CannedTrials(safe=tried(400), rare=tried(1, figures=()))
    devices = Devices(tmp_path, trials)
    assert verify(devices) == [("safe", 1), ("rare", 0)]
    assert (trials.looked, trials.ran) == (["rare"], ["safe"])
    assert order(devices) == ["safe"]


def test_a_device_that_is_not_automatic_is_not_chosen_by_auto(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    only(FAST)
    devices = Devices(tmp_path, CannedTrials(fast=tried(1, automatic=False)))
    verify(devices)
    with pytest.raises(EngineError) as caught:
        devices.candidates("auto")
    assert caught.value.code is ErrorCode.BACKEND_UNAVAILABLE
    assert order(devices, "fast") == ["fast"]


def test_a_device_that_failed_a_job_comes_last_until_it_is_checked_again(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    only(FAST, FASTER)
    trials = CannedTrials(fast=tried(40), faster=tried(20))
    devices = Devices(tmp_path, trials)
    verify(devices)
    devices.note_failure(devices.candidates("auto")[0].device, "CUDA error 700")
    later = Devices(tmp_path, trials)
    assert order(later) == ["fast", "faster"]
    assert later.choice() == "faster failed in an earlier job"
    assert [info.failure for info in later.listed()] == ["", "CUDA error 700"]
    assert not later.has_news()
    verify(later, again=True)
    assert order(later) == ["faster", "fast"]


def test_a_failure_is_kept_when_a_device_is_measured_again(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    only(FAST, FASTER)
    devices = Devices(tmp_path, CannedTrials(fast=tried(40), faster=tried(20)))
    for _ in devices.verify(activity=lambda: JobActivity(1, is_busy=True)):
        pass
    devices.note_failure(devices.candidates("auto")[0].device, "CUDA error 700")
    assert verify(devices) == [("fast", 1), ("faster", 0)]
    assert order(devices) == ["fast", "faster"]


def test_a_failure_during_a_trial_is_kept(tmp_path: Path, only: Callable[..., None]) -> None:
    only(FAST, FASTER)
    trials = CannedTrials(fast=tried(40), faster=tried(20))
    devices = Devices(tmp_path, trials)
    for _ in devices.verify(activity=lambda: JobActivity(1, is_busy=True)):
        pass
    failing = devices.candidates("auto")[0].device

    def fail() -> None:
        if trials.ran[-1] == failing.backend:
            devices.note_failure(failing, "CUDA error 700")

    trials.before = fail
    verify(devices)
    assert order(devices) == ["fast", "faster"]


IDLE = JobActivity()
BUSY = IDLE.begin()
LATER = BUSY.end()


@pytest.mark.parametrize(
    ("before", "after", "news"), [(IDLE, IDLE, False), (BUSY, BUSY, True), (IDLE, LATER, True)]
)
def test_figures_measured_during_a_job_hold_until_they_are_measured_again(
    tmp_path: Path, only: Callable[..., None], before: JobActivity, after: JobActivity, news: bool
) -> None:
    only(FAST)
    counts = [before]
    trials = CannedTrials(fast=tried(40))
    trials.before = lambda: counts.append(after)
    devices = Devices(tmp_path, trials)
    for _ in devices.verify(activity=lambda: counts[-1]):
        pass
    assert order(devices) == ["fast"]
    assert devices.has_news() is news


def trials_of(
    tmp_path: Path, only: Callable[..., None], *found: TriedDevice
) -> list[tuple[float, bool]]:
    """Run trials one after another; return the kept time after each, and if it is wanted again."""
    only(FAST)
    told: list[tuple[float, bool]] = []
    for device in found:
        devices = Devices(tmp_path, CannedTrials(fast=device))
        verify(devices)
        told.append((devices.candidates("auto")[0].milliseconds, devices.has_news()))
    return told


def test_times_of_a_busy_computer_are_measured_again(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    found = tried(400, disturbed=True), tried(40)
    assert trials_of(tmp_path, only, *found) == [(400, True), (40, False)]


@pytest.mark.parametrize(
    ("times", "kept"),
    [
        # The second trial agrees; it is slower; it is clearly faster, and the third agrees.
        ((400, 360), [(400, True), (360, False)]),
        ((400, 900), [(400, True), (400, False)]),
        ((400, 100, 90), [(400, True), (100, True), (90, False)]),
    ],
)
def test_a_computer_that_is_always_busy_stops_measuring(
    tmp_path: Path,
    only: Callable[..., None],
    times: tuple[float, ...],
    kept: list[tuple[float, bool]],
) -> None:
    found = (tried(time, disturbed=True) for time in times)
    assert trials_of(tmp_path, only, *found) == kept


def test_a_device_that_failed_while_the_computer_was_busy_is_tried_again(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    """A job that takes all memory ends a trial that went well before; two failures agree."""
    only(FAST, SAFE)
    crashed = tried(0, figures=(), problem="It crashed (SIGKILL).", disturbed=True)
    news: list[bool] = []
    for device in (tried(40, disturbed=True), crashed, crashed):
        devices = Devices(tmp_path, CannedTrials(fast=device, safe=tried(1, name="the processor")))
        verify(devices)
        news.append(devices.has_news())
    assert news == [True, True, False]
    assert order(devices) == ["safe"]


@pytest.mark.parametrize(("activity", "news"), [(IDLE, False), (BUSY, True)])
def test_a_process_that_failed_during_a_job_is_tried_again(
    tmp_path: Path, only: Callable[..., None], activity: JobActivity, news: bool
) -> None:
    only(FAST)
    devices = Devices(tmp_path, CannedTrials(fast="It did not answer for 120 s."))
    for _ in devices.verify(activity=lambda: activity):
        pass
    assert devices.has_news() is news
    verify(devices)
    assert not devices.has_news()


def test_a_trusted_backend_that_was_killed_is_the_last_resort(
    tmp_path: Path, only: Callable[..., None]
) -> None:
    """A machine with little memory kills the processor's trial."""
    only(SAFE, FAST)
    killed = tried(0, figures=(), problem="It crashed (SIGKILL).")
    devices = Devices(tmp_path, CannedTrials(safe=killed, fast=tried(20)))
    verify(devices)
    assert order(devices) == ["fast", "safe"]
    wrong = (PrecisionFigures(precision="f32", problem="it is off by 2.0%"),)
    broken = Devices(tmp_path, CannedTrials(safe=tried(1, figures=wrong), fast=tried(20)))
    verify(broken, again=True)
    assert order(broken) == ["fast"]


def test_a_full_disk_is_not_blamed_on_a_device(
    tmp_path: Path, only: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    only(FAST)
    trials = CannedTrials(fast=tried(20))

    def full(_folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.devices.choice.trial_network.network", full)
    devices = Devices(tmp_path, trials)
    with pytest.raises(EngineError) as caught:
        verify(devices)
    assert caught.value.code is ErrorCode.DISK_FULL
    assert trials.ran == []
    assert devices.has_news()


def test_listing_real_devices_imports_no_vendors_runtime(tmp_path: Path) -> None:
    """Runs in a process of its own, where nobody else has imported a runtime."""
    import subprocess
    import sys

    code = (
        "import sys; from pathlib import Path; from engine.devices.choice import Devices;"
        "d = Devices(Path(sys.argv[1])); d.listed(); d.candidates('auto'); d.has_news();"
        "print([m for m in ('openvino', 'torch', 'tensorrt') if m in sys.modules])"
    )
    command = [sys.executable, "-I", "-c", code, str(tmp_path)]
    told = subprocess.run(command, capture_output=True, check=True)
    assert told.stdout.strip() == b"[]"


def test_cancelling_stops_the_trials(tmp_path: Path, only: Callable[..., None]) -> None:
    only(FAST)
    token = CancelToken()
    token.cancel()
    devices = Devices(tmp_path)
    with pytest.raises(EngineError) as caught:
        list(devices.verify(cancel=token))
    assert caught.value.code is ErrorCode.CANCELLED
    assert devices.has_news()
