"""Turns every exception, also an unexpected one, into data for the app."""

import traceback

import msgspec

from engine.api.sentences import Sentence, Value, sentence
from engine.api.values import ErrorCode, ErrorInfo
from engine.errors import EngineError, out_of_memory

_MAX_CHARACTERS = 64 << 10


def error_info(error: BaseException) -> ErrorInfo:
    """Return an exception as an error for the app.

    The paths of its remedies stay as they are: somebody opens them.
    """
    match error:
        case EngineError():
            return msgspec.structs.replace(
                error.info,
                text=_speakable_text(error.text),
                advice=_speakable_text(error.advice),
                detail=speakable(error.detail),
            )
        case MemoryError():
            return out_of_memory(sentence("There is not enough memory."), _trace(error)).info
        case _:
            return ErrorInfo(
                ErrorCode.INTERNAL,
                sentence(
                    "Something unexpected happened in the engine ({kind}).",
                    kind=type(error).__name__,
                ),
                sentence("Try again; if it happens again, please report it with the details."),
                _trace(error),
            )


def speakable(text: str) -> str:
    """Return a text that any message can carry: cut to a maximal length, and with the lone
    surrogates of file names escaped.
    """
    return text[:_MAX_CHARACTERS].encode(errors="backslashreplace").decode()


def _speakable_text(text: Sentence) -> Sentence:
    """Return a sentence whose values, which may come from outside, any message can carry."""
    values = ((name, _speakable_value(value)) for name, value in text.values)
    return Sentence(text.template, tuple(values))


def _speakable_value(value: Value) -> Value:
    if isinstance(value, Sentence):
        return _speakable_text(value)
    return speakable(value) if isinstance(value, str) else value


def _trace(error: BaseException) -> str:
    return speakable("".join(traceback.format_exception(error))[-_MAX_CHARACTERS:])
