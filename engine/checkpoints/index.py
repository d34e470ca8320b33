"""The result of every checkpoint reader: names, shapes and places of tensors, without numbers."""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from backends.base import FileSlice
from engine.api.values import PredictionType

WINDOWS = 128
WINDOW_BYTES = 4096


class Stamp(msgspec.Struct, frozen=True, array_like=True):
    """A file's size and times; while all fields are the same, the file is unchanged.

    Times are in ns since 1970. `changed` is a value that programs cannot set, unlike the time of
    modification: the time of the last change of the file's inode, or on Windows, which keeps none,
    that of the file's creation. A folder's list tells it there, but no inode (`os.DirEntry.stat`).
    """

    size: int
    modified_ns: int
    changed: int

    @classmethod
    def of(cls, facts: os.stat_result) -> "Stamp":
        """Return the stamp in the results of `stat`."""
        changed = facts.st_ctime_ns
        if sys.platform == "win32":
            # Before Python 3.12 it has the other's name.
            changed = getattr(facts, "st_birthtime_ns", changed)
        return cls(facts.st_size, facts.st_mtime_ns, changed)

    @property
    def latest_ns(self) -> int:
        """The time of the last write, as far as the system records it."""
        return self.modified_ns if sys.platform == "win32" else max(self.modified_ns, self.changed)


class FileState(msgspec.Struct, frozen=True):
    """The state of a file at one moment: changing the file's content changes the stamp."""

    path: Path
    stamp: Stamp
    # SHA-256 of the header alone.
    header: str

    @classmethod
    def of(cls, path: Path, facts: os.stat_result, header: bytes) -> "FileState":
        """Return the state of the file at `path` with these `stat` results and this header."""
        return cls(path, Stamp.of(facts), hashlib.sha256(header).hexdigest())

    @property
    def size(self) -> int:
        """The file's length in bytes."""
        return self.stamp.size

    def is_of(self, facts: os.stat_result) -> bool:
        """True if `facts` shows the file still in this state; the header is not compared."""
        return Stamp.of(facts) == self.stamp


class TensorIndex(msgspec.Struct, frozen=True):
    """The tensors of a file, or of a file in shards, under their names in the file.

    `digest` distinguishes files by content without reading them whole; see `sampled_digest`.
    `state` is the file's state when it was read; None for shards. `probed` is the prediction type
    found by running its denoiser, None if it was never run for that.
    """

    path: Path
    tensors: Mapping[str, FileSlice]
    metadata: Mapping[str, str]
    digest: str
    state: FileState | None = None
    probed: PredictionType | None = None


def sampled_digest(file: BinaryIO, header: bytes, size: int) -> str:
    """Return SHA-256 over size, header and 128 windows of 4 KiB, spread evenly over the file.

    Two fine-tunes share a header, so the header alone would not do, and reading gigabytes would
    take seconds. A difference is missed only if it lies entirely between two neighbouring windows,
    under 0.8 % of the file: training changes every weight, and the smallest part that is replaced
    on its own (the VAE of an SDXL file in fp16) is 2.4 %. Small files are hashed whole.
    """
    digest = hashlib.sha256(size.to_bytes(8, "little"))
    digest.update(header)
    last = size - WINDOW_BYTES
    if size <= WINDOWS * WINDOW_BYTES:
        file.seek(0)
        digest.update(file.read(size))
        return digest.hexdigest()
    for window in range(WINDOWS):
        file.seek(last * window // (WINDOWS - 1))
        digest.update(file.read(WINDOW_BYTES))
    return digest.hexdigest()


def combined_digest(*digests: str) -> str:
    """Return one digest of several files, in this order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()
