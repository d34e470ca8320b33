"""The installed packs on disk: which there are, which one of each kind is active, and which was.

The folder of packs holds a folder for each installed pack, `active.json`, and files that are still
on their way: `.downloads` and `.staging-*`. A pack's folder appears by one rename when everything
in it is on the disk, and becomes active by one rename of `active.json`.
"""

import os
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path

import msgspec

from app.downloads.source import Source
from app.packs.errors import in_use_elsewhere, not_installed, nothing_before, store_errors
from app.packs.wheels import InstalledFile
from engine.durable import rename_folder, replace_file, sync_folder
from engine.file_lock import FileLock
from engine.packs import FORMAT, LIST, SITE, STATE
from engine.regular_file import read_when_free

STAGING = ".staging-"
LEFT = ".removed-"
_DOWNLOADS = ".downloads"
_LOCK = ".lock"
# A new `active.json` before its rename.
_PART = ".part"
_MOST_STATE_BYTES = 1 << 20


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """An installed pack, as `installed.json` in its folder lists it.

    `wheels` are those that its files are from, so that they can be fetched again.
    """

    id: str
    version: str
    title: str
    system: str
    machine: str
    python: str
    replaces_onnxruntime: bool
    backends: tuple[str, ...]
    wheels: tuple[Source, ...]
    files: tuple[InstalledFile, ...]
    format: int = FORMAT

    @property
    def disk_bytes(self) -> int:
        """The bytes of its files."""
        return sum(file.size for file in self.files)


