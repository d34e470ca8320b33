"""Which devices there are, which a job may run on, and in what order: as measured.

A vendor's runtime is not imported into this process before a process of its own has survived it
(`engine.devices.trials`). Until then "auto" has the backends that are trusted, which come with
Safelight: the first picture waits for no driver.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import msgspec

from backends.base import Backend, Cancellation, Device
from backends.registry import BACKENDS, BackendReference, find, title
from engine.api.machine import DeviceInfo
from engine.api.remedies import CheckDevices, InstallPackages, Remedy, UseAnyDevice
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.devices import trial_network
from engine.devices.fingerprint import machine_fingerprint
from engine.devices.trials import TrialLimits, Trials
from engine.devices.verdicts import BackendReport, TriedDevice, VerdictStore, seen
from engine.errors import EngineError

_AUTO = "auto"
# Differences below this are no reason to prefer one.
_ALIKE = 1.05


@dataclass(frozen=True, slots=True)
class Candidate:
    """A device that a job may run on. `choice` says why it is preferred to those after it."""

    backend: Backend
    device: Device
    milliseconds: float = float("inf")
    failure: str = ""
    choice: str = ""


class Devices:
    """What is known of this machine's devices; `cache` is the folder it is kept in."""

    def __init__(self, cache: Path, trials: Trials | None = None) -> None:
        self._path = cache / "devices.json"
        self._trials = trials or Trials(TrialLimits.of_this_machine())
        self._one_at_a_time = Lock()

    @cached_property
    def _store(self) -> VerdictStore:
        return VerdictStore(self._path, machine_fingerprint())

    # --- what there is ---

    def candidates(self, wanted: str, cancel: Cancellation | None = None) -> list[Candidate]:
        """The devices a job may run on, the preferred first.

        With "auto" those that may be chosen unasked: such as failed no job before such as did, the
        faster first, those that were not measured last; at the same speed in the registry's order.
        Else those of the wanted backend. Raises EngineError: BACKEND_UNKNOWN, or
        BACKEND_UNAVAILABLE with the reasons; Cancelled.
        """
        found = self._automatic() if wanted == _AUTO else self._named(wanted, cancel)
        refused = [reason for reason in found if isinstance(reason, _Refusal)]
        usable = [candidate for candidate in found if isinstance(candidate, Candidate)]
        if not usable:
            raise EngineError(
                ErrorCode.BACKEND_UNAVAILABLE,
                f"No device can be used ({'; '.join(refusal.reason for refusal in refused)}).",
                remedies=_cures(refused, wanted),
            )
        if wanted != _AUTO:
            return usable
        return _with_reasons(sorted(usable, key=lambda c: (bool(c.failure), c.milliseconds)))

    def listed(self) -> tuple[DeviceInfo, ...]:
        """Every device of every backend, usable or not; first those that "auto" takes."""
        found = [info for reference in BACKENDS for info in self._infos(reference)]
        order = [(c.device.backend, c.device.name) for c in self._preferred()]

        def place(info: DeviceInfo) -> int:
            key = (info.backend, info.name)
            return order.index(key) if key in order else len(order)

        return tuple(sorted(found, key=place))

    def choice(self) -> str:
        """Why "auto" takes the device it takes; empty where it has none."""
        return next((candidate.choice for candidate in self._preferred()), "")

    # --- what is found out ---

    def has_news(self) -> bool:
        """Whether "auto" might choose something that was not tried as it is now."""
        return any(self._is_news(reference) for reference in BACKENDS)

    def verify(
        self,
        *,
        again: bool = False,
        activity: Callable[[], int] = lambda: 0,
        cancel: Cancellation | None = None,
    ) -> Iterator[tuple[BackendReport, int]]:
        """Yield how each backend did that was not tried yet, and how many are still to come.

        Of those that are never chosen unasked only the devices are listed. `again` has all of them,
        and forgets what failed. `activity` counts the beginnings and ends of
        jobs: figures taken beside a job are taken anew another time. Raises EngineError
        (DISK_FULL), Cancelled.
        """
        with self._one_at_a_time:
            if again:
                self._store.forget()
            # What is trusted first: the others are compared with the processor.
            wanted = sorted(filter(self._is_news, BACKENDS), key=lambda r: not r.trusted)
            wanted += [r for r in BACKENDS if not r.automatic and self._report(r) is None]
            if not wanted:
                return
            with _shared_folder() as folder:
                for number, reference in enumerate(wanted, start=1):
                    before = activity()
                    report = self._tried(reference, folder, cancel or CancelToken())
                    if before % 2 or activity() != before:
                        report = _disturbed(report)
                    self._store.keep(report)
                    yield report, len(wanted) - number

    def note_failure(self, device: Device, reason: str) -> None:
        """Put a device behind the others: a job failed on it that another could do."""
        reference = find(device.backend)
        report = reference and self._report(reference)
        known = report and report.find(device.id)
        if report and known:
            failed = msgspec.structs.replace(known, failure=reason)
            self._store.keep(report.with_device(failed))

    def _tried(
        self, reference: BackendReference, folder: Path, cancel: Cancellation
    ) -> BackendReport:
        if not reference.automatic:
            return self._trials.look(reference, self._store.fingerprint, cancel)
        before = self._store.find(reference.name)
        report = self._trials.run(reference, self._store.fingerprint, folder, cancel)
        failures = {d.id: d.failure for d in before.devices} if before else {}
        devices = tuple(
            msgspec.structs.replace(device, failure=failures.get(device.id, ""))
            for device in report.devices
        )
        return msgspec.structs.replace(report, devices=devices)

    def _is_news(self, reference: BackendReference) -> bool:
        if not reference.automatic:
            return False
        report = self._store.find(reference.name)
        if report is None:
            return True
        devices = (d for d in report.devices if d.automatic and not d.unusable)
        return not report.problem and any(not d.tried or d.disturbed for d in devices)

    def _report(self, reference: BackendReference) -> BackendReport | None:
        """What is known of a backend, or can be had without a risk."""
        report = self._store.find(reference.name)
        if report is None or (report.problem and reference.trusted):
            return self._look(reference) if reference.trusted else report
        return report

    def _look(self, reference: BackendReference) -> BackendReport:
        """A backend's devices, asked for in this process."""
        backend = reference.create()
        devices = tuple(seen(backend, device) for device in backend.probe())
        fingerprint = self._store.fingerprint
        return BackendReport(backend=reference.name, fingerprint=fingerprint, devices=devices)

    # --- what is made of it ---

    def _preferred(self) -> list[Candidate]:
        try:
            return self.candidates(_AUTO)
        except EngineError:
            return []

    def _automatic(self) -> "list[Candidate | _Refusal]":
        """What may be chosen unasked, and why the rest may not."""
        found: list[Candidate | _Refusal] = []
        for reference in BACKENDS:
            if not reference.automatic:
                continue
            report = self._report(reference)
            if report is None or report.problem:
                found.append(_Refusal(f"{reference.name}: {_unknown(report)}"))
                continue
            for device in report.devices:
                # A trusted one that was killed for memory may do what is smaller.
                unproven = reference.trusted and not device.right_precisions and not device.figures
                if device.automatic and not device.unusable and (device.works or unproven):
                    found.append(_candidate(reference, device))
                else:
                    found.append(_refusal(reference, device))
        return found

    def _named(self, wanted: str, cancel: Cancellation | None) -> "list[Candidate | _Refusal]":
        """The devices of one backend, such as are not known to end the process."""
        reference = find(wanted)
        if reference is None:
            names = ", ".join(reference.name for reference in BACKENDS)
            raise EngineError(
                ErrorCode.BACKEND_UNKNOWN,
                f"There is no backend {wanted}.",
                f"The backends are {names}; auto chooses for you.",
            )
        report = self._report(reference)
        if report is None:
            looked = (reference, self._store.fingerprint, cancel or CancelToken())
            report = self._trials.look(*looked)
            self._store.keep(report)
        if report.problem:
            return [_Refusal(f"{reference.name}: {report.problem}")]
        return [
            _refusal(reference, device)
            if device.unusable or (device.problem and not reference.trusted)
            else replace(_candidate(reference, device), choice="asked for")
            for device in report.devices
        ]

    def _infos(self, reference: BackendReference) -> Iterator[DeviceInfo]:
        report = self._report(reference)
        if report is None or report.problem:
            nothing = TriedDevice(id="", name="", problem=_unknown(report))
            yield _info(reference, nothing, checked=report is not None)
            return
        for device in report.devices:
            yield _info(reference, device, checked=device.tried)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a backend or a device is no candidate, and the packages that would make it one."""

    reason: str
    install: tuple[str, ...] = ()


def _refusal(reference: BackendReference, device: TriedDevice) -> _Refusal:
    return _Refusal(f"{reference.name}: {device.sentence}", device.install)


def _cures(refused: list[_Refusal], wanted: str) -> tuple[Remedy, ...]:
    """What can be done where no device of the wanted backend is left."""
    packages = tuple(dict.fromkeys(name for refusal in refused for name in refusal.install))
    install = (InstallPackages(packages=packages),) if packages else ()
    return (*install, CheckDevices() if wanted == _AUTO else UseAnyDevice())


def _candidate(reference: BackendReference, device: TriedDevice) -> Candidate:
    return Candidate(
        reference.create(), device.device(reference.name), device.milliseconds, device.failure
    )


def _with_reasons(candidates: list[Candidate]) -> list[Candidate]:
    """Each with why it comes before the next."""
    following = [*candidates[1:], None]
    pairs = zip(candidates, following, strict=True)
    return [replace(candidate, choice=_reason(candidate, after)) for candidate, after in pairs]


def _reason(candidate: Candidate, following: Candidate | None) -> str:
    if following is None:
        return "the only one that is known to work here"
    other = title(following.device.backend)
    if following.failure and not candidate.failure:
        return f"{other} failed in an earlier job"
    if candidate.milliseconds == float("inf"):
        return "not measured yet"
    if following.milliseconds == float("inf"):
        return f"measured, and {other} was not"
    ratio = following.milliseconds / candidate.milliseconds
    if ratio < _ALIKE:
        return f"about as fast as {other} here"
    return f"{ratio:.1f}x faster than {other} here"


def _unknown(report: BackendReport | None) -> str:
    return "It was not looked at yet." if report is None else report.problem


def _disturbed(report: BackendReport) -> BackendReport:
    devices = tuple(msgspec.structs.replace(d, disturbed=True) for d in report.devices)
    return msgspec.structs.replace(report, devices=devices)


def _info(reference: BackendReference, device: TriedDevice, *, checked: bool) -> DeviceInfo:
    wrong = device.problem or (device.tried and not device.works)
    return DeviceInfo(
        backend=reference.name,
        name=device.name,
        precisions=device.precisions,
        automatic=reference.automatic and device.automatic,
        runtime=device.runtime,
        memory_total_bytes=device.memory_total_bytes,
        memory_free_bytes=device.memory_free_bytes,
        unusable=device.unusable or (device.sentence if wrong else ""),
        install=device.install,
        title=title(reference.name),
        checked=checked,
        figures=device.figures,
        verdict=device.sentence if device.tried else "",
        failure=device.failure,
    )


@contextmanager
def _shared_folder() -> Generator[Path]:
    """A folder with the weights, for the time of some trials.

    They are written before a child needs them: a full disk is no device's fault.
    """
    with ExitStack() as stack:
        try:
            name = stack.enter_context(TemporaryDirectory(prefix="safelight-trial-"))
            trial_network.network(Path(name))
        except OSError as error:
            raise EngineError(
                ErrorCode.DISK_FULL,
                "The hardware cannot be checked: there is no room for temporary files.",
                "Free some disk space.",
                str(error),
            ) from error
        yield Path(name)
