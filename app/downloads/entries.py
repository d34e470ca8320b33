"""Entries of the list of downloads."""

from enum import StrEnum
from pathlib import Path

import msgspec

from app.downloads.errors import DownloadProblem
from app.downloads.source import Source


class Purpose(StrEnum):
    """The use of what is downloaded."""

    PACK = "pack"
    MODEL = "model"


class DownloadState(StrEnum):
    """The stage that a download is in. A person paused it, or it waits for those before it."""

    WAITING = "waiting"
    RUNNING = "running"
    # Bytes of an earlier time are being read from the disk.
    VERIFYING = "verifying"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


ACTIVE = frozenset({DownloadState.RUNNING, DownloadState.VERIFYING})


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """A download of one file or several into a folder, under one title.

    `bytes_done` are here, verified once the state is DONE; `bytes_per_second` is 0 while none come.
    `problem` says why the state is FAILED.
    """

    id: str
    title: str
    purpose: Purpose
    files: tuple[Source, ...]
    folder: Path
    state: DownloadState = DownloadState.WAITING
    bytes_done: int = 0
    bytes_per_second: float = 0.0
    problem: DownloadProblem | None = None

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that this download connects to."""
        return tuple(dict.fromkeys(host for file in self.files for host in file.hosts))

    @property
    def seconds_left(self) -> float | None:
        """The time until all bytes are here at the present speed; None if there is no speed."""
        if self.bytes_per_second <= 0:
            return None
        return max(self.size - self.bytes_done, 0) / self.bytes_per_second
