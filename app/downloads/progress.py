"""Progress of one entry of the list: its bytes and its speed, told a few times a second."""

import time
from collections import deque
from collections.abc import Callable

import msgspec

from app.downloads.entries import DownloadState

_TOLD_EVERY_S = 0.2
_WINDOW_S = 5.0


class Reached(msgspec.Struct, frozen=True):
    """A point that a download has reached."""

    state: DownloadState
    bytes_done: int
    bytes_per_second: float


class Progress:
    """Tells how far a download has come. Its clock is a steady one, which nobody sets."""

    def __init__(
        self, tell: Callable[[Reached], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell, self._clock = tell, clock
        self._of_whole_files = 0
        self._state = DownloadState.RUNNING
        self._count = 0
        self._told_at = float("-inf")
        # Times and numbers of bytes in the last seconds.
        self._counts: deque[tuple[float, int]] = deque()

    def on_bytes(self, count: int) -> None:
        """Note the number of bytes of the present file that are here."""
        begins = self._state is DownloadState.VERIFYING
        self._state = DownloadState.RUNNING
        self._count = self._of_whole_files + count
        if begins:
            self._counts.clear()
            self._told_at = float("-inf")
        self.on_time()

    def on_verifying(self) -> None:
        """Note that bytes of an earlier time are read from the disk, which is no download."""
        self._state = DownloadState.VERIFYING
        self._tell(Reached(self._state, self._count, 0.0))

    def on_whole_file(self, size: int) -> None:
        """Note that a file is here, and that the next one begins."""
        self._of_whole_files += size

    def on_time(self) -> None:
        """Tell the progress unless it was told just now; the speed falls while no byte comes."""
        now = self._clock()
        if self._state is DownloadState.RUNNING and now - self._told_at >= _TOLD_EVERY_S:
            self._told_at = now
            self._tell(Reached(self._state, self._count, self._speed(now)))

    def _speed(self, now: float) -> float:
        """Return the bytes per second of the last seconds."""
        counts = self._counts
        if counts and self._count < counts[-1][1]:
            counts.clear()  # the file began anew
        counts.append((now, self._count))
        while now - counts[0][0] > _WINDOW_S:
            counts.popleft()
        since, before = counts[0]
        return (self._count - before) / (now - since) if now > since else 0.0
