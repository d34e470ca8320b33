"""Forks engines whose modules are imported already: `python -I server.py SOCKET`.

It ends, with its forks, when its stdin is closed.
"""

import gc
import marshal
import os
import select
import signal
import socket
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, ModuleType
from typing import NoReturn

_LARGEST_REQUEST = 1 << 20
# Those that an engine imports before it is ready; they import the others.
_MODULES = (
    *("checkpoints.background_hash", "jobs.runner", "jobs.services", "memory.residency"),
    *("server", "server.answers", "server.job_run", "server.map_answers"),
)


@dataclass(frozen=True)
class Fork:
    """An engine: its process, the pipe that ends with it, and the client that stands for it."""

    pid: int
    alive: int
    client: socket.socket


def serve(path: str) -> None:
    """Fork an engine for each client until stdin is closed."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen(16)
    # The code beside these tests, wherever the installed one is.
    sys.path.insert(0, str(Path(__file__).parents[2]))
    for module in _MODULES:
        import_module(f"engine.{module}")
    # A test waits for its engine, and has no window whose share that takes.
    vars(import_module("engine.server"))["yield_to_others"] = lambda: None
    gc.freeze()
    print("ready", flush=True)  # noqa: T201
    forks: list[Fork] = []
    while True:
        watched = [end for fork in forks for end in (fork.alive, fork.client)]
        readable, _, _ = select.select([0, listener, *watched], [], [])
        if 0 in readable:
            break
        for fork in list(forks):
            if fork.client in readable:  # it sends nothing more, so it has ended
                os.kill(fork.pid, signal.SIGKILL)
            if fork.alive in readable or fork.client in readable:
                forks.remove(fork)
                _report(fork)
        if listener in readable:
            client, _ = listener.accept()
            forks.append(_fork(client))
    for fork in forks:
        os.kill(fork.pid, signal.SIGKILL)
    os.unlink(path)  # noqa: PTH108
    os.rmdir(os.path.dirname(path))  # noqa: PTH106, PTH120


def _report(fork: Fork) -> None:
    """Tell the client, if it is there, the exit status."""
    _, status = os.waitpid(fork.pid, 0)
    with suppress(OSError):
        fork.client.send(str(os.waitstatus_to_exitcode(status)).encode())
    fork.client.close()
    os.close(fork.alive)


def _fork(client: socket.socket) -> Fork:
    request, pipes, _, _ = socket.recv_fds(client, _LARGEST_REQUEST, 3)
    arguments, folder, variables = marshal.loads(request)
    if arguments[0] != "-m":
        _compiled(arguments[0])
    alive, lives = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _take_place(pipes, lives)
        os.chdir(folder)
        os.environ.clear()
        os.environb.update(variables)
        _run_as_child(arguments, parent)
    for descriptor in (lives, *pipes):
        os.close(descriptor)
    return Fork(pid, alive, client)


def _take_place(pipes: list[int], lives: int) -> None:
    """Take the client's pipes, and close everything of the server's."""
    os.setsid()
    for number, pipe in enumerate(pipes):
        os.dup2(pipe, number)
    os.closerange(3, lives)
    os.closerange(lives + 1, os.sysconf("SC_OPEN_MAX"))


def _run_as_child(arguments: list[str], parent: int) -> NoReturn:
    """Run in the forked process, which never goes on as a server."""
    try:
        if "--parent" in arguments:
            arguments[arguments.index("--parent") + 1] = str(parent)
        _run(arguments)
    except BaseException:  # noqa: BLE001 (as an interpreter ends for any)
        traceback.print_exc()
    finally:
        os._exit(1)


def _run(arguments: list[str]) -> None:
    """Do as `python -I ARGUMENTS`."""
    if arguments[:2] == ["-m", "engine"]:
        import_module("engine.server").main(arguments[2:])
    sys.argv = arguments
    script = sys.modules["__main__"] = ModuleType("__main__")
    vars(script)["__file__"] = arguments[0]
    exec(_compiled(arguments[0]), vars(script))
    os._exit(0)


@cache
def _compiled(path: str) -> CodeType:
    """Return a script's code; the server asks first, so that no fork compiles it again."""
    return compile(Path(path).read_bytes(), path, "exec")


serve(sys.argv[1])
