"""The one exception that carries a failure to the person who can act on it."""

from collections.abc import Generator
from contextlib import contextmanager

from engine.api.values import ErrorCode, ErrorInfo


class EngineError(Exception):
    """A failure with a code, one sentence of what happened and one of what to do about it."""

    def __init__(self, code: ErrorCode, message: str, hint: str = "", detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.detail = detail

    @property
    def info(self) -> ErrorInfo:
        """The same failure as data, for the protocol and for records."""
        return ErrorInfo(self.code, self.message, self.hint, self.detail)


class Cancelled(EngineError):  # noqa: N818 (a decision of the user, not a fault)
    """The user asked to stop; nothing went wrong."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.CANCELLED, "Cancelled.")


@contextmanager
def host_memory_errors() -> Generator[None]:
    """Memory that runs out in our own arrays, as the error that says so."""
    try:
        yield
    except MemoryError as error:
        raise EngineError(
            ErrorCode.OUT_OF_MEMORY,
            "There is not enough memory.",
            "Make the picture smaller, or close other programs.",
            str(error),
        ) from error
