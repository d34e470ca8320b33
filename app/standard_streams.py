"""Standard input, output and error, where they are closed, full, or nobody reads them any more.

What a command makes is worth more than what it says: where nothing can be said, it goes on.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

_NAMES = ("stdin", "stdout", "stderr")


class OutputLost(Exception):  # noqa: N818 (of the output, not of ours)
    """Standard output takes nothing; `error` is what the system says."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.error = error


def open_missing() -> None:
    """Lead what is closed nowhere, before another file is given its number."""
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
    """Standard output fails with OutputLost, standard error in silence; both are written out."""
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
    """A stream whose failure is one of its own, and final."""

    def __init__(self, stream: TextIO, number: int) -> None:
        self._stream, self._number = stream, number
        self._lost: OSError | None = None

    @property
    def buffer(self) -> "_Guarded":
        """The binary stream: this object, so that one failure ends both."""
        return self

    def write(self, text: str | bytes) -> int:
        """Write a text, or bytes as they are."""
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
        """Write out what waits."""
        try:
            self._stream.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self._lost = error
        # What waits is written nowhere, or Python would complain of it at its end.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._number)
        os.close(nowhere)
        if self._number == 1:
            raise OutputLost(error) from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
