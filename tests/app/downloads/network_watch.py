"""A program that runs another one, and prints each attempt in it to open a socket to a network.

    python -m tests.app.downloads.network_watch COMMAND...

The kernel asks this program whenever the other, or any process that descends from it, opens an
internet socket, whatever language it is written in; it refuses, and prints who it was. Local
sockets are no concern of it. It exits as the other program does, or with UNWATCHED.
"""

import contextlib
import ctypes
import errno
import os
import platform
import select
import struct
import subprocess
import sys
from pathlib import Path

# The status where the kernel cannot watch.
UNWATCHED = 77
# The architecture's number in the kernel's audit.h, and of the calls `socket` and `seccomp`.
_MACHINES = {"x86_64": (0xC000003E, 41, 317), "aarch64": (0xC00000B7, 198, 277)}
_NO_NEW_PRIVILEGES = 38  # prctl.h
_SET_FILTER, _NEW_LISTENER = 1, 8  # seccomp.h
_ALLOW, _ASK = 0x7FFF0000, 0x7FC00000
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # bpf_common.h
_INTERNET, _INTERNET_6 = 2, 10
_CALL, _ARCHITECTURE, _FAMILY = 0, 4, 16  # places in struct seccomp_data
_QUESTION = struct.Struct("QII64x")
_ANSWER = struct.Struct("QqiI")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _listen() -> int:
    """Have the kernel ask this process and its children; return where. -1 if it cannot."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        return -1
    architecture, socket, seccomp = _MACHINES[platform.machine()]
    instructions = (
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, 5, architecture),
        (_LOAD, 0, 0, _CALL),
        (_EQUAL, 0, 3, socket),
        (_LOAD, 0, 0, _FAMILY),
        (_EQUAL, 2, 0, _INTERNET),
        (_EQUAL, 1, 0, _INTERNET_6),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ASK),
    )
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    kept = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(instructions), ctypes.cast(kept, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return libc.syscall(seccomp, _SET_FILTER, _NEW_LISTENER, ctypes.byref(program))


def _refuse(listener: int) -> None:
    """Refuse one socket, and print the command line of the process that wanted it."""
    import fcntl

    question = bytearray(_QUESTION.size)
    with contextlib.suppress(OSError):  # the process ended meanwhile
        fcntl.ioctl(listener, _RECEIVE, question)
        number, process, _ = _QUESTION.unpack(question)
        command = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ")
        print("a socket to a network:", command.decode(errors="replace"), flush=True)  # noqa: T201
        fcntl.ioctl(listener, _SEND, _ANSWER.pack(number, 0, -errno.EACCES, 0))


def main() -> int:
    """Watch a command until it ends; return its status."""
    listener = _listen()
    if listener < 0:
        return UNWATCHED
    with subprocess.Popen(sys.argv[1:], close_fds=True) as process:
        ended = os.pidfd_open(process.pid)
        events = select.poll()
        events.register(listener, select.POLLIN)
        events.register(ended, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in events.poll()}
            if listener in ready:
                _refuse(listener)
            elif ended in ready:
                return process.wait()


if __name__ == "__main__":
    sys.exit(main())
