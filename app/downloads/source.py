"""A file to download: its addresses, name, size and hash, and the hosts that may be asked."""

import re
from urllib.parse import urlsplit

import msgspec

from app.downloads.file_names import safe_file_name

_SHA256 = re.compile(r"[0-9a-f]{64}")
# What a URL consists of; anything else is percent-encoded in it.
_URL = re.compile(r"[!#-;=?-Z\[\]_a-z~]+")


class Source(msgspec.Struct, frozen=True):
    """A file that can be downloaded.

    `url` is tried first, then each of `mirrors`. `size` is in bytes, `sha256` in lower-case hex;
    empty where nobody states it: then only the size is compared.
    Servers may redirect to the hosts of these addresses and to `redirect_hosts`.
    """

    url: str
    mirrors: tuple[str, ...]
    file_name: str
    size: int
    sha256: str
    redirect_hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError unless each field is sound, whoever wrote it."""
        for url in self.urls:
            host_of(url)
        if safe_file_name(self.file_name) != self.file_name:
            raise ValueError(f"{self.file_name!r} is no safe name of a file")
        if self.size < 0 or (self.sha256 and not _SHA256.fullmatch(self.sha256)):
            raise ValueError(f"{self.file_name} has no size and SHA-256")

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses, in the order in which they are tried."""
        return (self.url, *self.mirrors)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that may be connected to, to be shown before the download begins."""
        return tuple(dict.fromkeys((*map(host_of, self.urls), *self.redirect_hosts)))


def host_of(url: str) -> str:
    """Return a URL's host in lower case.

    Raises ValueError for a URL that is not of a web server, or that carries a user or a password.
    """
    if not _URL.fullmatch(url):
        raise ValueError(f"{url!r} is no web address")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError(f"{url!r} is no web address")
    _ = parts.port  # raises ValueError for one that is no number
    return parts.hostname
