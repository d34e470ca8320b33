"""Installs, repairs and removes packs; none is used before all of it is here and works.

The wheels are downloaded and verified, unpacked into a staging folder, synced, and given their name
by one rename. The runtime then runs a small network in a process of its own; only a pack that
survives this becomes active, by another rename. Whatever ends the program in between leaves the
earlier pack active, and `PackStore.tidy` deletes the rest.
"""

import os
import shutil
from collections.abc import Callable
from enum import StrEnum
from hashlib import file_digest
from pathlib import Path

import msgspec

from app.downloads.errors import DownloadCode, DownloadError
from app.downloads.fetch import fetch
from app.downloads.source import Source
from app.downloads.terms import USUAL_TERMS, Terms
from app.packs.catalogue import Pack, Platform
from app.packs.errors import (
    WheelError,
    damaged_wheel,
    failed_trial,
    no_room,
    not_downloaded,
    not_here,
    not_installed,
    not_the_file,
    store_errors,
    unavailable,
)
from app.packs.store import STAGING, Installed, PackStore
from app.packs.trial import Trial, try_pack
from app.packs.wheels import Unpacker, sync_tree
from engine.api.machine import PackVerdict
from engine.api.reasons import known_reason
from engine.api.sentences import sentence
from engine.durable import put_in_place, replace_file, sync_folder
from engine.errors import Cancelled
from engine.packs import LIST, SITE

# Room for the names of files and for what Python compiles from the modules.
_SLACK = 50_000_000


class Stage(StrEnum):
    """The parts of an installation that take time."""

    DOWNLOAD = "download"
    UNPACK = "unpack"
    TRY = "try"


class Progress(msgspec.Struct, frozen=True):
    """The bytes that are done of a stage; a trial has none."""

    stage: Stage
    done: int = 0
    total: int = 0


class Outcome(msgspec.Struct, frozen=True):
    """A pack that is active now: its verdict, and the packs that gave way to it.

    `repaired` are the files that were put in place again.
    """

    pack: Installed
    verdict: PackVerdict
    gave_way: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()


class Wishes(msgspec.Struct, frozen=True):
    """A person's view of an installation, and the wish to stop it."""

    on_progress: Callable[[Progress], None] = lambda _: None
    cancelled: Callable[[], bool] = lambda: False

    def check(self) -> None:
        """Raise Cancelled if a person wishes to stop."""
        if self.cancelled():
            raise Cancelled


class Installation:
    """Changes the packs in a store. Each method takes the store's lock, and raises EngineError."""

    def __init__(
        self, store: PackStore, *, trial: Trial = try_pack, terms: Terms = USUAL_TERMS
    ) -> None:
        self._store, self._trial, self._terms = store, trial, terms

    def install(self, pack: Pack, wishes: Wishes, *, source: Path | None = None) -> Outcome:
        """Install a pack and make it active; `source` has its wheels, else they are downloaded.

        A pack that is here already is only tried and made active.
        """
        if pack.unavailable:
            raise unavailable(pack.title, known_reason(pack.unavailable))
        _require_fit(pack)
        with self._store.locked():
            self._store.tidy(keep=pack.folder)
            here = self._store.listed(pack.folder)
            if here is None:
                here = self._put_in_place(pack, wishes, source)
            elif damaged := self._store.damaged_files(pack.folder, here):
                self._replace_files(pack.folder, here, damaged, wishes, source)
            verdict = self._tried(here, pack.folder, pack.imports, wishes)
            gave_way = self._store.activate(pack.folder, here)
            self._store.forget_downloads(pack.id)
            self._store.tidy()
            return Outcome(here, verdict, gave_way)

    def repair(self, pack: Pack, wishes: Wishes, *, source: Path | None = None) -> Outcome:
        """Verify every file of an active pack and fetch again what is missing or differs.

        A pack whose list or folder is gone is installed anew.
        """
        name = self._store.active().get(pack.id)
        if name is None:
            raise not_installed(pack.title)
        here = self._store.listed(name)
        if here is None:
            return self.install(pack, wishes, source=source)
        with self._store.locked():
            damaged = self._store.damaged_files(name, here)
            if damaged:
                self._replace_files(name, here, damaged, wishes, source)
            verdict = self._tried(here, name, pack.imports, wishes)
            return Outcome(here, verdict, repaired=damaged)

    def roll_back(self, pack: Pack, wishes: Wishes) -> Outcome:
        """Make the version before the present one active again, if it still works."""
        with self._store.locked():
            name = self._store.before(pack.id)
            here = self._store.listed(name)
            if here is None:
                raise not_installed(pack.title)
            verdict = self._tried(here, name, pack.imports, wishes)
            return Outcome(here, verdict, self._store.activate(name, here))

    def remove(self, pack: str) -> bool:
        """Remove every version of a pack; False if one is in use and is deleted later."""
        with self._store.locked():
            self._store.forget_downloads(pack)
            gone = self._store.remove(pack)
            self._store.tidy()
            return gone

    def _put_in_place(self, pack: Pack, wishes: Wishes, source: Path | None) -> Installed:
        """Download and unpack a pack; return its list when all of it is on the disk."""
        folder = self._store.folder
        with store_errors(folder, pack.disk_bytes):
            _require_room(pack, self._store, source)
            wheels = self._wheels(pack.id, pack.wheels, wishes, source)
            staging = folder / f"{STAGING}{pack.folder}"
            shutil.rmtree(staging, ignore_errors=True)
            try:
                listed = _unpacked(pack, wheels, staging, wishes)
                sync_tree(staging)
                self._store.take(staging, pack.folder)
            except BaseException:
                shutil.rmtree(staging, ignore_errors=True)
                raise
        return listed

    def _wheels(
        self, pack: str, wanted: tuple[Source, ...], wishes: Wishes, source: Path | None
    ) -> list[Path]:
        """Return the verified wheels, downloaded or from a person's folder."""
        if source is not None:
            return [_taken(wheel, source, wanted) for wheel in wanted]
        total, before = sum(wheel.size for wheel in wanted), 0
        found: list[Path] = []
        for wheel in wanted:
            found.append(self._fetched(pack, wheel, wishes, before, total))
            before += wheel.size
        return found

    def _fetched(self, pack: str, wheel: Source, wishes: Wishes, before: int, total: int) -> Path:
        def tell(done: int) -> None:
            wishes.on_progress(Progress(Stage.DOWNLOAD, before + done, total))

        try:
            return fetch(
                wheel,
                self._store.downloads / pack,
                on_progress=tell,
                cancelled=wishes.cancelled,
                terms=self._terms,
            )
        except DownloadError as error:
            if error.code is DownloadCode.CANCELLED:
                raise Cancelled from error
            raise not_downloaded(error.problem) from error

    def _tried(
        self, pack: Installed, name: str, imports: tuple[str, ...], wishes: Wishes
    ) -> PackVerdict:
        """Return the verdict of a pack that works; a new one that does not is deleted again."""
        wishes.check()
        wishes.on_progress(Progress(Stage.TRY))
        verdict = self._trial(self._store.folder, name, pack, imports, wishes.cancelled)
        wishes.check()
        if not verdict.works:
            kept = self._store.active().get(pack.id)
            if kept != name:
                self._store.discard(name)
            raise failed_trial(pack.title, verdict, stays=kept not in (None, name))
        return verdict

    def _replace_files(
        self,
        name: str,
        listed: Installed,
        damaged: tuple[str, ...],
        wishes: Wishes,
        source: Path | None,
    ) -> None:
        """Put files of an installed pack in place again, each by one rename."""
        folder = self._store.folder
        numbers = {file.wheel for file in listed.files if file.path in damaged}
        wanted = tuple(listed.wheels[number] for number in sorted(numbers))
        with store_errors(folder, listed.disk_bytes):
            wheels = self._wheels(listed.id, wanted, wishes, source)
            staging = folder / f"{STAGING}{name}"
            shutil.rmtree(staging, ignore_errors=True)
            try:
                unpacker = Unpacker(staging / SITE, only=damaged, most_bytes=listed.disk_bytes)
                for wheel in wheels:
                    unpacker.unpack(wheel, wishes.check)
                sync_tree(staging)
                for path in damaged:
                    place = folder / name / SITE / path
                    place.parent.mkdir(parents=True, exist_ok=True)
                    put_in_place(staging / SITE / path, place)
                    sync_folder(place.parent)
            except WheelError as error:
                raise damaged_wheel(error) from error
            finally:
                shutil.rmtree(staging, ignore_errors=True)
        self._store.forget_downloads(listed.id)


