"""The one exception that carries a failure to the person who can act on it."""

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
