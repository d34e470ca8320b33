"""Reading from the system with bounds on size and time. Nothing here raises on what it meets."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer

_FILE_BYTES = 1 << 16
_FOLDER_ENTRIES = 4096
_OUTPUT_BYTES = 1 << 20


def read_bytes(path: Path, limit: int = _FILE_BYTES) -> bytes:
    """The first `limit` bytes of a file; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(limit)
    except OSError:
        return b""


def read_text(path: Path, limit: int = _FILE_BYTES) -> str:
    """The same as text, without white space around it."""
    return read_bytes(path, limit).decode(errors="replace").strip()


def entries(folder: Path) -> list[Path]:
    """What a folder holds, in order of name; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as found:
            names = [entry.name for _, entry in zip(range(_FOLDER_ENTRIES), found, strict=False)]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def link_name(path: Path) -> str:
    """The last part of what a symbolic link points to; nothing where it is none."""
    try:
        return path.readlink().name
    except OSError:
        return ""


def output_of(command: Sequence[str], seconds: float = 5) -> str:
    """What a program prints within a time and a size; nothing where it cannot be run."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
        )
    except OSError:
        return ""
    timer = Timer(seconds, _end, (process,))
    timer.start()
    with process:
        assert process.stdout is not None
        printed = process.stdout.read(_OUTPUT_BYTES)
        # It may have more to say, or wait for something else; nobody listens any more.
        _end(process)
        timer.cancel()
    return printed.decode(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and what it has started, which may hold the pipe open."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
