"""Handling of standard streams that are closed, full or no longer read.

A command goes on when its output is lost, because the pictures it makes are worth more.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

_NAMES = ("stdin", "stdout", "stderr")


class OutputLost(Exception):  # noqa: N818 (of the output, not of ours)
    """Standard output cannot be written; `error` is the system's error."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.error = error


def open_missing() -> None:
    """Open the null device for each closed stream, before another file gets its number."""
    for number, name in enumerate(_NAMES):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one.
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            stream = open(os.devnull, "r" if number == 0 else "w", encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, stream)


@contextmanager
def guarded() -> Generator[None]:
    """Make stdout raise OutputLost on failure and stderr fail silently; flush stdout at the end."""
    before = sys.stdout, sys.stderr
    output, errors = _Guarded(sys.stdout, 1), _Guarded(sys.stderr, 2)
    sys.stdout, sys.stderr = cast("TextIO", output), cast("TextIO", errors)
    try:
        try:
            yield
        except SystemExit:  # of --help, and of wrong usage
            output.flush()
            raise
        output.flush()
    finally:
        with suppress(OutputLost):
            output.flush()
        sys.stdout, sys.stderr = before


class _Guarded:
    """A stream whose first failure is final: stdout raises OutputLost, stderr is silent."""

    def __init__(self, stream: TextIO, number: int) -> None:
        self._stream, self._number = stream, number
        self._lost: OSError | None = None

    @property
    def buffer(self) -> "_Guarded":
        """The binary stream: this object, so that one failure ends both."""
        return self

    def write(self, text: str | bytes) -> int:
        """Write a text or bytes; return the number of characters or bytes."""
        if self._lost is not None and self._number == 1:
            raise OutputLost(self._lost)
        try:
            if isinstance(text, bytes):
                return self._stream.buffer.write(text)
            return self._stream.write(text)
        except OSError as error:
            self._fail(error)
            return len(text)

    def flush(self) -> None:
        """Write out the buffered text."""
        try:
            self._stream.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self._lost = error
        # The buffered rest goes to the null device, or Python would report an error at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._number)
        os.close(nowhere)
        if self._number == 1:
            raise OutputLost(error) from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
