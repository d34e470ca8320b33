"""The precedence of searches, for which a person waits, over work that nobody waits for."""

import time
from threading import Event

# So long at most does work give way at once: a search may take long, or never be answered.
_MOST_S = 0.3


class Precedence:
    """The right of way: searches begin and end it, scans and thumbnails ask between small steps.

    Python runs one thread at a time: beside a scan that never pauses, a search takes twice as long.
    """

    def __init__(self) -> None:
        self._over = Event()
        # The moment of `time.monotonic` from which nothing waits for the search any more.
        self._until = 0.0

    @property
    def is_taken(self) -> bool:
        """True while other work gives way."""
        return self._until > time.monotonic()

    def begin(self) -> None:
        """Have other work give way until `end`, or for 0.3 s."""
        self._over.clear()
        self._until = time.monotonic() + _MOST_S

    def end(self) -> None:
        """Let other work go on."""
        self._until = 0.0
        self._over.set()

    def give_way(self) -> None:
        """Wait while a search is under way, for 0.3 s at most; takes no time otherwise.

        Not to be called in a transaction that writes, for which others would wait.
        """
        if self._until and (left := self._until - time.monotonic()) > 0:
            self._over.wait(left)
