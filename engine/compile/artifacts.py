"""Compiled networks kept on disk: folders with a manifest, named by a digest of their sources.

An artifact is written under a temporary name, with a lock that other processes wait for, and
renamed once its bytes are on the disk. A damaged (`engine.compile.manifest`) or stale artifact is
silently made again.
"""

import tempfile
import time
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from backends.base import Artifact, BackendError, Cancellation, Device, Precision, ShapeProfile
from engine.api.machine import ArtifactInfo
from engine.api.sentences import sentence
from engine.api.values import ArtifactKind, ErrorCode
from engine.cache_folder import UNFINISHED, CacheFolder, delete, unfinished
from engine.compile.key import profile_digest
from engine.compile.manifest import (
    MANIFEST,
    Manifest,
    is_whole,
    keep_files,
    read_manifest,
    write_manifest,
)
from engine.compile.shapes import Sizes, covers
from engine.durable import rename_folder, sync_folder
from engine.errors import Cancelled, EngineError
from engine.file_lock import FileLock
from engine.scratch_folder import ScratchFolder

CAP_BYTES = 24 << 30
_WAIT_S = 0.1
# A folder is full if not even this much can be written to it.
_PROBE_BYTES = 1 << 20

# Compiles into an empty folder; returns None if the result is not worth keeping.
Compile = Callable[[Path], Artifact | None]


class Wanted(msgspec.Struct, frozen=True):
    """A description of the artifact to find or make; `key` is from `engine.compile.key`.

    An artifact of that key fits if it serves for `sizes`; a new one is made for `profile`, unless
    the compiler states another. Both are empty where an artifact serves for every size;
    `checkpoint` is empty where it serves for every checkpoint. `expected_bytes` is a guess at its
    size.
    """

    key: str
    sizes: Sizes
    profile: ShapeProfile
    network: str
    checkpoint: str
    device: Device
    precision: Precision
    runtime: str
    expected_bytes: int

    @property
    def name(self) -> str:
        """The name of the artifact for the wanted profile."""
        return self.name_for(self.profile)

    @property
    def stem(self) -> str:
        """The common beginning of the names of all artifacts of this key."""
        return f"{self.network}-{self.key[:24]}-"

    def name_for(self, profile: ShapeProfile) -> str:
        """Return the name of the artifact for a profile."""
        return f"{self.stem}{profile_digest(profile)[:8]}"


class HeldArtifact:
    """An artifact that is protected from removal while it is held.

    `made` is True if it was compiled just now, False if it was found. `unkept` is the reason why it
    lies in a temporary folder; empty if it is kept.
    """

    def __init__(
        self,
        artifact: Artifact,
        lock: FileLock | ScratchFolder | None,
        *,
        made: bool,
        unkept: str = "",
    ) -> None:
        self.artifact, self.made, self.unkept = artifact, made, unkept
        self._lock = lock

    def release(self) -> None:
        """Release the artifact; calling it again is harmless."""
        if self._lock is not None:
            self._lock.release()


