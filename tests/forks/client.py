"""Stands for an engine: `python -I -S client.py SOCKET ARGUMENTS` ends as the fork does.

If this process is killed, the fork server kills the fork. Few imports: it is started often.
"""

import marshal
import os
import signal
import socket
import sys


def main() -> None:
    """Hand everything over and wait for the end."""
    path, *arguments = sys.argv[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(path)
        request = marshal.dumps((arguments, os.getcwd(), dict(os.environ)))  # noqa: PTH109 (few imports)
        socket.send_fds(server, [request], [0, 1, 2])
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        status = int(server.recv(16))
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


main()
