"""The exception that carries a failure to the user."""

from collections.abc import Generator
from contextlib import contextmanager

from engine.api.remedies import MakeSmaller, Remedy
from engine.api.values import ErrorCode, ErrorInfo


class EngineError(Exception):
    """A failure with a code, a sentence on what happened and one on what to do about it.

    `remedies` are actions that the window and the command line each show in their own way, so a
    `hint` names no option, command or button.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        hint: str = "",
        detail: str = "",
        *,
        remedies: tuple[Remedy, ...] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.detail = detail
        self.remedies = remedies

    @property
    def info(self) -> ErrorInfo:
        """The same failure as data, for the protocol and for records."""
        return ErrorInfo(self.code, self.message, self.hint, self.detail, self.remedies)


class Cancelled(EngineError):  # noqa: N818 (a decision of the user, not a fault)
    """The user asked to stop; nothing went wrong."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.CANCELLED, "Cancelled.")


def out_of_memory(message: str, detail: str) -> EngineError:
    """Return the error for memory that ran out, on the machine or a device."""
    hint = "Closing other programs may help."
    return EngineError(ErrorCode.OUT_OF_MEMORY, message, hint, detail, remedies=(MakeSmaller(),))


@contextmanager
def host_memory_errors() -> Generator[None]:
    """Turn a MemoryError of our own arrays into an EngineError."""
    try:
        yield
    except MemoryError as error:
        raise out_of_memory("There is not enough memory.", str(error)) from error
