"""One request to a server, on a thread of its own, so that nobody ever waits for the server."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING

import msgspec

from app.downloads.errors import DownloadCode

if TYPE_CHECKING:
    from app.downloads.transport import Response

# So many chunks may wait to be written.
_CHUNKS = 8
# A person's wish to stop is looked for so often, in seconds.
LOOK_S = 0.1


class Answer(msgspec.Struct, frozen=True):
    """The head of a server's answer; the names of its headers are in lower case."""

    url: str
    status: int
    headers: Mapping[str, str]


class ConnectionFailure(Exception):  # noqa: N818 (a finding, worded elsewhere)
    """A request that got no answer, or an answer that broke off."""

    def __init__(self, code: DownloadCode, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class Stopped(Exception):  # noqa: N818 (a decision of the user, not a fault)
    """The person who waited does not want the answer any more."""


class Connection:
    """A GET request. A thread waits for the server and hands over what comes."""

    def __init__(
        self, url: str, headers: dict[str, str], stall_s: float, stopped: Callable[[], bool]
    ) -> None:
        """Send the request. `stall_s` is the longest wait for a byte, in seconds."""
        self._url, self._headers = url, headers
        self._stall_s, self._stopped = stall_s, stopped
        self._received: Queue[Answer | bytes | ConnectionFailure] = Queue(_CHUNKS)
        self._closed = threading.Event()
        self._response: Response | None = None
        self._thread = threading.Thread(target=self._run, name="download", daemon=True)
        self._thread.start()

    def head(self) -> Answer:
        """Wait for the head of the answer. Raises ConnectionFailure and Stopped."""
        received = self._next()
        assert isinstance(received, Answer)
        return received

    def body(self) -> Iterator[bytes]:
        """Yield the body as it comes. Raises ConnectionFailure and Stopped."""
        while received := self._next():
            assert isinstance(received, bytes)
            yield received

    def close(self) -> None:
        """Give the connection up, also in the middle of the answer; returns at once."""
        self._closed.set()
        if self._response is not None:
            self._response.wake()

    def _next(self) -> Answer | bytes:
        begun = time.monotonic()
        while True:
            if self._stopped():
                raise Stopped
            try:
                received = self._received.get(timeout=LOOK_S)
            except Empty:
                if time.monotonic() - begun > self._stall_s:
                    code = DownloadCode.STALLED
                    raise ConnectionFailure(code, f"nothing for {self._stall_s:g} s") from None
                continue
            if isinstance(received, ConnectionFailure):
                raise received
            return received

    def _run(self) -> None:
        # Imported here: the window need not wait for it when it starts.
        from app.downloads.transport import Response, failure_of

        try:
            response = self._response = Response(self._url, self._headers, self._stall_s)
            try:
                self._receive(response)
            finally:
                response.close()
        except Exception as error:  # noqa: BLE001 (the other thread raises it)
            self._hand_over(ConnectionFailure(*failure_of(error)))

    def _receive(self, response: "Response") -> None:
        self._hand_over(Answer(self._url, response.status, response.headers))
        while chunk := response.read():
            if not self._hand_over(chunk):
                return
        self._hand_over(b"")

    def _hand_over(self, received: Answer | bytes | ConnectionFailure) -> bool:
        """Give something to the other thread; return False once it has gone."""
        while not self._closed.is_set():
            with suppress(Full):
                self._received.put(received, timeout=LOOK_S)
                return True
        return False
