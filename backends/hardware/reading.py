"""Reads from the system with bounds on size and time. No function raises on bad content."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer

# The node by which ROCm reaches all of AMD's cards.
ROCM_NODE = Path("/dev/kfd")
_FILE_BYTES = 1 << 16
_FOLDER_ENTRIES = 4096
_OUTPUT_BYTES = 1 << 20


def read_bytes(path: Path, limit: int = _FILE_BYTES) -> bytes:
    """Return the first `limit` bytes of a file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(limit)
    except OSError:
        return b""


def read_text(path: Path, limit: int = _FILE_BYTES) -> str:
    """Return the first `limit` bytes of a file as stripped text; empty if it cannot be read."""
    return read_bytes(path, limit).decode(errors="replace").strip()


def entries(folder: Path) -> list[Path]:
    """List a folder in order of name; empty if it cannot be read."""
    try:
        with os.scandir(folder) as found:
            names = [entry.name for _, entry in zip(range(_FOLDER_ENTRIES), found, strict=False)]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def link_name(path: Path) -> str:
    """Return the last part of a symbolic link's target; empty if it is not a link."""
    try:
        return path.readlink().name
    except OSError:
        return ""


def closed_reason(node: Path) -> str:
    """Return why the node of a device may not be opened, and what to do; empty if it may.

    Empty also for one that is not there. Debian's family opens nodes to a group alone.
    """
    if not node.exists() or os.access(node, os.R_OK | os.W_OK):
        return ""
    return f"{node} may not be opened: add yourself to the group render and log in again"


def rocm_closed_reason() -> str:
    """Return why ROCm reaches no card of this user's, and what to do; empty if it may."""
    return closed_reason(ROCM_NODE)


def output_of(command: Sequence[str], seconds: float = 5) -> str:
    """Return at most 1 MiB of a program's output, read within `seconds`; empty if not started."""
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
        # The program may still write or wait for something, but nobody reads any more.
        _end(process)
        timer.cancel()
    return printed.decode(errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and its children, which may hold the pipe open."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
