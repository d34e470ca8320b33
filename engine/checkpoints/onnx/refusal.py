"""The error for ONNX files that are not run."""

from engine.api.sentences import Sentence, sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError


def refused(what: Sentence) -> EngineError:
    """Return the error for a file that is sound, but does more than is allowed."""
    return EngineError(
        ErrorCode.CHECKPOINT_UNREADABLE,
        what,
        sentence("Files like this are not run. Get another version of the model."),
    )
