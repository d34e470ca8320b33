"""The results of trials of each device, kept in a file.

A report belongs to a backend and to the machine's fingerprint (`engine.devices.fingerprint`); under
another fingerprint it is ignored. A file that is damaged or cannot be written only costs another
trial.
"""

import logging
from pathlib import Path
from threading import Lock

import msgspec

from backends.base import Backend, BackendError, Device, Precision
from engine.api.machine import PrecisionFigures
from engine.cached_state import recall
from engine.durable import replace_file

_VERSION = 1
_MAX_BYTES = 4 << 20
# The number of machine states that are kept: a laptop comes back to its dock, a driver is rolled
# back.
_STATES = 4
# Times of two trials that differ by less than this factor agree.
_ALIKE = 1.5
_log = logging.getLogger(__name__)


class TriedDevice(msgspec.Struct, frozen=True, kw_only=True):
    """A device as a child process found it, with the results of its trial.

    `unusable` is the backend's reason why the device cannot be used, `install` the runtime packs
    of which one would make it usable. `problem` is the reason why its trial ended early, `failure`
    the reason why a job on it moved to another device. `disturbed`: its figures were measured
    while the computer was busy, with a job or with other programs.
    """

    id: str
    name: str
    precisions: tuple[str, ...] = ()
    automatic: bool = True
    unusable: str = ""
    install: tuple[str, ...] = ()
    runtime: str = ""
    memory_total_bytes: int = 0
    memory_free_bytes: int = 0
    figures: tuple[PrecisionFigures, ...] = ()
    problem: str = ""
    failure: str = ""
    disturbed: bool = False

    @property
    def tried(self) -> bool:
        """True if the device has results of a trial, or failed in it."""
        return bool(self.figures or self.problem)

    @property
    def right_precisions(self) -> tuple[str, ...]:
        """The precisions with correct results, the preferred first."""
        return tuple(figure.precision for figure in self.figures if not figure.problem)

    @property
    def works(self) -> bool:
        """True if the trial was completed with correct results in at least one precision."""
        return not self.problem and bool(self.right_precisions)

    @property
    def milliseconds(self) -> float:
        """The milliseconds of a run in the preferred precision; infinite if not measured."""
        times = (figure.milliseconds for figure in self.figures if not figure.problem)
        return next(times, float("inf")) if self.works else float("inf")

    @property
    def times(self) -> dict[Precision, float]:
        """The milliseconds of a run, by the precisions with correct results."""
        right = (figure for figure in self.figures if not figure.problem and self.works)
        return {Precision(figure.precision): figure.milliseconds for figure in right}

    @property
    def sentence(self) -> str:
        """The verdict as a sentence for the user."""
        if self.unusable:
            return self.unusable
        if self.problem:
            return self.problem
        if not self.tried:
            return "It was not tried yet."
        wrong = "; ".join(f"{f.precision}: {f.problem}" for f in self.figures if f.problem)
        if not self.works:
            return f"It failed: {wrong}."
        right = ", ".join(
            f"{f.precision} in {f.milliseconds:.1f} ms" for f in self.figures if not f.problem
        )
        return f"Its results are correct: {right}" + (f"; not {wrong}." if wrong else ".")

    def device(self, backend: str) -> Device:
        """Return the device for its backend, with only the correct precisions if it was tried."""
        names = self.right_precisions if self.works else self.precisions
        return Device(
            backend,
            self.id,
            self.name,
            tuple(Precision(name) for name in names),
            self.unusable or None,
            self.automatic,
            self.install,
        )


def untried(backend: Backend, device: Device) -> TriedDevice:
    """Describe a device before its trial; asks the runtime of a usable device for its memory."""
    found = TriedDevice(
        id=device.id,
        name=device.name,
        precisions=tuple(precision.value for precision in device.precisions),
        automatic=device.automatic,
        unusable=device.unusable or "",
        install=device.install,
    )
    if not device.usable:
        return found
    try:
        runtime, memory = backend.fingerprint(device), backend.memory(device)
    except BackendError as error:
        return msgspec.structs.replace(found, unusable=str(error))
    return msgspec.structs.replace(
        found,
        runtime=runtime,
        memory_total_bytes=memory.total,
        memory_free_bytes=memory.free,
    )


