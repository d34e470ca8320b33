"""The token by which any thread asks running work to stop."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, RLock


class CancelToken:
    """A flag that any thread sets once; satisfies `backends.base.Cancellation`."""

    def __init__(self) -> None:
        self._event = Event()
        self._lock = RLock()
        self._stops: list[Callable[[], None]] = []

    def is_set(self) -> bool:
        """True once `cancel` was called."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Set the flag for later work, and call the `stop` functions of running work at once."""
        # Under the lock, so that no block is left, and nothing closed, while its `stop` is called.
        with self._lock:
            self._event.set()
            stops, self._stops = self._stops, []
            for stop in stops:
                stop()

    @contextmanager
    def calling(self, stop: Callable[[], None]) -> Generator[None]:
        """Have `cancel` call `stop` during the block; call it at once if the flag is set."""
        with self._lock:
            already = self._event.is_set()
            if not already:
                self._stops.append(stop)
        if already:
            stop()
        try:
            yield
        finally:
            with self._lock:
                if stop in self._stops:
                    self._stops.remove(stop)
