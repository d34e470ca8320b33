"""The peak of this process's private memory, by sampling."""

from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Self

_INTERVAL_S = 0.02


class PeakMemory:
    """Samples private memory on a thread of its own while the block runs.

    `peak` is the highest sample in bytes. `read` returns the bytes held now, or None where the
    system does not report them; then `peak` is None.
    """

    def __init__(self, read: Callable[[], int | None]) -> None:
        self.peak: int | None = None
        self._read = read
        self._stop = Event()
        self._thread = Thread(target=self._sample, name="memory-peak", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while (held := self._read()) is not None:
            self.peak = max(self.peak or 0, held)
            if self._stop.wait(_INTERVAL_S):
                return
