"""The errors of embedding files."""

from pathlib import Path

from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError

_HINT = sentence("Download it again, or remove it from the folder of embeddings.")
_CHOOSE = sentence("Choose another file.")


def no_embedding(path: Path, reason: Sentence) -> EngineError:
    """Return the error for a file of another kind; `reason` ends a sentence about the file."""
    return EngineError(
        ErrorCode.CHECKPOINT_UNKNOWN_FAMILY,
        sentence("{path} is no textual inversion: {reason}.", path=path.name, reason=reason),
        _CHOOSE,
    )


def damaged(path: Path, reason: Sentence) -> EngineError:
    """Return the error for an embedding that cannot be right; `reason` ends a sentence."""
    return EngineError(
        ErrorCode.CHECKPOINT_CORRUPT,
        sentence("{path} is damaged: {reason}.", path=path.name, reason=reason),
        _HINT,
    )
