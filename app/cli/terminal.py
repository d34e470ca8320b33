"""Output of the command line: errors, tables, bars of bytes, and JSON."""

import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from app.cli.remedy_words import advice
from engine.api.texts import encode_json
from engine.api.values import ErrorInfo

_BAR_WIDTH = 24


class Usage(Exception):  # noqa: N818 (named for what it reports)
    """The arguments do not make sense together; exit status 2."""


def print_error(error: ErrorInfo) -> None:
    """Print an error and its remedies on stderr; with SAFELIGHT_DEBUG also its detail."""
    say(" ".join(filter(None, (f"safelight: {error.message}", advice(error)))), sys.stderr)
    if error.detail and os.environ.get("SAFELIGHT_DEBUG"):
        for line in error.detail.splitlines():
            say(line, sys.stderr)


def say(line: str = "", stream: TextIO | None = None) -> None:
    """Write a line to stdout or `stream`; characters that it cannot encode are replaced."""
    shown = harmless(line)
    out: TextIO = stream or sys.stdout
    encoding = out.encoding or "utf-8"
    print(shown.encode(encoding, "replace").decode(encoding), file=out)


def harmless(text: str) -> str:
    """Return a text with unprintable characters replaced: names come from strangers."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def print_note(sentence: str) -> None:
    """Print a note that is no failure on stderr."""
    say(f"safelight: {sentence}", sys.stderr)


def print_json(value: object) -> None:
    """Print one JSON object on stdout, in ASCII, which every encoding can write."""
    plain = json.loads(encode_json(value))
    sys.stdout.write(json.dumps(plain, ensure_ascii=True, indent=2) + "\n")
    sys.stdout.flush()


def write_path(path: Path) -> None:
    """Print a path on a line: its exact bytes to a program, printable text to a terminal."""
    if sys.stdout.isatty() or not hasattr(sys.stdout, "buffer"):
        say(str(path))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(os.fsencode(path) + os.linesep.encode())
    sys.stdout.flush()


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose columns are as wide as their widest cell."""
    table = [tuple(map(harmless, row)) for row in (headings, *rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(headings))]
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        say("  ".join(cells).rstrip())


class StatusLine:
    """A line on stderr that is redrawn in place; not shown unless stderr is a terminal."""

    def __init__(self) -> None:
        self.is_shown = sys.stderr.isatty()
        self._shown = ""

    def draw(self, text: str) -> None:
        """Replace the shown text, cut to the terminal's width."""
        if self.is_shown and text != self._shown:
            self._shown = text
            self._write(harmless(text))

    def clear(self) -> None:
        """Remove the line, whoever drew it, so that ordinary output can follow."""
        if self.is_shown:
            self._shown = ""
            self._write("")

    def _write(self, text: str) -> None:
        """Write a line over the one that is there, without its last column: it would wrap.

        Spaces erase it, as the consoles of Windows show a code that does so as it is.
        """
        columns = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r{' ' * columns}\r{text[:columns]}")
        sys.stderr.flush()


def bar(fraction: float) -> str:
    """Return a bar of characters, which is full at 1."""
    filled = int(_BAR_WIDTH * fraction)
    return "█" * filled + "░" * (_BAR_WIDTH - filled)


class ByteBar:
    """A progress bar for a number of bytes."""

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total = label, max(1, total)
        self._line = StatusLine()

    def show(self, done: int, total: int | None = None) -> None:
        """Draw the bar for this number of bytes; `total` corrects the number of all."""
        fraction = done / (total or self._total)
        self._line.draw(f"{self._label} {bar(fraction)} {int(100 * fraction)} %")

    def clear(self) -> None:
        """Remove the bar."""
        self._line.clear()
