"""The manifest of an artifact: the inputs it was compiled from, and its files.

Files up to `READ_BYTES` are compared with their checksums each time. Reading larger files would
cost seconds: they are read only if their times have changed.
"""

import contextlib
import hashlib
import sys
from pathlib import Path

import msgspec

from backends.base import ShapeProfile
from engine.cache_folder import delete, unfinished
from engine.cached_state import recall
from engine.checkpoints.index import Stamp
from engine.durable import put_in_place, sync_file
from engine.file_lock import FileLock

READ_BYTES = 16 << 20
_MANIFEST_BYTES = 4 << 20
MANIFEST = "manifest.json"


class KeptFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of an artifact as it was when the artifact was made."""

    path: str
    bytes: int
    mtime_ns: int
    sha256: str
    # `Stamp.changed`, which programs cannot set at will, unlike the modification time.
    changed: int = 0


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The key, the sizes and the files of an artifact; `seconds` is the duration of its compile."""

    key: str
    network: str
    checkpoint: str
    backend: str
    device: str
    precision: str
    runtime: str
    profile: ShapeProfile
    seconds: float
    files: tuple[KeptFile, ...]


_DECODER = msgspec.json.Decoder(Manifest)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest into the folder, and sync it to the disk. Raises OSError."""
    part = unfinished(folder / MANIFEST)
    try:
        with part.open("xb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest)))
            file.flush()
            sync_file(file.fileno())
        put_in_place(part, folder / MANIFEST)
    finally:
        delete(part)  # exists only after a failure


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a folder; None if there is none or it is damaged."""
    return recall(folder / MANIFEST, _DECODER, _MANIFEST_BYTES)


def is_whole(folder: Path, manifest: Manifest) -> bool:
    """Return True if every file is as it was written."""
    moved = False
    try:
        for kept in manifest.files:
            facts = (folder / kept.path).stat()
            changed = Stamp.of(facts).changed
            is_same_time = (facts.st_mtime_ns, changed) == (kept.mtime_ns, kept.changed)
            if facts.st_size != kept.bytes:
                return False
            looked_at = facts.st_size <= READ_BYTES or not is_same_time
            if looked_at and _sha256(folder / kept.path) != kept.sha256:
                return False
            moved = moved or not is_same_time
        if moved:  # for instance by a copy of the cache; the next start need not read it all again
            files = tuple(_kept(folder, folder / kept.path, kept) for kept in manifest.files)
            _replace_manifest(folder, msgspec.structs.replace(manifest, files=files))
    except OSError:
        return False
    return True


def _replace_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest, unless the artifact is held by a lock on the present manifest."""
    with contextlib.suppress(OSError):
        lock = FileLock(folder / MANIFEST)
        if sys.platform == "win32":
            lock.release()  # or our own handle would keep the manifest; those of others do
        try:
            write_manifest(folder, manifest)
        finally:
            lock.release()


def _kept(folder: Path, file: Path, before: KeptFile | None = None) -> KeptFile:
    facts = file.stat()
    return KeptFile(
        path=file.relative_to(folder).as_posix(),
        bytes=facts.st_size,
        mtime_ns=facts.st_mtime_ns,
        changed=Stamp.of(facts).changed,
        sha256=before.sha256 if before else _sha256(file),
    )


def keep_files(folder: Path) -> tuple[KeptFile, ...]:
    """Sync every file of a folder to the disk, and return their descriptions. Raises OSError."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        with path.open("r+b") as file:  # Windows syncs only files that are open for writing
            sync_file(file.fileno())
    return tuple(_kept(folder, path) for path in files)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
