"""Terms of a download: its patience with servers, and what may be asked without encryption."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Terms:
    """Times to wait for servers, in seconds, and the number of times they are asked again.

    `tries` counts failures in a row, without a byte in between, at one address. The wait after each
    doubles from `first_wait_s` up to `longest_wait_s`; a server that asks for a longer one than
    `longest_retry_after_s` is given up. `loopback_http` allows http:// to 127.0.0.1.
    """

    stall_s: float = 30.0
    tries: int = 5
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    longest_retry_after_s: float = 300.0
    loopback_http: bool = False

    def wait_s(self, failures: int) -> float:
        """Return the wait after so many failures in a row, from 1 on."""
        return min(self.first_wait_s * 2.0 ** (failures - 1), self.longest_wait_s)


USUAL_TERMS = Terms()