class ArtifactStore:
    """The folder of artifacts, which need not exist. May be used from any thread.

    Without a `folder` artifacts are deleted when they are released.
    """

    def __init__(self, folder: Path | None, cap_bytes: int = CAP_BYTES) -> None:
        self.folder = folder
        self._cache = CacheFolder(folder or Path(), cap_bytes, marker=MANIFEST)

    def find(self, wanted: Wanted) -> HeldArtifact | None:
        """Return an undamaged artifact of the wanted key and sizes; None if there is none."""
        for name, manifest in self._manifests(wanted):
            path = self._cache.path(name)
            if not is_whole(path, manifest):
                self._cache.remove([name])
                continue
            lock = self._cache.hold(name)
            if lock is not None:
                return HeldArtifact(Artifact(path, manifest.profile), lock, made=False)
        return None

    def name_of(self, wanted: Wanted) -> str:
        """Return the name of the artifact that `find` returns, else of the one to be made."""
        return next((name for name, _ in self._manifests(wanted)), wanted.name)

    def get(self, wanted: Wanted, compile_: Compile, cancel: Cancellation) -> HeldArtifact | None:
        """Find the artifact or make it; if another process is making it, wait for that.

        Returns None if the result is not worth keeping. If the folder cannot be written, the
        artifact is made in a temporary one. Raises Cancelled, EngineError(CACHE_NOT_WRITABLE), and
        the errors of `compile_`.
        """
        held = self.find(wanted)
        if held is not None:
            return held
        if self.folder is None:
            return self._made_unkept(wanted, compile_, "There is no folder for it.")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = self._only_one(wanted, cancel)
        except OSError as error:
            return self._made_unkept(wanted, compile_, _reason(error))
        try:
            return self.find(wanted) or self._made(wanted, compile_)
        except _NoRoomError as error:
            return self._made_unkept(wanted, compile_, str(error))
        finally:
            lock.release()

    def discard(self, held: HeldArtifact) -> None:
        """Remove an artifact that the runtime refuses."""
        held.release()
        if not held.unkept:
            self._cache.remove([held.artifact.folder.name])

    def listed(self) -> tuple[ArtifactInfo, ...]:
        """Return the description of every artifact, by name."""
        if self.folder is None:
            return ()
        return tuple(
            ArtifactInfo(
                name=entry.name,
                kind=ArtifactKind.COMPILED_NETWORK,
                bytes=entry.bytes,
                last_used=entry.last_used,
                network=manifest.network if manifest else "",
                checkpoint=manifest.checkpoint if manifest else "",
                device=manifest.device if manifest else "",
            )
            for entry in self._cache.entries()
            for manifest in [read_manifest(entry.path)]
        )

    def remove(self, names: Collection[str] = ()) -> None:
        """Delete the artifacts with these names (none given: all), except those in use."""
        if self.folder is not None:
            self._cache.remove(names)

    def _manifests(self, wanted: Wanted) -> list[tuple[str, Manifest]]:
        """Return the names and manifests of artifacts that fit, one for the wanted profile first.

        Artifacts with a damaged manifest are removed.
        """
        found: list[tuple[str, Manifest]] = []
        paths = sorted(self.folder.glob(f"{wanted.stem}*")) if self.folder else []
        for path in paths:
            if path.suffix == UNFINISHED or not (path / MANIFEST).exists():
                continue
            manifest = read_manifest(path)
            if manifest is None:
                self._cache.remove([path.name])
            elif manifest.key == wanted.key and covers(manifest.profile, wanted.sizes):
                found.append((path.name, manifest))
        return sorted(found, key=lambda entry: entry[0] != wanted.name)

    def _only_one(self, wanted: Wanted, cancel: Cancellation) -> FileLock:
        """Wait for the lock that allows to compile this artifact. Raises OSError, Cancelled."""
        path = self._cache.path(f"{wanted.key[:24]}.lock")
        while True:
            if cancel.is_set():
                raise Cancelled
            try:
                lock = FileLock(path, create=True)
            except (BlockingIOError, FileNotFoundError):
                time.sleep(_WAIT_S)
                continue
            path.touch()  # a recently used lock file is not deleted
            return lock

    def _made(self, wanted: Wanted, compile_: Compile) -> HeldArtifact | None:
        """Compile to a temporary name, and rename once all is on disk. Raises _NoRoomError."""
        part = unfinished(self._cache.path(wanted.name))
        for left in part.parent.glob(f"{wanted.stem}*{UNFINISHED}"):
            delete(left)  # left by a process that died, as this one holds the lock
        try:
            self._cache.make_room(wanted.expected_bytes)
            part.mkdir()
            artifact = _compiled(wanted, compile_, part)
            if artifact is None:
                delete(part)
                return None
            target = self._cache.path(wanted.name_for(artifact.profile))
            if target.exists():  # damaged: it is open elsewhere, or has no manifest
                gone = target.rename(unfinished(target))
                delete(gone)
            rename_folder(part, target)
            sync_folder(target.parent)
        except OSError as error:
            delete(part)
            raise _NoRoomError(_reason(error)) from error
        except BackendError as error:
            reason = _no_room(part)
            delete(part)
            if reason:
                raise _NoRoomError(reason) from error
            raise
        except BaseException:
            delete(part)
            raise
        lock = self._cache.hold(target.name)
        return HeldArtifact(Artifact(target, artifact.profile), lock, made=True)

    def _made_unkept(self, wanted: Wanted, compile_: Compile, reason: str) -> HeldArtifact | None:
        """Compile into a temporary folder that is deleted on release."""
        scratch = None
        try:
            scratch = ScratchFolder()
            artifact = compile_(scratch.path)
        except (OSError, BackendError) as error:
            is_room = isinstance(error, BackendError) and not (scratch and _no_room(scratch.path))
            _release_if(scratch)
            if is_room:
                raise
            raise EngineError(
                ErrorCode.CACHE_NOT_WRITABLE,
                sentence(
                    "The {network} compiled for {device} can be written neither to {folder} "
                    "nor to {gettempdir}.",
                    network=wanted.network,
                    device=wanted.device.name,
                    folder=self.folder,
                    gettempdir=tempfile.gettempdir(),
                ),
                sentence("Free some disk space."),
                f"{reason} {error}",
            ) from error
        except BaseException:
            _release_if(scratch)
            raise
        if artifact is None:
            scratch.release()
            return None
        return HeldArtifact(_with_profile(artifact, wanted), scratch, made=True, unkept=reason)


class _NoRoomError(Exception):
    """The folder cannot be written to; the message is the reason."""


def _compiled(wanted: Wanted, compile_: Compile, part: Path) -> Artifact | None:
    """Compile into `part`, write the manifest, and sync all files to the disk."""
    started = time.perf_counter()
    artifact = compile_(part)
    if artifact is None:
        return None
    artifact = _with_profile(artifact, wanted)
    manifest = Manifest(
        key=wanted.key,
        network=wanted.network,
        checkpoint=wanted.checkpoint,
        backend=wanted.device.backend,
        device=wanted.device.name,
        precision=wanted.precision.value,
        runtime=wanted.runtime,
        profile=artifact.profile,
        seconds=round(time.perf_counter() - started, 3),
        files=keep_files(part),
    )
    write_manifest(part, manifest)
    return artifact


def _with_profile(artifact: Artifact, wanted: Wanted) -> Artifact:
    """Return the artifact with the compiler's profile if it states one, else with the wanted one.

    An artifact that serves for every size gets the wanted, empty profile.
    """
    if wanted.sizes and artifact.profile.dimensions:
        return artifact
    return Artifact(artifact.folder, wanted.profile)


def _reason(error: OSError) -> str:
    return f"{error.strerror or error}."


def _no_room(folder: Path) -> str:
    """Return the reason why nothing can be written to a folder; empty if it can be written.

    Compilers have no common error for a full disk, and free space does not reflect quotas.
    """
    probe = unfinished(folder / "room")
    try:
        probe.write_bytes(bytes(_PROBE_BYTES))
    except OSError as error:
        return _reason(error)
    finally:
        delete(probe)
    return ""


def _release_if(scratch: ScratchFolder | None) -> None:
    if scratch is not None:
        scratch.release()
