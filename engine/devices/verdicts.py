"""What is known of each device by having run it, kept in a file until something changes.

A report belongs to a backend and to the fingerprint of the machine (`engine.devices.fingerprint`):
while that is another it is as if it were not there. A file that is damaged, or that cannot be
written, costs another look at the hardware and nothing else.
"""

import logging
from contextlib import suppress
from pathlib import Path
from threading import Lock

import msgspec

from backends.base import Backend, BackendError, Device, Precision
from engine.api.machine import PrecisionFigures
from engine.cached_state import recall
from engine.durable import replace_file

_VERSION = 1
_MAX_BYTES = 4 << 20
# States of a machine that are kept: a laptop comes back to its dock, a driver is taken back.
_STATES = 4
_log = logging.getLogger(__name__)


class TriedDevice(msgspec.Struct, frozen=True, kw_only=True):
    """A device as a child process saw it, and how it did there.

    `unusable` is the backend's own reason, `install` the packages that would cure it, `problem`
    how its trial ended before it was over, `failure` why a job had to go on elsewhere. `disturbed`
    figures were taken beside a job.
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
        """Whether it was had to compute."""
        return bool(self.figures or self.problem)

    @property
    def right_precisions(self) -> tuple[str, ...]:
        """Those it computed rightly in, the preferred first."""
        return tuple(figure.precision for figure in self.figures if not figure.problem)

    @property
    def works(self) -> bool:
        """Whether it computed rightly in some precision."""
        return not self.problem and bool(self.right_precisions)

    @property
    def milliseconds(self) -> float:
        """What a run took in the precision that is preferred; infinite where none is known."""
        times = (figure.milliseconds for figure in self.figures if not figure.problem)
        return next(times, float("inf")) if self.works else float("inf")

    @property
    def sentence(self) -> str:
        """The verdict in words."""
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
        """As the backend takes it, in the precisions that are right where it was tried."""
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


def seen(backend: Backend, device: Device) -> TriedDevice:
    """A device that was not tried yet. Asks its runtime, unless it cannot be used."""
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


class BackendReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one backend found; `problem` says how its process ended before it could tell."""

    backend: str
    fingerprint: str
    devices: tuple[TriedDevice, ...] = ()
    problem: str = ""

    def find(self, device: str) -> TriedDevice | None:
        """The device of that id."""
        return next((found for found in self.devices if found.id == device), None)

    def with_device(self, device: TriedDevice) -> "BackendReport":
        """The same with this device in the place of the one of its id."""
        others = (device if found.id == device.id else found for found in self.devices)
        known = self.find(device.id) is not None
        return msgspec.structs.replace(self, devices=(*others, *(() if known else (device,))))


class _Content(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    reports: tuple[BackendReport, ...]


_DECODER = msgspec.json.Decoder(_Content)


class VerdictStore:
    """The reports of one machine as it is now. Any thread may use it, and several processes."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._path = path
        self._lock = Lock()
        # What the disk did not take is known until the process ends.
        self._unwritten: tuple[BackendReport, ...] = ()

    def find(self, backend: str) -> BackendReport | None:
        """What is known of a backend on this machine as it is now."""
        with self._lock:
            reports = (*self._unwritten, *self._read())
        wanted = (backend, self.fingerprint)
        return next((r for r in reports if (r.backend, r.fingerprint) == wanted), None)

    def keep(self, report: BackendReport) -> None:
        """Remember a report, in the place of the backend's last one."""
        with self._lock:
            reports = _newest(report, *self._unwritten, *self._read())
            try:
                self._write(reports)
            except OSError as error:
                _log.warning("what was found out about devices is not kept: %s", error)
                self._unwritten = reports
            else:
                self._unwritten = ()

    def forget(self) -> None:
        """Know nothing any more."""
        with self._lock:
            self._unwritten = ()
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _read(self) -> tuple[BackendReport, ...]:
        content = recall(self._path, _DECODER, _MAX_BYTES)
        return content.reports if content and content.version == _VERSION else ()

    def _write(self, reports: tuple[BackendReport, ...]) -> None:
        content = msgspec.json.encode(_Content(version=_VERSION, reports=reports))
        replace_file(self._path, content, durable=True)


def _newest(*reports: BackendReport) -> tuple[BackendReport, ...]:
    """The first report of each backend in each state of the machine, of the first few states."""
    first: dict[tuple[str, str], BackendReport] = {}
    for report in reports:
        first.setdefault((report.fingerprint, report.backend), report)
    states = list(dict.fromkeys(fingerprint for fingerprint, _ in first))[:_STATES]
    return tuple(report for report in first.values() if report.fingerprint in states)
