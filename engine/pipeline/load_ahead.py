"""A network that is loaded while another one runs."""

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Event, RLock

from backends.base import Cancellation, Session
from engine.errors import Cancelled
from engine.weights.binding import Report

_REPORT_SECONDS = 0.05


class LoadAhead:
    """A network that is loaded on a thread of its own while another one runs.

    It is the load's own `Cancellation`, set when the job is cancelled or by `discard`.
    """

    def __init__(
        self, load: Callable[[Report, Cancellation], Session], cancel: Cancellation
    ) -> None:
        self._cancel = cancel
        self._unwanted = Event()
        self._lock = RLock()
        self._stops: list[Callable[[], None]] = []
        self._progress = (0, 0)
        self._thread = ThreadPoolExecutor(1, "load ahead")
        self._session = self._thread.submit(load, self._note, self)

    def is_set(self) -> bool:
        """True if the load has to stop."""
        return self._unwanted.is_set() or self._cancel.is_set()

    @contextmanager
    def calling(self, stop: Callable[[], None]) -> Generator[None]:
        """Have `stop` called if the job is cancelled or `discard` is called within the block."""
        with self._lock:
            self._stops.append(stop)
            if self._unwanted.is_set():
                stop()
        try:
            with self._cancel.calling(stop):
                yield
        finally:
            with self._lock:
                self._stops.remove(stop)

    def wait(self, report: Report) -> Session:
        """Wait for the load and return its session; calls `report` on the caller's thread.

        Raises Cancelled, and the errors of the load.
        """
        done = False
        while not done:
            done = bool(wait({self._session}, _REPORT_SECONDS).done)
            if self._progress[1]:
                report(*self._progress)
        if self._cancel.is_set():  # after it was loaded, perhaps
            self.discard()
            raise Cancelled
        self._thread.shutdown()
        return self._session.result()

    def discard(self) -> None:
        """Stop the load, and free its session if it was finished."""
        with self._lock:
            self._unwanted.set()
            for stop in self._stops:
                stop()
        self._thread.shutdown()
        if self._session.exception() is None:
            self._session.result().close()

    def _note(self, done: int, total: int) -> None:
        self._progress = (done, total)
