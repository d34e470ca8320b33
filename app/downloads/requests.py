"""Requests to allowed hosts alone, through redirects, with failures told apart."""

import time
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from urllib.parse import urlsplit

import msgspec

from app.downloads.answers import PASSING, REDIRECTS, next_address, wait_asked_s
from app.downloads.connection import LOOK_S, Answer, Connection, ConnectionFailure, Stopped
from app.downloads.errors import DownloadCode, DownloadError, DownloadProblem
from app.downloads.source import host_of
from app.downloads.terms import Terms

MOST_REDIRECTS = 5
_LOOPBACK = "127.0.0.1"
# Another attempt at the same address may go better.
_MAY_PASS = frozenset({DownloadCode.NO_CONNECTION, DownloadCode.DROPPED, DownloadCode.STALLED})


class Setback(Exception):  # noqa: N818 (not yet a failure)
    """An attempt failed, and another may go better, after the wait that the server asked for."""

    def __init__(self, problem: DownloadProblem, wait_s: float | None = None) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.wait_s = wait_s


class Asker(msgspec.Struct, frozen=True):
    """Asks for one file, which messages name, at the hosts that may be asked."""

    file: str
    hosts: Collection[str]
    terms: Terms
    stopped: Callable[[], bool]

    @contextmanager
    def ask(self, url: str, headers: dict[str, str]) -> Generator[tuple[Answer, Connection]]:
        """Yield the answer of a URL, or of the one that it leads to, and close the connection.

        Raises Setback, Stopped, and DownloadError for all that no other attempt can change, also
        where the connection breaks off while the answer is used.
        """
        place = url
        for _ in range(MOST_REDIRECTS + 1):
            self.terms.contacted(host_of(place))
            sent = headers | self.terms.headers_for(place)
            connection = Connection(place, sent, self.terms.stall_s, self.stopped)
            try:
                answer = connection.head()
                if answer.status not in REDIRECTS:
                    self._require_success(url, answer)
                    yield answer, connection
                    return
            except ConnectionFailure as failure:
                raise self._failed(url, failure) from failure
            finally:
                connection.close()
            place = self.redirected(url, next_address(answer))
        raise self.round_error(url)

    def round_error(self, url: str) -> DownloadError:
        """Return the exception for a server that leads from one address to the next for ever."""
        detail = "one address after another"
        return self.error(DownloadCode.REDIRECT_REFUSED, url, detail=detail)

    def wait(self, seconds: float) -> None:
        """Wait before another attempt. Raises Stopped."""
        until = time.monotonic() + seconds
        while (rest := until - time.monotonic()) > 0:
            if self.stopped():
                raise Stopped
            time.sleep(min(rest, LOOK_S))

    def require_encrypted(self, url: str) -> None:
        """Raise DownloadError for a URL that would be asked for without encryption."""
        if not self._is_encrypted(url):
            raise self.error(DownloadCode.ADDRESS_REFUSED, url)

    def redirected(self, url: str, place: str) -> str:
        """Return the place that a URL leads to. Raises DownloadError unless it may be asked."""
        host, port = self.host_led_to(url, place), urlsplit(place).port
        is_usual_port = port in (None, 443) or (host == _LOOPBACK and self.terms.loopback_http)
        if host not in self.hosts or not is_usual_port or not self._is_encrypted(place):
            raise self.error(DownloadCode.REDIRECT_REFUSED, url, detail=urlsplit(place).netloc)
        return place

    def host_led_to(self, url: str, place: str) -> str:
        """Return the host of a place that a URL leads to. Raises DownloadError if it has none."""
        try:
            return host_of(place)
        except ValueError:
            detail = "an address that makes no sense"
            raise self.error(DownloadCode.REDIRECT_REFUSED, url, detail=detail) from None

    def problem(
        self, code: DownloadCode, url: str, *, status: int = 0, detail: str = ""
    ) -> DownloadProblem:
        """Return a problem with the server of a URL."""
        return DownloadProblem(
            code=code, file=self.file, host=host_of(url), status=status, detail=detail
        )

    def error(
        self, code: DownloadCode, url: str, *, status: int = 0, detail: str = ""
    ) -> DownloadError:
        """Return the exception for a problem with the server of a URL."""
        return DownloadError(self.problem(code, url, status=status, detail=detail))

    def _is_encrypted(self, url: str) -> bool:
        is_loopback = self.terms.loopback_http and host_of(url) == _LOOPBACK
        return is_loopback or urlsplit(url).scheme == "https"

    def _require_success(self, url: str, answer: Answer) -> None:
        status = answer.status
        if status in (200, 206, 416):
            return
        if status not in PASSING:
            raise self.error(DownloadCode.STATUS, url, status=status)
        wait_s = wait_asked_s(answer)
        problem = self.problem(DownloadCode.BUSY, url, status=status)
        if wait_s is not None and wait_s > self.terms.longest_retry_after_s:
            raise DownloadError(problem)
        raise Setback(problem, wait_s)

    def _failed(self, url: str, failure: ConnectionFailure) -> Exception:
        problem = self.problem(failure.code, url, detail=failure.detail)
        return Setback(problem) if failure.code in _MAY_PASS else DownloadError(problem)
