"""Keeps the two pipes of the protocol apart from what native libraries read and print."""

import os
import sys
from dataclasses import dataclass

_STDIN, _STDOUT, _STDERR = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Pipes:
    """Descriptors that nobody else in this process knows, nor any process it starts."""

    commands: int
    events: int


def take_stdio() -> Pipes:
    """Duplicate stdin and stdout, then point stdin at nothing and stdout at stderr.

    What a driver prints cannot corrupt the stream then, and on Windows no native import waits for
    the reader's lock on stdin.
    """
    # Opened first, the null device takes the place of stderr where that is closed.
    null = os.open(os.devnull, os.O_RDWR)
    pipes = Pipes(os.dup(_STDIN), os.dup(_STDOUT))
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (pipes.commands, pipes.events):
            msvcrt.setmode(descriptor, os.O_BINARY)
    os.dup2(null, _STDIN)
    os.dup2(_STDERR, _STDOUT)
    sys.stdout = sys.stderr  # with its buffering: what is printed is seen, however this ends
    if null > _STDERR:
        os.close(null)
    return pipes