def settled(device: TriedDevice, before: TriedDevice | None) -> TriedDevice:
    """Return a device's results after those of an earlier trial.

    Where both trials were disturbed the faster times are kept, and they are believed unless the
    later trial was clearly faster: so a computer that is always busy stops measuring. Trials that
    do not agree whether the device works prove nothing.
    """
    if before is None or not (device.disturbed and before.disturbed and before.tried):
        return device
    if device.works != before.works:
        return device
    known = before.times
    pairs = [(figure, known.get(Precision(figure.precision))) for figure in device.figures]
    return msgspec.structs.replace(
        device,
        figures=tuple(_faster(figure, earlier) for figure, earlier in pairs),
        disturbed=any(
            earlier is not None and figure.milliseconds * _ALIKE < earlier
            for figure, earlier in pairs
            if not figure.problem
        ),
    )


def _faster(figure: PrecisionFigures, earlier: float | None) -> PrecisionFigures:
    if figure.problem or earlier is None or earlier >= figure.milliseconds:
        return figure
    return msgspec.structs.replace(figure, milliseconds=earlier)


class BackendReport(msgspec.Struct, frozen=True, kw_only=True):
    """One backend's devices; `problem` is its process's failure, if no device is to blame.

    `disturbed`: a job ran meanwhile, which may have been the cause.
    """

    backend: str
    fingerprint: str
    devices: tuple[TriedDevice, ...] = ()
    problem: str = ""
    disturbed: bool = False

    def find(self, device: str) -> TriedDevice | None:
        """Return the device with this id; None if there is none."""
        return next((found for found in self.devices if found.id == device), None)

    def with_device(self, device: TriedDevice) -> "BackendReport":
        """Return a copy in which `device` replaces the one with its id, or is added."""
        others = (device if found.id == device.id else found for found in self.devices)
        known = self.find(device.id) is not None
        return msgspec.structs.replace(self, devices=(*others, *(() if known else (device,))))


class _Content(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    reports: tuple[BackendReport, ...]


_DECODER = msgspec.json.Decoder(_Content)


class VerdictStore:
    """The reports kept on this machine. Safe for several threads and several processes."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._path = path
        self._lock = Lock()
        # All reports, if they could not be written to the disk; kept until the process ends.
        self._unwritten: tuple[BackendReport, ...] = ()
        # True while the file has reports that were forgotten, but could not be deleted.
        self._is_void = False

    def find(self, backend: str) -> BackendReport | None:
        """Return a backend's report under this machine's fingerprint; None if there is none."""
        with self._lock:
            reports = (*self._unwritten, *self._read())
        wanted = (backend, self.fingerprint)
        return next((r for r in reports if (r.backend, r.fingerprint) == wanted), None)

    def keep(self, report: BackendReport) -> None:
        """Save a report, in place of the backend's last one under the same fingerprint."""
        with self._lock:
            reports = _newest(report, *self._unwritten, *self._read())
            try:
                self._write(reports)
            except OSError as error:
                _log.warning("what was found out about devices is not kept: %s", error)
                self._unwritten = reports
            else:
                self._unwritten, self._is_void = (), False

    def forget(self) -> None:
        """Delete all reports; where their file stays, it counts no more in this process."""
        with self._lock:
            self._unwritten, self._is_void = (), False
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                _log.warning("what was found out about devices cannot be deleted: %s", error)
                self._is_void = True

    def _read(self) -> tuple[BackendReport, ...]:
        if self._is_void:
            return ()
        content = recall(self._path, _DECODER, _MAX_BYTES)
        return content.reports if content and content.version == _VERSION else ()

    def _write(self, reports: tuple[BackendReport, ...]) -> None:
        content = msgspec.json.encode(_Content(version=_VERSION, reports=reports))
        replace_file(self._path, content, durable=True)


def _newest(*reports: BackendReport) -> tuple[BackendReport, ...]:
    """Return the newest report of each backend and machine state, for the last few states."""
    first: dict[tuple[str, str], BackendReport] = {}
    for report in reports:
        first.setdefault((report.fingerprint, report.backend), report)
    states = list(dict.fromkeys(fingerprint for fingerprint, _ in first))[:_STATES]
    return tuple(report for report in first.values() if report.fingerprint in states)
