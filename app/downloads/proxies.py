"""The proxy that leads to a host, by the environment, else by the system's settings."""

from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

_LOOPBACK = "127.0.0.1"


class Proxy(msgspec.Struct, frozen=True):
    """A proxy's URL, and what it is told of its user, as `name:password`; empty if nothing."""

    url: str
    user: str


def proxy_to(url: str) -> Proxy | None:
    """Return the proxy for a URL; None for a direct connection.

    HTTPS_PROXY, ALL_PROXY and NO_PROXY come first, then the settings of Windows and macOS. Scripts
    that choose a proxy are not run.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if not named or host == _LOOPBACK or proxy_bypass(host):
        return None
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    place = proxy.netloc.rpartition("@")[2]
    user = proxy.username or ""
    password = f":{unquote(proxy.password)}" if proxy.password else ":"
    return Proxy(
        url=urlunsplit((proxy.scheme, place, "", "", "")),
        user=f"{unquote(user)}{password}" if user else "",
    )
