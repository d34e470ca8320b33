"""Engines for tests that are not about an engine's start: forks of one that has begun already.

Importing its modules takes 0.7 seconds of processor time, most of what an engine does in a test. A
fork server has imported them. The command that a test starts instead hands its pipes, folder and
variables to a fork, and ends as that ends.
"""

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

_HERE = Path(__file__).parent
# Kept: the end of its input ends it.
_servers: list[subprocess.Popen[bytes]] = []


def forked(*arguments: str) -> tuple[str, ...]:
    """Return the command of a fork that does as `python -I ARGUMENTS`.

    ARGUMENTS are `-m engine` or a script, and more. Where nothing can be forked,
    the command is that one.
    """
    if sys.platform != "linux":
        return (sys.executable, "-I", *arguments)
    return (sys.executable, "-I", "-S", str(_HERE / "client.py"), _socket(), *arguments)


@cache
def _socket() -> str:
    """Start the fork server, which ends with this process, and return its socket."""
    path = str(Path(mkdtemp(prefix="forks-")) / "socket")
    command = [sys.executable, "-I", str(_HERE / "server.py"), path]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    _servers.append(server)
    return path
