"""Compiled networks kept on disk: folders named by what they are made of, with a manifest.

An artifact is written beside, under a lock that other processes wait for, and renamed into place
whole, when its bytes are on the disk. One that is damaged (`engine.compile.manifest`) or stale is
made again without a word.
"""

import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from backends.base import Artifact, BackendError, Cancellation, Device, Precision, ShapeProfile
from engine.api.machine import ArtifactInfo
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
from engine.durable import sync_folder
from engine.errors import Cancelled, EngineError
from engine.file_lock import FileLock

CAP_BYTES = 24 << 30
_WAIT_S = 0.1
# Where not so much can be written is no room.
_PROBE_BYTES = 1 << 20

# Compiles into an empty folder; None where there is nothing worth keeping.
Compile = Callable[[Path], Artifact | None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """An artifact that is looked for or to be made: see `engine.compile.key.artifact_key`.

    Found is any of that key that serves for `sizes`; made is one for `profile`, unless the compiler
    says for which. Both are empty where one serves for every size, `checkpoint` where it serves for
    every one. `expected_bytes` is a guess at its size.
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
        """The beginning that the names of all artifacts of this key share."""
        return f"{self.network}-{self.key[:24]}-"

    def name_for(self, profile: ShapeProfile) -> str:
        """The name of the artifact for a profile."""
        return f"{self.stem}{profile_digest(profile)[:8]}"


class HeldArtifact:
    """An artifact that stays while it is held. `unkept` says why it goes afterwards, if it does.

    `made` tells whether it was compiled for this purpose.
    """

    def __init__(
        self, artifact: Artifact, lock: FileLock | None, *, made: bool, unkept: str = ""
    ) -> None:
        self.artifact, self.made, self.unkept = artifact, made, unkept
        self._lock = lock

    def release(self) -> None:
        """Let go of it; again is harmless."""
        if self._lock is not None:
            self._lock.release()
        if self.unkept:
            delete(self.artifact.folder)


class ArtifactStore:
    """The folder of artifacts, which need not exist. May be used from any thread.

    Without a `folder` nothing is kept longer than it is used.
    """

    def __init__(self, folder: Path | None, cap_bytes: int = CAP_BYTES) -> None:
        self.folder = folder
        self._cache = CacheFolder(folder or Path(), cap_bytes, marker=MANIFEST)

    def find(self, wanted: Wanted) -> HeldArtifact | None:
        """A whole artifact of the wanted key that serves for the wanted sizes."""
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
        """The name of the artifact that `find` finds, else of the one that would be made."""
        return next((name for name, _ in self._manifests(wanted)), wanted.name)

    def get(self, wanted: Wanted, compile_: Compile, cancel: Cancellation) -> HeldArtifact | None:
        """The artifact found, or made: by us, or by another process that is making it now.

        None where there is nothing worth keeping. Where it cannot be written to the folder it is
        made in a temporary one. Raises Cancelled, EngineError(CACHE_NOT_WRITABLE), and what
        `compile_` does.
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
        """Every artifact, by name."""
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
        """Delete the artifacts of these names, or all if there are none, but for those in use."""
        if self.folder is not None:
            self._cache.remove(names)

    def _manifests(self, wanted: Wanted) -> list[tuple[str, Manifest]]:
        """The artifacts that may serve, one for exactly these sizes first; removes damaged ones."""
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
        """The right to compile this, once no other process or thread has it. Raises OSError."""
        path = self._cache.path(f"{wanted.key[:24]}.lock")
        while True:
            if cancel.is_set():
                raise Cancelled
            try:
                lock = FileLock(path, create=True)
            except (BlockingIOError, FileNotFoundError):
                time.sleep(_WAIT_S)
                continue
            path.touch()  # in use, so that nobody sweeps it away
            return lock

    def _made(self, wanted: Wanted, compile_: Compile) -> HeldArtifact | None:
        """Compile, and give it its name once it is on the disk. Raises _NoRoomError."""
        part = unfinished(self._cache.path(wanted.name))
        for left in part.parent.glob(f"{wanted.stem}*{UNFINISHED}"):
            delete(left)  # of a process that died: the right to compile this is ours
        try:
            self._cache.make_room(wanted.expected_bytes)
            part.mkdir()
            artifact = _compiled(wanted, compile_, part)
            if artifact is None:
                delete(part)
                return None
            target = self._cache.path(wanted.name_for(artifact.profile))
            if target.exists():  # damaged, and somebody has it open or it has no manifest
                gone = target.rename(unfinished(target))
                delete(gone)
            part.rename(target)
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
        """Compile into a temporary folder that goes when it is released."""
        folder = None
        try:
            folder = Path(tempfile.mkdtemp(prefix="safelight-"))
            artifact = compile_(folder)
        except (OSError, BackendError) as error:
            is_room = isinstance(error, BackendError) and not (folder and _no_room(folder))
            _delete_if(folder)
            if is_room:
                raise
            raise EngineError(
                ErrorCode.CACHE_NOT_WRITABLE,
                f"The {wanted.network} compiled for {wanted.device.name} can be written neither to "
                f"{self.folder} nor to {tempfile.gettempdir()}.",
                "Free some disk space.",
                f"{reason} {error}",
            ) from error
        except BaseException:
            _delete_if(folder)
            raise
        if artifact is None:
            _delete_if(folder)
            return None
        return HeldArtifact(_with_profile(artifact, wanted), None, made=True, unkept=reason)


class _NoRoomError(Exception):
    """The folder cannot be written to; says why."""


def _compiled(wanted: Wanted, compile_: Compile, part: Path) -> Artifact | None:
    """Compile into `part`, and write the manifest and all of it to the disk itself."""
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
    """For the sizes the compiler says; those wanted where it says none, or it serves for all."""
    if wanted.sizes and artifact.profile.dimensions:
        return artifact
    return Artifact(artifact.folder, wanted.profile)


def _reason(error: OSError) -> str:
    return f"{error.strerror or error}."


def _no_room(folder: Path) -> str:
    """Why nothing can be written to a folder; empty where it can.

    Compilers say of a full disk whatever they like, and what is free says nothing of quotas.
    """
    probe = unfinished(folder / "room")
    try:
        probe.write_bytes(bytes(_PROBE_BYTES))
    except OSError as error:
        return _reason(error)
    finally:
        delete(probe)
    return ""


def _delete_if(folder: Path | None) -> None:
    if folder is not None:
        delete(folder)
