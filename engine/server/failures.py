"""Every failure as data, also those nobody thought of."""

import traceback

from engine.api.values import ErrorCode, ErrorInfo
from engine.errors import EngineError

_MAX_CHARACTERS = 64 << 10


def error_info(error: BaseException) -> ErrorInfo:
    """What to tell the app of an exception."""
    match error:
        case EngineError():
            return ErrorInfo(
                error.code, speakable(error.message), speakable(error.hint), speakable(error.detail)
            )
        case MemoryError():
            return ErrorInfo(
                ErrorCode.OUT_OF_MEMORY,
                "There is not enough memory.",
                "Make the picture smaller, or close other programs.",
                _trace(error),
            )
        case _:
            return ErrorInfo(
                ErrorCode.INTERNAL,
                f"Something unexpected happened in the engine ({type(error).__name__}).",
                "Try again; if it happens again, please report it with the details.",
                _trace(error),
            )


def speakable(text: str) -> str:
    """Text that any message can carry: bounded, and without the halves of characters that
    file names may hold.
    """
    return text[:_MAX_CHARACTERS].encode(errors="backslashreplace").decode()


def _trace(error: BaseException) -> str:
    return speakable("".join(traceback.format_exception(error))[-_MAX_CHARACTERS:])
