"""The manifest of an artifact: the inputs it was compiled from, and its files.

Files up to `READ_BYTES` are read and compared with their checksums each time. Larger files would
cost seconds: sizes and times decide, and a file is read where one of these differs.
"""

import contextlib
import hashlib
from pathlib import Path

import msgspec

from backends.base import ShapeProfile
from engine.cache_folder import delete, unfinished
from engine.cached_state import recall
from engine.checkpoints.index import FileState
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
    # `FileState.changed`, which no program sets at will.
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
    """Put it into the folder, and on the disk itself. Raises OSError."""
    part = unfinished(folder / MANIFEST)
    try:
        with part.open("xb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(manifest)))
            file.flush()
            sync_file(file.fileno())
        put_in_place(part, folder / MANIFEST)
    finally:
        delete(part)  # where it could not be put in its place


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder, None where there is none or it is damaged."""
    return recall(folder / MANIFEST, _DECODER, _MANIFEST_BYTES)


def is_whole(folder: Path, manifest: Manifest) -> bool:
    """Return True if every file is as it was written."""
    moved = False
    try:
        for kept in manifest.files:
            facts = (folder / kept.path).stat()
            changed = FileState.of(folder / kept.path, facts, b"").changed
            is_same_time = (facts.st_mtime_ns, changed) == (kept.mtime_ns, kept.changed)
            if facts.st_size != kept.bytes:
                return False
            looked_at = facts.st_size <= READ_BYTES or not is_same_time
            if looked_at and _sha256(folder / kept.path) != kept.sha256:
                return False
            moved = moved or not is_same_time
        if moved:  # as by a copy of the cache: let the next start not read it all again
            files = tuple(_kept(folder, folder / kept.path, kept) for kept in manifest.files)
            _replace_manifest(folder, msgspec.structs.replace(manifest, files=files))
    except OSError:
        return False
    return True


def _replace_manifest(folder: Path, manifest: Manifest) -> None:
    """Unless somebody holds the artifact, whose lock is on the file that is there."""
    with contextlib.suppress(OSError):
        lock = FileLock(folder / MANIFEST)
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
        changed=FileState.of(file, facts, b"").changed,
        sha256=before.sha256 if before else _sha256(file),
    )


def keep_files(folder: Path) -> tuple[KeptFile, ...]:
    """Bring every file of a folder onto the disk itself, and describe it. Raises OSError."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        with path.open("r+b") as file:  # Windows syncs only what may be written
            sync_file(file.fileno())
    return tuple(_kept(folder, path) for path in files)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