def _require_fit(pack: Pack) -> None:
    """Refuse a pack that was read for another platform than this one."""
    here = Platform.here()
    if (pack.system, pack.machine) != (here.system, here.machine):
        raise unavailable(pack.title, sentence("It is made for another system."))
    if pack.python not in ("", here.python):
        reason = sentence(
            "It is made for Python {wanted}; this is Python {here}.",
            wanted=pack.python,
            here=here.python,
        )
        raise unavailable(pack.title, reason)


def _require_room(pack: Pack, store: PackStore, source: Path | None) -> None:
    """Refuse to begin what the disk cannot hold: the wheels, and their files beside them."""
    coming = 0 if source else pack.download_bytes - store.downloaded(pack.id)
    needed = max(0, coming) + pack.disk_bytes + _SLACK
    free = shutil.disk_usage(store.folder).free
    if needed > free:
        raise no_room(store.folder, needed - free)


def _taken(wheel: Source, source: Path, wanted: tuple[Source, ...]) -> Path:
    """Return a wheel in a person's folder, or beside the file that was named, when verified."""
    folder = source if source.is_dir() else source.parent
    if source.is_file() and source.name not in {wheel.file_name for wheel in wanted}:
        raise not_the_file(source, wanted)
    path = folder / wheel.file_name
    try:
        with path.open("rb") as file:
            right = os.fstat(file.fileno()).st_size == wheel.size
            right = right and file_digest(file, "sha256").hexdigest() == wheel.sha256
    except OSError as error:
        raise not_here(wheel, folder) from error
    if not right:
        raise not_the_file(path, wanted)
    return path


def _unpacked(pack: Pack, wheels: list[Path], staging: Path, wishes: Wishes) -> Installed:
    """Unpack the wheels and write the list of their files. Raises EngineError, OSError."""
    unpacker = Unpacker(
        staging / SITE,
        drop=pack.drop,
        most_bytes=pack.disk_bytes,
        on_bytes=lambda done: wishes.on_progress(Progress(Stage.UNPACK, done, pack.disk_bytes)),
    )
    try:
        for wheel in wheels:
            unpacker.unpack(wheel, wishes.check)
    except WheelError as error:
        raise damaged_wheel(error) from error
    listed = Installed(
        id=pack.id,
        version=pack.version,
        title=pack.title,
        system=pack.system,
        machine=pack.machine,
        python=pack.python,
        replaces_onnxruntime=pack.replaces_onnxruntime,
        backends=pack.backends,
        wheels=pack.wheels,
        files=unpacker.files,
    )
    replace_file(staging / LIST, msgspec.json.encode(listed))
    return listed
