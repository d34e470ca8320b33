"""Runs functions on other threads and delivers their results on the GUI thread."""

import logging
from collections import deque
from collections.abc import Callable
from functools import partial
from threading import Lock
from time import monotonic
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, QThreadPool, QTimer, Signal

from app.notices.faults import fault
from engine.api.values import ErrorInfo

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


# In milliseconds. Whoever holds a thread for longer waits for a drive that sleeps or is lost.
_PATIENCE_MS = 2000
# The threads beside those of a pool, while they wait for such drives: several may be lost at once.
_MOST_BESIDE = 16


class Background(QObject):
    """A pool of threads. Every call's outcome is delivered on the thread this object lives on.

    Where calls need no order, a thread that is held for long is replaced, so that a drive that does
    not answer keeps only those waiting who ask it. A pool of one thread keeps their order.

    `failed` carries the ErrorInfo of an exception that a function raised, which is a bug of ours.
    """

    failed = Signal(object)
    _finished = Signal(object, object)

    def __init__(self, threads: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open = True
        # What must be done and has not begun, in order, and the right to do the next of it.
        self._owed: deque[Callable[[], None]] = deque()
        self._turn = Lock()
        # The number of the last look, and by subject that of the latest look delivered.
        self._looks = 0
        self._latest: dict[object, int] = {}
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(threads)
        self._threads = threads
        # The moments at which the calls that are running began.
        self._begun: dict[object, float] = {}
        self._watch = QTimer(self, interval=_PATIENCE_MS // 2)
        self._watch.timeout.connect(self._replace_held)
        self._finished.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        function: Callable[[], Result],
        then: Callable[[Result], None],
        *,
        must: bool = False,
        otherwise: Callable[[], None] | None = None,
    ) -> None:
        """Call `function` on another thread, then `then` with its result on this one.

        One that `must` be called, as it writes what a person made, is called at the end at last,
        and not before an earlier one has ended. `otherwise` is called in place of `then` where a
        bug of ours ended the function: whoever waits for the result waits no more.
        """

        def fail(error: ErrorInfo) -> None:
            self.failed.emit(error)
            if otherwise is not None:
                otherwise()

        def call() -> None:
            try:
                result = function()
            except Exception as error:  # noqa: BLE001 (the boundary that reports)
                _log.exception("in the background")
                self._finished.emit(fail, fault(error))
                return
            self._finished.emit(then, result)

        if must and self._open:
            self._owed.append(call)
        if self._open:
            self._pool.start(partial(self._timed, self._call_owed if must else call))
        if self._open and self._threads > 1 and not self._watch.isActive():
            self._watch.start()

    def look(
        self,
        function: Callable[[], Result],
        then: Callable[[Result], None],
        about: object = None,
    ) -> None:
        """Run a function that reads what may change, such as a folder, and is called repeatedly.

        Of two threads the earlier may end later: its older result does not reach `then` any more.
        Looks are `about` what they read; by default those of one `then` are about the same.
        """
        subject = then if about is None else about
        self._looks += 1
        number = self._looks

        def take(result: Result) -> None:
            if number > self._latest.get(subject, 0):
                self._latest[subject] = number
                then(result)

        self.run(function, take)

    def close(self) -> None:
        """Wait for the running functions and those that must run; drop the others and results."""
        self._open = False
        self._watch.stop()
        self._pool.clear()
        self._pool.waitForDone()
        while self._owed:
            self._owed.popleft()()

    def _timed(self, call: Callable[[], None]) -> None:
        key = object()
        self._begun[key] = monotonic()
        try:
            call()
        finally:
            del self._begun[key]

    def _replace_held(self) -> None:
        """Have as many threads as there should be beside those that are held for long."""
        now = monotonic()
        held = sum(now - begun > _PATIENCE_MS / 1000 for begun in tuple(self._begun.values()))
        self._pool.setMaxThreadCount(self._threads + min(held, _MOST_BESIDE))
        if not self._pool.activeThreadCount():
            self._watch.stop()

    def _call_owed(self) -> None:
        """Do what is owed; a second thread leaves it to the first, which looks again at the end."""
        while self._owed and self._turn.acquire(blocking=False):
            try:
                # Another thread may have done the last of it since.
                if self._owed:
                    self._owed.popleft()()
            finally:
                self._turn.release()

    def _deliver(self, then: Callable[[object], None], result: object) -> None:
        if self._open:
            then(result)
