"""Room on the disk for what is still to come."""

import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from app.downloads.errors import DownloadCode, DownloadError, DownloadProblem
from app.downloads.part import arrived
from app.downloads.source import Source
from engine.durable import FULL
from engine.file_paths import is_folder


def require_room(name: str, files: Collection[Source], folder: Path) -> None:
    """Raise DownloadError if the rest of these files does not fit on the folder's disk.

    `name` is for the message. A folder that is missing will lie where its nearest parent does.
    """
    there = next(filter(is_folder, (folder, *folder.parents)), folder)
    with suppress(OSError):
        missing = _to_come(files, folder) - shutil.disk_usage(there).free
        if missing > 0:
            raise DownloadError(_no_room(name, folder, missing))


def disk_problem(source: Source, folder: Path, error: OSError) -> DownloadProblem:
    """Return the problem of a disk that does not take a file."""
    if error.errno not in FULL:
        return DownloadProblem(
            code=DownloadCode.NOT_WRITABLE,
            file=source.file_name,
            folder=str(folder),
            detail=error.strerror or str(error),
        )
    to_come, free = _to_come([source], folder), 0
    with suppress(OSError):
        free = shutil.disk_usage(folder).free
    # Where a quota is used up, the disk itself may have room.
    return _no_room(source.file_name, folder, to_come - free if free < to_come else to_come)


def _to_come(files: Collection[Source], folder: Path) -> int:
    return sum(file.size - arrived(file, folder) for file in files)


def _no_room(name: str, folder: Path, missing: int) -> DownloadProblem:
    return DownloadProblem(
        code=DownloadCode.DISK_FULL, file=name, folder=str(folder), bytes_needed=missing
    )
