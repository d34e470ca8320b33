"""Failures of packs in words."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from engine.api.values import ErrorCode
from engine.durable import FULL
from engine.errors import EngineError


def in_use_elsewhere() -> EngineError:
    """Return the error for a second installation at once."""
    return EngineError(
        ErrorCode.PREPARING,
        "Another Safelight is installing or removing a runtime pack now.",
        "Wait until it has finished, then try again.",
    )


def not_installed(pack: str) -> EngineError:
    """Return the error for a pack that is not there."""
    return EngineError(ErrorCode.REQUEST_INVALID, f"The runtime pack {pack} is not installed.")


def nothing_before(pack: str) -> EngineError:
    """Return the error for a pack without an earlier version."""
    return EngineError(
        ErrorCode.REQUEST_INVALID, f"There is no earlier version of the runtime pack {pack} here."
    )


def no_room(folder: Path, missing: int) -> EngineError:
    """Return the error for a disk with `missing` bytes too few."""
    return EngineError(
        ErrorCode.DISK_FULL,
        f"There is no room for it in {folder}: {-(-missing // 1_000_000):,} MB more are needed.",
        "Free some space, then try again.",
    )


@contextmanager
def store_errors(folder: Path) -> Generator[None]:
    """Turn an OSError of writing in the folder of packs into an EngineError."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno in FULL:
            raise EngineError(
                ErrorCode.DISK_FULL,
                f"There is no room left in {folder}.",
                "Free some space, then try again.",
                str(error),
            ) from error
        raise EngineError(
            ErrorCode.OUTPUT_NOT_WRITABLE,
            f"The folder of runtime packs cannot be written: {error.strerror or error}.",
            f"See that {folder} can be written, then try again.",
            str(error),
        ) from error


class WheelError(Exception):
    """A wheel that is damaged, or that holds what no wheel may hold."""

    def __init__(self, wheel: str, reason: str) -> None:
        super().__init__(f"{wheel}: {reason}")
        self.wheel, self.reason = wheel, reason
