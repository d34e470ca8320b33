"""The errors that all readers of files raise."""

from pathlib import Path

from engine.api.values import ErrorCode
from engine.errors import EngineError

DOWNLOAD_AGAIN = "Download it again."


def not_found(path: Path) -> EngineError:
    """Return the error for a path where there is nothing."""
    return EngineError(
        ErrorCode.CHECKPOINT_NOT_FOUND,
        f"{path.name} is not in {path.absolute().parent}.",
        "It may have been moved or renamed; choose it again.",
    )


def unreadable(path: Path, error: OSError) -> EngineError:
    """Return the error for a file that the system does not let us read."""
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        f"{path.name} cannot be read: {error.strerror or error}.",
        "Check that the disk is connected and that you may read the file.",
    )


def corrupt(path: Path, what: str, detail: str = "") -> EngineError:
    """Return the error for a file whose claims contradict each other or the file."""
    return EngineError(
        ErrorCode.CHECKPOINT_CORRUPT, f"{path.name} is damaged: {what}.", DOWNLOAD_AGAIN, detail
    )


def quoted(text: str) -> str:
    """Return a name from a file, safe to print and of bounded length."""
    return ascii(text if len(text) <= 80 else text[:77] + "...")
