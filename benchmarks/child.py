"""A peer in a process of its own, loaded once and then asked for one measurement at a time.

Requests and answers are JSON objects, one per line. Native libraries may write to stdout at any
time, so the child keeps the original stdout for answers and points file descriptor 1 at stderr.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Protocol, Self

ROOT = Path(__file__).parent.parent
_LOG_CHARS = 2000

Answer = Mapping[str, Any]


class Peer(Protocol):
    """The program in a child process: constructing it loads its network, then it answers tasks."""

    def answer(self, task: str, options: Mapping[str, Any]) -> Answer:
        """Do a task once and return an answer with at least its `seconds`."""
        ...


class PeerError(Exception):
    """A peer could not start or failed; the message is its own."""


class Child:
    """A loaded peer in a child process; `ready_s` is the time that starting and loading took."""

    def __init__(self, peer: str, **options: object) -> None:
        """Start a peer (a name in `peers.PEERS`) and wait until it is loaded. Raises PeerError."""
        started = perf_counter()
        self._log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 (until close)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.peers", peer, json.dumps(options)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self.pid = self._process.pid
        try:
            self._receive()
        except BaseException:
            self.close()
            raise
        self.ready_s = perf_counter() - started

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, task: str, **options: object) -> Answer:
        """Return the answer to one request. Raises PeerError."""
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps({"task": task, "options": options}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the reason is found below
        return self._receive()

    def seconds(self, task: str, **options: object) -> float:
        """Return the seconds that one request took. Raises PeerError."""
        return float(self.ask(task, **options)["seconds"])

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._log.close()

    def _receive(self) -> Answer:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            self._log.seek(0)
            end = self._log.read()[-_LOG_CHARS:]
            raise PeerError(f"the process ended with status {status}\n{end}")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer


def serve(make_peer: Callable[[], Peer]) -> None:
    """Run the child's side: load the peer, report success, answer requests until input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def send(answer: Answer) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        peer = make_peer()
        send({})
        for line in sys.stdin:
            request = json.loads(line)
            send(peer.answer(request["task"], request["options"]))
    except Exception as error:  # noqa: BLE001 (whatever a peer does is the parent's to report)
        send({"error": f"{type(error).__name__}: {error}"})
