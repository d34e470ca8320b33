"""Outcomes of work on the index: its result, or why there is none."""

import sqlite3
from collections.abc import Callable
from enum import Enum, auto
from typing import TypeVar

import msgspec

from app.gallery.database import IndexBusyError, IndexDamagedError
from engine.api.sentences import sentence
from engine.api.values import ErrorCode, ErrorInfo

Result = TypeVar("Result")


class Fault(Enum):
    """A reason why the index did not answer."""

    BUSY = auto()  # another program holds it; trying again later helps
    DAMAGED = auto()  # it must be made again
    DISK = auto()  # the disk is full, or cannot be written


class Broken(msgspec.Struct, frozen=True):
    """Work that failed, and the technical reason."""

    fault: Fault
    reason: str

    @property
    def error(self) -> ErrorInfo:
        """The failure in words."""
        return ErrorInfo(
            ErrorCode.OUTPUT_NOT_WRITABLE,
            sentence("The gallery's index cannot be written; some pictures may not be found."),
            sentence("See that the disk has room, or choose another folder with SAFELIGHT_CACHE."),
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
        return Broken(Fault.DISK, str(error))
