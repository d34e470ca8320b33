"""The errors of working copies that a disk has no room for, or does not take."""

from pathlib import Path

from engine.api.remedies import FreeCache, Remedy
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.durable import FULL
from engine.errors import EngineError

_FREE_SPACE = sentence("Free some disk space.")


def no_disk(folder: Path, size: int, free: int, remedies: tuple[Remedy, ...] = ()) -> EngineError:
    """Return the error for copies of `size` bytes in a folder whose disk has `free` for them."""
    return EngineError(
        ErrorCode.DISK_FULL,
        sentence(
            "Working copies of the weights take {size:.1f} GB; there is room for {free:.1f} GB in "
            "{folder}.",
            size=size / 1e9,
            free=free / 1e9,
            folder=folder,
        ),
        _FREE_SPACE,
        remedies=(FreeCache(), *remedies),
    )


def not_written(
    folder: Path, size: int, error: OSError, remedies: tuple[Remedy, ...]
) -> EngineError:
    """Return the error for a copy of `size` bytes that cannot be written to a folder."""
    full = error.errno in FULL
    return EngineError(
        ErrorCode.DISK_FULL if full else ErrorCode.CACHE_NOT_WRITABLE,
        sentence(
            "The working copy of the weights ({size:.1f} GB) cannot be written to "
            "{folder}: {strerror}.",
            size=size / 1e9,
            folder=folder,
            strerror=error.strerror or str(error),
        ),
        _FREE_SPACE
        if full
        else sentence("Choose another folder for the cache, or let this one be written to."),
        remedies=(FreeCache(), *remedies) if full else remedies,
    )
