"""Compiles in a child process, which can be killed to stop it, and whose crash spares the engine.

The graph is pickled: weights in files as references, others in full.
"""

import os
import pickle
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO

import msgspec

from backends.base import (
    Artifact,
    BackendError,
    Cancellation,
    Device,
    Graph,
    Progress,
    RunCancelled,
    ShapeProfile,
)
from engine.child_python import python_command
from engine.compile.compile_process import Compiled, Order, Progressed, Refused, Word

_DECODER: msgspec.json.Decoder[Word] = msgspec.json.Decoder(Word)
_LAST_CHARACTERS = 2000


def compile_in_child(
    graph: Graph,
    device: Device,
    profile: ShapeProfile,
    folder: Path,
    progress: Progress,
    cancel: Cancellation,
) -> Artifact | None:
    """Call `Backend.compile` of the device's backend in a child process.

    Raises BackendError, also if the process dies, and RunCancelled.
    """
    order = pickle.dumps(Order(graph, device, profile, folder), pickle.HIGHEST_PROTOCOL)
    last: Compiled | Refused | None = None
    with tempfile.TemporaryFile() as printed, _child(printed) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        with cancel.calling(child.kill):
            Thread(target=_hand_over, args=(child.stdin, order), daemon=True).start()
            for line in child.stdout:
                word = _DECODER.decode(line)
                if not isinstance(word, Progressed):
                    last = word
                elif not cancel.is_set():
                    progress(word.done)
        status = child.wait()
        if last is None and not cancel.is_set():
            raise BackendError(f"the compiler died with status {status}: {_end_of(printed)}")
    if cancel.is_set():
        raise RunCancelled
    if isinstance(last, Refused):
        raise BackendError(last.message, out_of_memory=last.out_of_memory)
    return Artifact(folder, last.profile) if last and last.profile else None


@contextmanager
def _child(printed: IO[bytes]) -> Generator[subprocess.Popen[bytes]]:
    """Start the child process, and kill it at the end of the block."""
    module = "engine.compile.compile_process"
    try:
        child = subprocess.Popen(
            python_command("-m", module, "--parent", str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
        )
    except OSError as error:
        raise BackendError(f"the compiler cannot be started: {error}") from error
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _hand_over(pipe: IO[bytes], order: bytes) -> None:
    """Write the order; the pipe stays open, because closing it would end the child."""
    with suppress(OSError, ValueError):  # the child died or was killed
        pipe.write(order)
        pipe.flush()


def _end_of(printed: IO[bytes]) -> str:
    size = printed.seek(0, os.SEEK_END)
    printed.seek(max(0, size - _LAST_CHARACTERS))
    return printed.read().decode(errors="replace").strip() or "it printed nothing"
