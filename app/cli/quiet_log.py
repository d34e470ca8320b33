"""The log of a command: nothing of it on the terminal, but a sentence about a cache at fault."""

import logging
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from app.cli.terminal import print_note, say
from engine.durable import require_new_files


class _Lines(logging.Handler):
    """Counts warnings, and prints them if SAFELIGHT_DEBUG is set."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Note a warning; `logging` calls this on the thread that logs."""
        self.count += 1
        if os.environ.get("SAFELIGHT_DEBUG"):
            say(self.format(record), sys.stderr)


@contextmanager
def quiet_log(cache: Path) -> Generator[None]:
    """Keep log lines off the terminal; at the end say once if `cache` could not be written."""
    lines, root = _Lines(), logging.getLogger()
    root.addHandler(lines)
    try:
        yield
    finally:
        root.removeHandler(lines)
        problem = write_problem(cache) if lines.count else ""
        if problem:
            print_note(
                f"The cache folder {cache} cannot be written ({problem}): what was prepared is not "
                "kept, and every start takes longer. Choose another folder with SAFELIGHT_CACHE."
            )


def write_problem(folder: Path) -> str:
    """Return why no file can be written into a folder, which is created; empty if one can."""
    try:
        require_new_files(folder)
    except OSError as error:
        return error.strerror or str(error)
    return ""
