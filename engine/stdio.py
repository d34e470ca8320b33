"""Keeps the two pipes of the protocol apart from the reads and prints of native libraries."""

import os
import sys

import msgspec

_STDIN, _STDOUT, _STDERR = 0, 1, 2


class Pipes(msgspec.Struct, frozen=True):
    """Descriptors of the protocol's pipes, which no library and no child process knows."""

    commands: int
    events: int


def take_stdio() -> Pipes:
    """Duplicate stdin and stdout, then point stdin at the null device and stdout at stderr.

    Then a driver that prints cannot corrupt the stream, and on Windows no native import waits for
    the reader's lock on stdin.
    """
    null = os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] (closed from the start)
        # Newer interpreters may have opened the program itself there.
        os.dup2(null, _STDERR)
    pipes = Pipes(os.dup(_STDIN), os.dup(_STDOUT))
    os.dup2(null, _STDIN)
    os.dup2(_STDERR, _STDOUT)
    if sys.platform == "win32":
        _settle(pipes)
    sys.stdout = sys.stderr  # with its buffering: what is printed is seen, however this ends
    if null > _STDERR:
        os.close(null)
    return pipes


if sys.platform == "win32":
    import ctypes
    import msvcrt
    from ctypes import wintypes

    # winbase.h.
    _STD_INPUT_HANDLE, _STD_OUTPUT_HANDLE = -10, -11

    def _settle(pipes: Pipes) -> None:
        """Have the pipes take bytes as they are, and Windows know the new stdin and stdout.

        The C library tells Windows of new ones in console programs alone, and ours has none. What
        asks Windows would get the closed handles, whose numbers the next files have.
        """
        for descriptor in (pipes.commands, pipes.events):
            msvcrt.setmode(descriptor, os.O_BINARY)
        kernel = ctypes.WinDLL("kernel32")
        kernel.SetStdHandle.argtypes = (wintypes.DWORD, wintypes.HANDLE)
        kernel.SetStdHandle(_STD_INPUT_HANDLE, msvcrt.get_osfhandle(_STDIN))
        kernel.SetStdHandle(_STD_OUTPUT_HANDLE, msvcrt.get_osfhandle(_STDOUT))
