"""Outcomes of work on the index: its result, or why there is none."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from typing import TypeVar

import msgspec

from app.gallery.database import IndexBusyError, IndexDamagedError
from app.storage.full_disk import make_room
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.durable import FULL

Result = TypeVar("Result")
_LEAST_ROOM = 1 << 20


class Fault(Enum):
    """A reason why the index did not answer."""

    BUSY = auto()  # another program holds it; trying again later helps
    DAMAGED = auto()  # it must be made again
    DISK = auto()  # the disk is full, or cannot be written


class Broken(msgspec.Struct, frozen=True):
    """Work that failed, and the technical reason."""

    fault: Fault
    reason: str
    full: bool = False  # the disk

    def error(self, folder: Path) -> ErrorInfo:
        """Return the failure of the index in a folder in words."""
        hint = sentence("See that it can be, or choose another folder with SAFELIGHT_CACHE.")
        return ErrorInfo(
            ErrorCode.DISK_FULL if self.full else ErrorCode.OUTPUT_NOT_WRITABLE,
            sentence(
                "The gallery's index in {folder} cannot be written; some pictures may not be"
                " found.",
                folder=folder,
            ),
            make_room(folder, _room_for_index(folder)) if self.full else hint,
            self.reason,
        )


def attempt(work: Callable[[], Result]) -> Result | Broken:
    """Return the result of work on the index, or what came between."""
    try:
        return work()
    except IndexBusyError as error:
        return Broken(Fault.BUSY, str(error))
    except IndexDamagedError as error:
        return Broken(Fault.DAMAGED, str(error))
    except (sqlite3.Error, OSError) as error:
        return Broken(Fault.DISK, str(error), full=_is_full(error))


def _is_full(error: sqlite3.Error | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in FULL
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL


def _room_for_index(folder: Path) -> int:
    """Return the bytes with which an index can grow: to twice its size, and some pages more."""
    with suppress(OSError):
        return _LEAST_ROOM + sum(path.stat().st_size for path in folder.glob("index.sqlite*"))
    return _LEAST_ROOM
