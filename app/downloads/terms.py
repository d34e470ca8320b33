"""Terms of a download: its patience with servers, and what may be asked without encryption."""

from collections.abc import Callable

import msgspec

from app.downloads.source import host_of


def _no_key(_host: str) -> str:
    """Return no key of a person for a host."""
    return ""


def _nobody(_host: str) -> None:
    """Take a host that nobody wants to know of."""


class Terms(msgspec.Struct, frozen=True):
    """Times to wait for servers, in seconds, and the number of times they are asked again.

    `tries` counts failures in a row, without a byte in between, at one address. The wait after each
    doubles from `first_wait_s` up to `longest_wait_s`; a server that asks for a longer one than
    `longest_retry_after_s` is given up. `loopback_http` allows http:// to 127.0.0.1.
    `key_of` returns a person's own key for a host, empty without one.
    """

    stall_s: float = 30.0
    tries: int = 5
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    longest_retry_after_s: float = 300.0
    loopback_http: bool = False
    # Gets every host before it is asked.
    contacted: Callable[[str], None] = _nobody
    key_of: Callable[[str], str] = _no_key

    def headers_for(self, url: str) -> dict[str, str]:
        """Return the headers that carry a person's key to the host of a URL, and to no other."""
        key = self.key_of(host_of(url))
        return {"Authorization": f"Bearer {key}"} if key else {}

    def wait_s(self, failures: int) -> float:
        """Return the wait after so many failures in a row, from 1 on."""
        return min(self.first_wait_s * 2.0 ** (failures - 1), self.longest_wait_s)


USUAL_TERMS = Terms()
