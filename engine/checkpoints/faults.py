"""The errors that all readers of files raise."""

from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError

DOWNLOAD_AGAIN = sentence("Download it again.")


def not_found(path: Path) -> EngineError:
    """Return the error for a path where there is nothing."""
    return EngineError(
        ErrorCode.CHECKPOINT_NOT_FOUND,
        sentence("{path} is not in {parent}.", path=path.name, parent=path.absolute().parent),
        sentence("It may have been moved or renamed; choose it again."),
    )


def unreadable(path: Path, error: OSError) -> EngineError:
    """Return the error for a file that the system does not let us read."""
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        sentence(
            "{path} cannot be read: {reason}.", path=path.name, reason=error.strerror or error
        ),
        sentence("Check that the disk is connected and that you may read the file."),
    )


def corrupt(path: Path, what: Sentence, detail: str = "") -> EngineError:
    """Return the error for a file whose claims contradict each other or the file."""
    return EngineError(
        ErrorCode.CHECKPOINT_CORRUPT,
        sentence("{path} is damaged: {what}.", path=path.name, what=what),
        DOWNLOAD_AGAIN,
        detail,
    )


def quoted(text: str) -> str:
    """Return a name from a file, safe to print and of bounded length."""
    return ascii(text if len(text) <= 80 else text[:77] + "...")
