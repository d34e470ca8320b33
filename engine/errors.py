"""The exception that carries a failure to the user."""

from collections.abc import Generator
from contextlib import contextmanager

from engine.api.remedies import MakeSmaller, Remedy
from engine.api.sentences import NO_WORDS, InEnglish, Sentence, sentence
from engine.api.values import ErrorCode, ErrorInfo


class EngineError(InEnglish, Exception):
    """A failure with a code, a sentence on what happened and one on what to do about it.

    `remedies` are actions that the window and the command line each show in their own way, so
    `advice` names no option, command or button.
    """

    def __init__(
        self,
        code: ErrorCode,
        text: Sentence,
        advice: Sentence = NO_WORDS,
        detail: str = "",
        *,
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        super().__init__(str(text))
        self.code = code
        self.text = text
        self.advice = advice
        self.detail = detail
        self.remedies = remedies

    @property
    def info(self) -> ErrorInfo:
        """The same failure as data, for the protocol and for records."""
        return ErrorInfo(self.code, self.text, self.advice, self.detail, self.remedies)


class Cancelled(EngineError):  # noqa: N818 (a decision of the user, not a fault)
    """The user asked to stop; nothing went wrong."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.CANCELLED, sentence("Cancelled."))


def out_of_memory(message: Sentence, detail: str) -> EngineError:
    """Return the error for memory that ran out, on the machine or a device."""
    hint = sentence("Closing other programs may help.")
    return EngineError(ErrorCode.OUT_OF_MEMORY, message, hint, detail, remedies=(MakeSmaller(),))


def ran_out_on_host(error: BaseException) -> bool:
    """Return True if it was this computer's own memory that ran out, whatever device computes.

    Runtimes' C++ (std::bad_alloc) tells of that by a MemoryError, too; of a device's by others.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, MemoryError):
        cause = cause.__cause__
    return cause is not None


@contextmanager
def host_memory_errors() -> Generator[None]:
    """Turn a MemoryError of our own arrays into an EngineError."""
    try:
        yield
    except MemoryError as error:
        raise out_of_memory(sentence("There is not enough memory."), str(error)) from error
