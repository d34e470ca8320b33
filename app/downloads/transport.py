"""GET requests as urllib3 makes them."""

import ssl
from contextlib import suppress

import urllib3
from urllib3 import exceptions

from app.downloads.errors import DownloadCode
from app.downloads.proxies import proxy_to
from app.downloads.trust import trusted

_CHUNK_BYTES = 256 << 10
_HEADERS = {"User-Agent": "Safelight", "Accept-Encoding": "identity"}


class Response:
    """The answer to a request, whose body is still to come; close it.

    `headers` have names in lower case.
    """

    def __init__(self, url: str, headers: dict[str, str], timeout_s: float) -> None:
        """Ask for a URL, through the system's proxy if there is one.

        Redirects are not followed, and bodies are not decoded. Raises urllib3's HTTPError, and
        ValueError for a proxy without sense.
        """
        self._pool = _pool(url, timeout_s)
        try:
            self._response = self._pool.request(
                "GET",
                url,
                headers=_HEADERS | headers,
                redirect=False,
                retries=False,
                preload_content=False,
                decode_content=False,
            )
        except BaseException:
            self._pool.clear()
            raise
        self.status = self._response.status
        self.headers = {name.lower(): text for name, text in self._response.headers.items()}

    def read(self) -> bytes:
        """Return the next bytes as they come; none at the end. Raises urllib3's HTTPError."""
        return self._response.read1(_CHUNK_BYTES)

    def wake(self) -> None:
        """Make a `read` on another thread return."""
        # It may be closed already.
        with suppress(OSError, ValueError, RuntimeError):
            self._response.shutdown()

    def close(self) -> None:
        """Close the connection."""
        self._response.close()
        self._pool.clear()


def failure_of(error: Exception) -> tuple[DownloadCode, str]:
    """Return the code of an exception of a `Response`, and its text for a report."""
    match error:
        case exceptions.SSLError(args=(ssl.SSLCertVerificationError(), *_)):
            code = DownloadCode.CERTIFICATE
        case (
            exceptions.ProxyError()
            | exceptions.ProxySchemeUnknown()
            | exceptions.ProxySchemeUnsupported()
            | ValueError()  # of its address: the file's was looked at before
        ):
            code = DownloadCode.PROXY
        case exceptions.NewConnectionError() | exceptions.ConnectTimeoutError():
            code = DownloadCode.NO_CONNECTION
        case exceptions.ReadTimeoutError():
            code = DownloadCode.STALLED
        case exceptions.HTTPError() | OSError():
            code = DownloadCode.DROPPED
        case _:
            code = DownloadCode.WRONG_ANSWER
    return code, f"{type(error).__name__}: {error}"


def _pool(url: str, timeout_s: float) -> urllib3.PoolManager:
    timeout = urllib3.Timeout(connect=timeout_s, read=timeout_s)
    proxy = proxy_to(url)
    if proxy is None:
        return urllib3.PoolManager(timeout=timeout, ssl_context=_context_for(url))
    headers = urllib3.make_headers(proxy_basic_auth=proxy.user) if proxy.user else None
    return urllib3.ProxyManager(
        proxy.url,
        timeout=timeout,
        ssl_context=_context_for(url),
        proxy_ssl_context=_context_for(proxy.url),
        proxy_headers=headers,
    )


def _context_for(url: str) -> ssl.SSLContext | None:
    # Reading a system's certificates takes a while.
    return trusted() if url.startswith("https:") else None
