"""The packs of this machine as they are on the disk, and the rows that the window draws of them."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication

from app.commands.pack_fit import preference, unfit_reason
from app.commands.pack_rows import PackRow, PackStage, Progress, Terms
from app.downloads.entries import ACTIVE, Download, DownloadState
from app.downloads.errors import DownloadProblem
from app.engine.speed import trial_milliseconds
from app.packs.catalogue import Catalogue, Pack
from app.packs.installation import Stage
from app.packs.store import Installed, PackStore
from engine.api.machine import DeviceInfo, MachineInfo
from engine.api.values import ErrorCode, ErrorInfo

translate = QCoreApplication.translate
_PROCESSOR = "cpu"
_STAGES = {
    Stage.DOWNLOAD: PackStage.VERIFYING,
    Stage.UNPACK: PackStage.UNPACKING,
    Stage.TRY: PackStage.TRYING,
}


class Shelf(msgspec.Struct, frozen=True):
    """The packs that this version knows, and those that are installed, by their ids."""

    packs: Mapping[str, Pack]
    active: Mapping[str, Installed]
    previous: Mapping[str, Installed]


class Doings(msgspec.Struct, frozen=True):
    """The installations and downloads of packs that are under way, and their results, by ids.

    `under_way` are installations and repairs, None before their first progress; `ready` are packs
    that the running engine does not use yet. `machine` is None before it was read; `devices` are
    those of the running engine, of which `chosen` makes pictures; `is_checked`: all were tried.
    """

    downloads: Mapping[str, Download] = msgspec.field(default_factory=dict[str, Download])
    under_way: Mapping[str, Stage | None] = msgspec.field(default_factory=dict[str, Stage | None])
    ready: frozenset[str] = frozenset()
    problems: Mapping[str, ErrorInfo] = msgspec.field(default_factory=dict[str, ErrorInfo])
    machine: MachineInfo | None = None
    devices: tuple[DeviceInfo, ...] = ()
    chosen: DeviceInfo | None = None
    is_checked: bool = False


def read_shelf(folder: Path) -> Shelf:
    """Read the catalogue and the installed packs. Raises EngineError for a broken catalogue."""
    store = PackStore(folder)
    packs = {pack.id: pack for pack in Catalogue.read().packs}
    active = {pack: store.listed(name) for pack, name in store.active().items()}
    before = {pack: store.previous(pack) for pack in packs}
    previous = {pack: store.listed(name) for pack, name in before.items() if name}
    return Shelf(
        packs,
        {pack: listed for pack, listed in active.items() if listed is not None},
        {pack: listed for pack, listed in previous.items() if listed is not None},
    )


def make_rows(shelf: Shelf, doings: Doings) -> tuple[PackRow, ...]:
    """Return the packs as the window draws them, those for this machine first, the best first."""
    packs = sorted(shelf.packs.values(), key=lambda pack: preference(pack, doings.machine))
    rows = [_row(pack, shelf, doings) for pack in packs]
    return (*(row for row in rows if not row.reason), *(row for row in rows if row.reason))


def problem_of(problem: DownloadProblem) -> ErrorInfo:
    """Return the failure of a download as the window's other failures are."""
    return ErrorInfo(ErrorCode.NOT_AVAILABLE, problem.text, problem.advice, problem.detail)


def _row(pack: Pack, shelf: Shelf, doings: Doings) -> PackRow:
    installed, previous = shelf.active.get(pack.id), shelf.previous.get(pack.id)
    download = doings.downloads.get(pack.id)
    failed = download.problem if download is not None else None
    return PackRow(
        id=pack.id,
        version=pack.version,
        title=pack.title,
        summary=pack.summary,
        licences=tuple(
            Terms(licence.name, licence.url, licence.proprietary) for licence in pack.licences
        ),
        hosts=pack.hosts,
        download_bytes=pack.download_bytes,
        disk_bytes=installed.disk_bytes if installed else pack.disk_bytes,
        # An installed pack can be removed, whatever this version knows of it.
        reason="" if installed else _reason(pack, doings),
        gain=pack.gain,
        gain_source=pack.gain_source,
        needs=pack.needs,
        stage=_stage(pack, installed, doings),
        progress=_progress(download),
        installed=installed.version if installed else "",
        previous=previous.version if previous else "",
        is_used=doings.chosen is not None and doings.chosen.backend in pack.backends,
        remark=_remark(pack, doings.devices) if doings.is_checked else "",
        problem=problem_of(failed) if failed else doings.problems.get(pack.id),
        times_as_fast=_times_as_fast(pack, doings.devices) if doings.is_checked else None,
    )


def _stage(pack: Pack, installed: Installed | None, doings: Doings) -> PackStage:
    if pack.id in doings.under_way:
        stage = doings.under_way[pack.id]
        return PackStage.WAITING if stage is None else _STAGES[stage]
    download = doings.downloads.get(pack.id)
    if download is not None and download.state is not DownloadState.DONE:
        if download.state is DownloadState.VERIFYING:
            return PackStage.VERIFYING
        if download.state in ACTIVE:
            return PackStage.DOWNLOADING
        is_waiting = download.state is DownloadState.WAITING
        return PackStage.WAITING if is_waiting else PackStage.PAUSED
    if installed is None:
        return PackStage.AVAILABLE
    return PackStage.READY if pack.id in doings.ready else PackStage.INSTALLED


def _reason(pack: Pack, doings: Doings) -> str:
    if any(device.backend in pack.backends and not device.unusable for device in doings.devices):
        return translate("packs", "This Safelight has it already.")
    return unfit_reason(pack, doings.machine)


def _remark(pack: Pack, devices: Sequence[DeviceInfo]) -> str:
    """Return why no device of a pack can be used; empty if one can."""
    own = [device for device in devices if device.backend in pack.backends]
    usable = any(not device.unusable for device in own)
    return next((device.unusable for device in own if not usable), "")


def _times_as_fast(pack: Pack, devices: Sequence[DeviceInfo]) -> float | None:
    """Return how many times as fast as the plain processor a pack was in the trials here."""
    own = min(
        (_time(device) for device in devices if device.backend in pack.backends), default=math.inf
    )
    plain = min(
        (_time(device) for device in devices if device.backend == _PROCESSOR), default=math.inf
    )
    return plain / own if math.isfinite(plain) and math.isfinite(own) else None


def _time(device: DeviceInfo) -> float:
    """Return the least time of a device's trial in milliseconds; infinite without one."""
    found = None if device.unusable else trial_milliseconds(device)
    return math.inf if found is None else found


def _progress(download: Download | None) -> Progress:
    if download is None:
        return Progress()
    return Progress(
        done_bytes=download.bytes_done,
        total_bytes=download.size,
        bytes_per_second=download.bytes_per_second,
    )
