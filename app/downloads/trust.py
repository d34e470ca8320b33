"""Certificates that are trusted, and the proxy that leads out: those of the system."""

import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import truststore
import urllib3

# Files of certificates that people name for other programs, where a network inspects connections.
_CERTIFICATE_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_AGENT = {"User-Agent": "Safelight", "Accept-Encoding": "identity"}


def request(
    url: str, headers: dict[str, str], timeout_s: float
) -> tuple[urllib3.PoolManager, urllib3.BaseHTTPResponse]:
    """Ask for a URL, through the system's proxy if it has one; return the answer before its body.

    Redirects are not followed, and bodies are not decoded. Whoever calls it clears the pool.
    Raises urllib3's HTTPError, OSError, or ValueError for a proxy's address without sense.
    """
    timeout = urllib3.Timeout(connect=timeout_s, read=timeout_s)
    pool = _pool(url, timeout)
    try:
        answer = pool.request(
            "GET",
            url,
            headers=_AGENT | headers,
            redirect=False,
            retries=False,
            preload_content=False,
            decode_content=False,
        )
    except BaseException:
        pool.clear()
        raise
    return pool, answer


def _pool(url: str, timeout: urllib3.Timeout) -> urllib3.PoolManager:
    parts = urlsplit(url)
    context = _context() if parts.scheme == "https" else None
    proxy = _proxy(parts.scheme, parts.hostname or "")
    if proxy is None:
        return urllib3.PoolManager(timeout=timeout, ssl_context=context)
    found = urlsplit(proxy)
    user = ":".join(map(unquote, filter(None, (found.username, found.password))))
    return urllib3.ProxyManager(
        proxy,
        timeout=timeout,
        ssl_context=context,
        proxy_ssl_context=_context(),
        proxy_headers=urllib3.make_headers(proxy_basic_auth=user) if user else None,
    )


def _proxy(scheme: str, host: str) -> str | None:
    """Return the address of a host's proxy, by the environment, else the system's settings."""
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or host == "127.0.0.1" or proxy_bypass(host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _context() -> ssl.SSLContext:
    """Return a context that trusts what the system trusts.

    Windows and macOS verify chains themselves, with what a company has installed there. On Linux
    the store is found where the distribution keeps it, as our OpenSSL is not the distribution's.
    """
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for file in _named_certificates(os.environ):
        with suppress(OSError):  # ssl.SSLError is one: a file without certificates
            context.load_verify_locations(cafile=file)
    return context


def _named_certificates(environment: Mapping[str, str]) -> Iterator[str]:
    for variable in _CERTIFICATE_FILES:
        file = environment.get(variable)
        if file and Path(file).is_file():
            yield file
