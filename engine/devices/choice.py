"""The machine's devices, and the choice of those that a job may run on, by measured speed.

A vendor's runtime is imported into this process only after a child process survived it
(`engine.devices.trials`). Until then "auto" offers only the trusted backends, which come with
Safelight, so the first picture never waits for a driver.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock

import msgspec

from backends.base import Backend, Cancellation, Device, Precision
from backends.registry import BACKENDS, BackendReference, find
from engine.api.machine import DeviceInfo
from engine.api.reasons import known_reason
from engine.api.remedies import CheckDevices, InstallPack, Remedy, UseAnyDevice
from engine.api.runtime_titles import runtime_title
from engine.api.sentences import Sentence, completed, sentence
from engine.api.values import ErrorCode
from engine.cancel import CancelToken
from engine.devices import trial_network
from engine.devices.activity import JobActivity
from engine.devices.fingerprint import machine_fingerprint
from engine.devices.trials import TrialLimits, Trials
from engine.devices.verdicts import (
    BackendReport,
    TriedDevice,
    VerdictStore,
    settled,
    untried,
)
from engine.errors import EngineError
from engine.scratch_folder import ScratchFolder

AUTO = "auto"
# A device must be this much faster to be preferred.
_ALIKE = 1.05


class Candidate(msgspec.Struct, frozen=True):
    """A device that a job may run on. `choice` is the reason why it comes before the next one.

    `milliseconds` is the time of a run in its trial, in the precision that is preferred, and
    `times` has that of each precision whose results were right. `failure` is the reason why a job
    failed on it.
    """

    backend: Backend
    device: Device
    milliseconds: float = float("inf")
    failure: str = ""
    choice: str = ""
    times: Mapping[Precision, float] = msgspec.field(default_factory=dict[Precision, float])

    @property
    def holds_blocks(self) -> bool:
        """True if the runtime holds weights of linear layers in blocks of few bits."""
        return self.backend.operators(self.device).blocks is not None


class Devices:
    """The devices of this machine; `cache` is the folder that keeps their verdicts."""

    def __init__(self, cache: Path, trials: Trials | None = None) -> None:
        self._path = cache / "devices.json"
        self._trials = trials or Trials(TrialLimits.of_this_machine())
        self._one_at_a_time = Lock()

    @cached_property
    def _store(self) -> VerdictStore:
        return VerdictStore(self._path, machine_fingerprint())

    # --- listing and choosing ---

    def candidates(self, wanted: str, cancel: Cancellation | None = None) -> list[Candidate]:
        """Return the devices that a job may run on, the preferred first.

        With "auto" these are the automatic devices with a good verdict: those on which no job
        failed come first, then the faster ones, then those never measured; equals keep the
        registry's order. With a backend's name they are its devices. Raises EngineError:
        BACKEND_UNKNOWN, or BACKEND_UNAVAILABLE with the reasons; Cancelled.
        """
        found = self._automatic() if wanted == AUTO else self._named(wanted, cancel)
        refused = [reason for reason in found if isinstance(reason, _Refusal)]
        usable = [candidate for candidate in found if isinstance(candidate, Candidate)]
        if not usable:
            raise EngineError(
                ErrorCode.BACKEND_UNAVAILABLE,
                sentence("No device can be used ({names}).", names=_listed(refused)),
                remedies=_cures(refused, wanted),
            )
        if wanted != AUTO:
            return usable
        return by_speed(usable)

    def listed(self) -> tuple[DeviceInfo, ...]:
        """List every device of every backend, usable or not; those that "auto" takes come first."""
        found = [info for reference in BACKENDS for info in self._infos(reference)]
        order = [(c.device.backend, c.device.name) for c in self._preferred()]

        def place(info: DeviceInfo) -> int:
            key = (info.backend, info.name)
            return order.index(key) if key in order else len(order)

        return tuple(sorted(found, key=place))

    def choice(self) -> str:
        """Return the reason for the device that "auto" takes; empty if there is no device."""
        return next((candidate.choice for candidate in self._preferred()), "")

    # --- trials and failures ---

    def has_news(self) -> bool:
        """True if an automatic device was not tried in its present state."""
        return any(self._is_news(reference) for reference in BACKENDS)

    def verify(
        self,
        *,
        again: bool = False,
        activity: Callable[[], JobActivity] = JobActivity,
        cancel: Cancellation | None = None,
    ) -> Iterator[tuple[BackendReport, int]]:
        """Try each backend that needs it; yield its report and how many backends are left.

        Backends that are never automatic are only listed. `again` forgets all verdicts and tries
        every backend. `activity` says whether a job runs: figures measured during a job, or while
        other programs were busy, are disturbed and measured again by a later call until two trials
        agree (`verdicts.settled`). Raises EngineError (DISK_FULL), Cancelled.
        """
        with self._one_at_a_time:
            if again:
                self._store.forget()
            # Trusted backends first: the others are compared with the processor.
            wanted = sorted(filter(self._is_news, BACKENDS), key=lambda r: not r.trusted)
            wanted += [r for r in BACKENDS if not r.automatic and self._report(r) is None]
            if not wanted:
                return
            with _shared_folder() as folder:
                for number, reference in enumerate(wanted, start=1):
                    report = self._tried(reference, folder, activity, cancel or CancelToken())
                    self._store.keep(report)
                    yield report, len(wanted) - number

    def note_failure(self, device: Device, reason: str) -> None:
        """Put a device behind the others: a job failed on it and ran on another."""
        reference = find(device.backend)
        report = reference and self._report(reference)
        known = report and report.find(device.id)
        if report and known:
            failed = msgspec.structs.replace(known, failure=reason)
            self._store.keep(report.with_device(failed))

    def _tried(
        self,
        reference: BackendReference,
        folder: Path,
        activity: Callable[[], JobActivity],
        cancel: Cancellation,
    ) -> BackendReport:
        if not reference.automatic:
            return self._trials.list_devices(reference, self._store.fingerprint, cancel)
        jobs = activity()
        report = self._trials.run(reference, self._store.fingerprint, folder, cancel)
        if jobs.is_busy or activity() != jobs:
            report = _disturbed(report)
        # Read now: a job may have failed on a device while the trial ran.
        kept = self._store.find(reference.name)
        return report if kept is None else _after(report, kept)

    def _is_news(self, reference: BackendReference) -> bool:
        if not reference.automatic:
            return False
        report = self._store.find(reference.name)
        if report is None:
            return True
        if report.problem:
            return report.disturbed
        devices = (d for d in report.devices if d.automatic and not d.unusable)
        return any(not d.tried or d.disturbed for d in devices)

    def _report(self, reference: BackendReference) -> BackendReport | None:
        """Return a backend's report; if a trusted one has none, ask it in this process."""
        report = self._store.find(reference.name)
        if report is None or (report.problem and reference.trusted):
            return self._list_devices(reference) if reference.trusted else report
        return report

    def _list_devices(self, reference: BackendReference) -> BackendReport:
        """Ask a backend for its devices in this process."""
        backend = reference.create()
        devices = tuple(untried(backend, device) for device in backend.probe())
        fingerprint = self._store.fingerprint
        return BackendReport(backend=reference.name, fingerprint=fingerprint, devices=devices)

    # --- candidates from reports ---

    def _preferred(self) -> list[Candidate]:
        try:
            return self.candidates(AUTO)
        except EngineError:
            return []

    def _automatic(self) -> "list[Candidate | _Refusal]":
        """Return the automatic devices that may be chosen, and refusals of the others."""
        found: list[Candidate | _Refusal] = []
        for reference in BACKENDS:
            if not reference.automatic:
                continue
            report = self._report(reference)
            if report is None or report.problem:
                found.append(_refused(reference, _unknown(report)))
                continue
            for device in report.devices:
                # A trusted backend killed for lack of memory may still manage smaller jobs.
                unproven = reference.trusted and not device.right_precisions and not device.figures
                if device.automatic and not device.unusable and (device.works or unproven):
                    found.append(_candidate(reference, device))
                else:
                    found.append(_refusal(reference, device))
        return found

    def _named(self, wanted: str, cancel: Cancellation | None) -> "list[Candidate | _Refusal]":
        """Return one backend's devices, with refusals of unusable ones and those that crash."""
        reference = find(wanted)
        if reference is None:
            names = ", ".join(reference.name for reference in BACKENDS)
            raise EngineError(
                ErrorCode.BACKEND_UNKNOWN,
                sentence("There is no backend {wanted}.", wanted=wanted),
                sentence("The backends are {names}; auto chooses for you.", names=names),
            )
        report = self._report(reference)
        if report is None:
            looked = (reference, self._store.fingerprint, cancel or CancelToken())
            report = self._trials.list_devices(*looked)
            self._store.keep(report)
        if report.problem:
            return [_refused(reference, report.problem)]
        return [
            _refusal(reference, device)
            if device.unusable or (device.problem and not reference.trusted)
            else msgspec.structs.replace(_candidate(reference, device), choice="asked for")
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


class _Refusal(msgspec.Struct, frozen=True):
    """The reason why a backend or a device is no candidate, and the packs that would cure it."""

    reason: Sentence
    install: tuple[str, ...] = ()


def _refusal(reference: BackendReference, device: TriedDevice) -> _Refusal:
    return _refused(reference, device.sentence, device.install)


def _refused(reference: BackendReference, reason: str, install: tuple[str, ...] = ()) -> _Refusal:
    words = sentence("{backend}: {reason}", backend=reference.name, reason=known_reason(reason))
    return _Refusal(words, install)


def _listed(refused: list[_Refusal]) -> Sentence:
    """Return the reasons one after another."""
    reasons = {f"reason_{number}": refusal.reason for number, refusal in enumerate(refused)}
    places = "; ".join(f"{{{name}}}" for name in reasons)
    return completed(Sentence(places), **reasons)


def _cures(refused: list[_Refusal], wanted: str) -> tuple[Remedy, ...]:
    """Return the remedies for the user if no device of the wanted backend is usable."""
    packs = dict.fromkeys(refusal.install[0] for refusal in refused if refusal.install)
    install = (InstallPack(pack=pack) for pack in packs)
    return (*install, CheckDevices() if wanted == AUTO else UseAnyDevice())


def _candidate(reference: BackendReference, device: TriedDevice) -> Candidate:
    return Candidate(
        reference.create(),
        device.device(reference.name),
        device.milliseconds,
        device.failure,
        times=device.times,
    )


def by_speed(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates by preference, each with the reason why it comes before the next.

    Those on which no job failed come first, then the faster ones in their trials.
    """
    candidates = sorted(candidates, key=lambda figure: (bool(figure.failure), figure.milliseconds))
    following = [*candidates[1:], None]
    pairs = zip(candidates, following, strict=True)
    return [
        msgspec.structs.replace(candidate, choice=_reason(candidate, after))
        for candidate, after in pairs
    ]


def _reason(candidate: Candidate, following: Candidate | None) -> str:
    if following is None:
        return "the only one that is known to work here"
    other = runtime_title(following.device.backend)
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
    return msgspec.structs.replace(report, devices=devices, disturbed=True)


def _after(report: BackendReport, kept: BackendReport) -> BackendReport:
    """Return a report with what the one before knew: failures of jobs, times of devices."""
    pairs = [(device, kept.find(device.id)) for device in report.devices]
    devices = tuple(
        msgspec.structs.replace(settled(device, before), failure=before.failure if before else "")
        for device, before in pairs
    )
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
        title=runtime_title(reference.name),
        checked=checked,
        figures=device.figures,
        verdict=device.sentence if device.tried else "",
        failure=device.failure,
        disturbed=device.disturbed,
    )


@contextmanager
def _shared_folder() -> Generator[Path]:
    """Make a folder that several trials share, and write the network's weights to it.

    They are written before a child process needs them, so that a full disk is not blamed on a
    device.
    """
    with ExitStack() as stack:
        try:
            folder = ScratchFolder()
            stack.callback(folder.release)
            trial_network.network(folder.path)
        except OSError as error:
            raise EngineError(
                ErrorCode.DISK_FULL,
                sentence("The hardware cannot be checked: there is no room for temporary files."),
                sentence("Free some disk space."),
                str(error),
            ) from error
        yield folder.path