class _State(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `active.json`: folders' names by the packs' ids.

    `inactive` are packs that gave way to another build of ONNX Runtime.
    """

    active: dict[str, str] = {}
    inactive: dict[str, str] = {}
    previous: dict[str, str] = {}
    format: int = FORMAT


_LISTS = msgspec.json.Decoder(Installed)
_STATES = msgspec.json.Decoder(_State)


class PackStore:
    """The packs installed in a folder, which need not exist."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def downloads(self) -> Path:
        """The folder for wheels on their way, which a later installation takes up."""
        return self.folder / _DOWNLOADS

    def installed(self) -> tuple[tuple[str, Installed], ...]:
        """Return the name of each pack's folder and its list; damaged ones are left out."""
        try:
            folders = sorted(self.folder.iterdir())
        except OSError:
            return ()
        named = ((path.name, self.listed(path.name)) for path in folders if path.is_dir())
        return tuple((name, listed) for name, listed in named if listed is not None)

    def listed(self, name: str) -> Installed | None:
        """Return the list of a folder; None if it is no installed pack."""
        if name.startswith("."):
            return None
        try:
            return _LISTS.decode((self.folder / name / LIST).read_bytes())
        except (OSError, msgspec.DecodeError):
            return None

    def active(self) -> Mapping[str, str]:
        """Return the folder of each active pack by its id, whether it is there or not."""
        return self._state().active

    def previous(self, pack: str) -> str | None:
        """Return the folder to go back to, if it is there."""
        name = self._state().previous.get(pack)
        return name if name and self.listed(name) else None

    def resting(self, pack: str) -> Installed | None:
        """Return a pack that gave way to another build of ONNX Runtime; None if it did not."""
        name = self._state().inactive.get(pack)
        return self.listed(name) if name else None

    def activate(self, name: str, tried: Installed) -> tuple[str, ...]:
        """Make a folder its pack's active one; return the ids of the packs that gave way.

        Another pack that replaces ONNX Runtime gives way if this one does. Raises EngineError.
        """
        state = self._state()
        gone = tuple(
            other
            for other, folder in state.active.items()
            if other != tried.id and tried.replaces_onnxruntime and self._replaces(folder)
        )
        active = {name: folder for name, folder in state.active.items() if name not in gone}
        previous = dict(state.previous)
        before = active.get(tried.id)
        if before and before != name:
            previous[tried.id] = before
        resting = _without(tried.id, state.inactive)
        resting |= {name: state.active[name] for name in gone}
        self._keep(_State(active=active | {tried.id: name}, inactive=resting, previous=previous))
        return gone

    def before(self, pack: str) -> str:
        """Return the folder to go back to. Raises EngineError if there is none."""
        name = self.previous(pack)
        if name is None:
            raise nothing_before(pack)
        return name

    def remove(self, pack: str) -> bool:
        """Remove every folder of a pack; return False if one is in use and goes later.

        Nothing uses the pack from the next start of an engine on. Raises EngineError.
        """
        state = self._state()
        names = [name for name, listed in self.installed() if listed.id == pack]
        if not names and pack not in state.active:
            raise not_installed(pack)
        self._keep(
            _State(
                active=_without(pack, state.active),
                inactive=_without(pack, state.inactive),
                previous=_without(pack, state.previous),
            )
        )
        left = [name for name in names if not self._delete(name)]
        return not left

    def take(self, staging: Path, name: str) -> None:
        """Give a finished folder its name, in the place of a damaged one. Raises OSError."""
        if (self.folder / name).exists():
            self.discard(name)
        rename_folder(staging, self.folder / name)
        sync_folder(self.folder)

    def discard(self, name: str) -> None:
        """Delete the folder of a pack that is not active, unless a process uses it."""
        self._delete(name)

    def downloaded(self, pack: str) -> int:
        """Return the bytes that have arrived of a pack's wheels."""
        folder = self.downloads / pack
        files = (file for form in ("*.whl", "*.whl.part") for file in folder.glob(form))
        return sum(file.stat().st_size for file in files)

    def forget_downloads(self, pack: str) -> None:
        """Delete the wheels of a pack that have arrived."""
        shutil.rmtree(self.downloads / pack, ignore_errors=True)

    def tidy(self, keep: str = "") -> None:
        """Delete what interrupted installations and removals left, and packs of no use any more.

        What a process still uses stays until a later call. Call it under `locked` alone.
        """
        state = self._state()
        named = (state.active, state.inactive, state.previous)
        kept = {name for names in named for name in names.values()} | {_DOWNLOADS, keep}
        with suppress(OSError):
            for path in self.folder.iterdir():
                if path.suffix == _PART:
                    path.unlink()
                elif path.name not in kept and path.is_dir():
                    self._delete(path.name)

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keep every other process from changing packs during the block.

        Raises EngineError if one is at it, or if the folder cannot be written.
        """
        with store_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                lock = FileLock(self.folder / _LOCK, create=True)
            except BlockingIOError as error:
                raise in_use_elsewhere() from error
        try:
            yield
        finally:
            lock.release()

    def damaged_files(self, name: str, listed: Installed) -> tuple[str, ...]:
        """Return the files of an installed pack that are missing or differ from its list."""
        site = self.folder / name / SITE
        return tuple(file.path for file in listed.files if _differs(site, file))

    def _replaces(self, name: str) -> bool:
        listed = self.listed(name)
        return listed is not None and listed.replaces_onnxruntime

    def _delete(self, name: str) -> bool:
        """Delete a folder unless a process uses it."""
        path = self.folder / name
        try:
            FileLock(path / LIST).release()
        except BlockingIOError:
            return False
        except OSError:
            pass  # no finished pack, which nobody can use
        # Under another name at once, so that nothing half-deleted is taken for a pack.
        doomed = path if name.startswith(".") else self.folder / f"{LEFT}{name}"
        with suppress(OSError):
            path.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)
        return not path.exists()

    def _state(self) -> _State:
        try:
            return _STATES.decode(read_when_free(self.folder / STATE, _MOST_STATE_BYTES))
        except (OSError, msgspec.DecodeError):
            return _State()

    def _keep(self, state: _State) -> None:
        with store_errors(self.folder):
            content = msgspec.json.format(msgspec.json.encode(state), indent=2)
            replace_file(self.folder / STATE, content, durable=True)


def _without(pack: str, folders: Mapping[str, str]) -> dict[str, str]:
    return {other: name for other, name in folders.items() if other != pack}


def _differs(site: Path, file: InstalledFile) -> bool:
    try:
        with (site / file.path).open("rb") as opened:
            if os.fstat(opened.fileno()).st_size != file.size:
                return True
            return file_digest(opened, "sha256").hexdigest() != file.sha256
    except OSError:
        return True
