"""The errors of embedding files."""

from pathlib import Path

from engine.api.values import ErrorCode
from engine.errors import EngineError

_HINT = "Download it again, or remove it from the folder of embeddings."


def no_embedding(path: Path, reason: str, hint: str = "Choose another file.") -> EngineError:
    """Return the error for a file of another kind; `reason` ends a sentence about the file."""
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY, f"{path.name} is no textual inversion: {reason}.", hint
    )


def damaged(path: Path, reason: str) -> EngineError:
    """Return the error for an embedding that cannot be right; `reason` ends a sentence."""
    return EngineError(ErrorCode.CHECKPOINT_CORRUPT, f"{path.name} is damaged: {reason}.", _HINT)
