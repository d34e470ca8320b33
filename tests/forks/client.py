"""Stands for an engine: `python -I -S client.py SOCKET ARGUMENTS` ends as the fork does.

If this process is killed, the fork server kills the fork. It is started often, so it imports what
is built in: `socket` and `signal`, which are of Python, take as long as all the rest.
"""

import _socket
import marshal
import posix
import sys

_KILL = 9


def main() -> None:
    """Hand everything over and wait for the end."""
    path, *arguments = sys.argv[1:]
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    server.connect(path)
    request = marshal.dumps((arguments, posix.getcwd(), posix.environ))
    pipes = b"".join(pipe.to_bytes(4, sys.byteorder) for pipe in range(3))
    server.sendmsg([request], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, pipes)])
    null = posix.open("/dev/null", posix.O_RDWR)
    for descriptor in range(3):
        posix.dup2(null, descriptor)
    status = int(server.recv(16))
    if status < 0:
        _end_by(-status)
    posix._exit(status)  # pyright: ignore[reportPrivateUsage]


def _end_by(number: int) -> None:
    """End this process by a signal."""
    if number != _KILL:
        import signal

        signal.signal(number, signal.SIG_DFL)
    posix.kill(posix.getpid(), number)


main()
