"""The end of an engine process as an error for a person."""

import signal
import sys
from collections.abc import Sequence

import msgspec

from engine.api.sentences import NO_WORDS, Sentence, sentence
from engine.api.values import ErrorCode, ErrorInfo

# Lines of what the engine wrote last that go into a report.
_DETAIL_LINES = 20

_REPORT = sentence("If it happens again, the log says what the engine wrote last.")
_MEMORY = sentence(
    "Probably memory ran out: a smaller picture needs less, and so do fewer other programs."
)
_UNEXPECTEDLY = sentence("ended unexpectedly")
_SIGNALS = {
    "SIGKILL": (sentence("was ended by the system"), _MEMORY),
    "SIGTERM": (sentence("was ended by another program"), NO_WORDS),
    "SIGSEGV": (sentence("crashed inside native code"), _REPORT),
    "SIGABRT": (sentence("was aborted by native code"), _REPORT),
    "SIGBUS": (
        sentence("lost a file it was reading"),
        sentence("See that the disk is there and has room."),
    ),
    "SIGILL": (
        sentence("met an instruction this processor does not have"),
        sentence("Check the hardware again."),
    ),
    "SIGFPE": (sentence("divided by zero inside native code"), _REPORT),
}
# NTSTATUS values, which Windows gives as exit codes.
_WINDOWS_CODES = {
    0xC0000005: (sentence("crashed inside native code"), _REPORT),
    0xC0000017: (sentence("ran out of memory"), _MEMORY),
    0xC000001D: (
        sentence("met an instruction this processor does not have"),
        sentence("Check the hardware again."),
    ),
    0xC00000FD: (sentence("overflowed its stack"), _REPORT),
    0xC0000135: (sentence("misses a library"), sentence("Install Safelight again.")),
    0xC0000374: (sentence("crashed inside native code"), _REPORT),
    0xC0000409: (sentence("was aborted by native code"), _REPORT),
}


class EngineEnd(msgspec.Struct, frozen=True):
    """The end of one engine process."""

    error: ErrorInfo
    # We sent Shutdown, so the job is not to blame.
    requested: bool = False
    # No process came into being at all.
    never_started: bool = False


def crash_error(code: int, *, by_signal: bool, last_lines: Sequence[str]) -> ErrorInfo:
    """Return the error for an unexpected end; `code` is a signal's number or an exit status."""
    what, hint, technical = _in_words(code, by_signal=by_signal)
    detail = "\n".join((technical, *last_lines[-_DETAIL_LINES:]))
    return ErrorInfo(
        ErrorCode.ENGINE_CRASHED, sentence("The engine {what}.", what=what), hint, detail
    )


def not_started_error(command: str, reason: str) -> ErrorInfo:
    """Return the error for a process that cannot be started."""
    return ErrorInfo(
        ErrorCode.ENGINE_NOT_STARTED,
        sentence("The engine cannot be started."),
        sentence("Install Safelight again; an antivirus program may have removed a part of it."),
        f"{command}: {reason}",
    )


def broken_error(reason: str) -> ErrorInfo:
    """Return the error for an engine that breaks the protocol."""
    return ErrorInfo(
        ErrorCode.PROTOCOL_BROKEN,
        sentence("The engine sent something that cannot be understood, and was stopped."),
        _REPORT,
        reason,
    )


def flood_error(reason: str) -> ErrorInfo:
    """Return the error for an engine that sends bytes faster than they can be parsed."""
    message = sentence("The engine said more than can be read, and was stopped.")
    return ErrorInfo(ErrorCode.PROTOCOL_BROKEN, message, _REPORT, reason)


def mismatch_error(reason: str) -> ErrorInfo:
    """Return the error for an engine of another version."""
    return ErrorInfo(
        ErrorCode.PROTOCOL_MISMATCH,
        sentence("The engine belongs to another version of Safelight."),
        sentence("Install Safelight again."),
        reason,
    )


def _in_words(code: int, *, by_signal: bool) -> tuple[Sentence, Sentence, str]:
    """Return what happened, a hint what to do, and the technical reason."""
    if sys.platform == "win32":
        status = code & 0xFFFFFFFF
        what, hint = _WINDOWS_CODES.get(status, (_UNEXPECTEDLY, _REPORT))
        return what, hint, f"exit status {status:#x}"
    if by_signal:
        try:
            name = signal.Signals(code).name
        except ValueError:
            name = "unnamed"
        what, hint = _SIGNALS.get(name, (_UNEXPECTEDLY, _REPORT))
        return what, hint, f"signal {code} ({name})"
    return _UNEXPECTEDLY, _REPORT, f"exit status {code}"
