"""Runs functions on other threads and delivers their results on the GUI thread."""

import logging
from collections import deque
from collections.abc import Callable
from functools import partial
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from PySide6.QtCore import QObject, Qt, QThreadPool, QTimer, Signal

from app.notices.faults import fault
from engine.api.values import ErrorInfo

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


# In milliseconds. Whoever holds a thread for longer waits for a drive that sleeps or is lost.
_PATIENCE_MS = 2000
# The threads beside those of a pool, while they wait for such drives: several may be lost at once.
_MOST_BESIDE = 16


class _Call(NamedTuple):
    """A function for another thread, and what is called with its outcome on this one."""

    function: Callable[[], Any]
    then: Callable[[Any], None]
    otherwise: Callable[[], None] | None


class Background(QObject):
    """A pool of threads. Every call's outcome is delivered on the thread this object lives on.

    Where calls need no order, a thread that is held for long is replaced, so that a drive that does
    not answer keeps only those waiting who ask it. A pool of one thread keeps their order.

    `failed` carries the ErrorInfo of an exception that a function raised, which is a bug of ours.
    """

    failed = Signal(object)
    # The number of a call, its result, and the ErrorInfo of what it raised.
    _finished = Signal(int, object, object)

    def __init__(self, threads: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open = True
        # The calls whose outcome was not delivered, by number. Threads hold nothing of a call as it
        # is delivered, or an object of Qt that only the call holds could end on theirs.
        self._calls: dict[int, _Call] = {}
        self._number = 0
        # What must be done and has not begun, in order, and the right to do the next of it.
        self._owed: deque[int] = deque()
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
        if not self._open:
            return
        self._number += 1
        self._calls[self._number] = _Call(function, then, otherwise)
        if must:
            self._owed.append(self._number)
        call = self._call_owed if must else partial(self._call, self._number)
        self._pool.start(partial(self._timed, call))
        if self._threads > 1 and not self._watch.isActive():
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
            self._call(self._owed.popleft())
        self._calls.clear()

    def _call(self, number: int) -> None:
        result, error = None, None
        try:
            result = self._calls[number].function()
        except Exception as raised:  # noqa: BLE001 (the boundary that reports)
            _log.exception("in the background")
            error = fault(raised)
        self._finished.emit(number, result, error)

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
                    self._call(self._owed.popleft())
            finally:
                self._turn.release()

    def _deliver(self, number: int, result: object, error: ErrorInfo | None) -> None:
        if not self._open:
            return
        call = self._calls.pop(number)
        if error is None:
            call.then(result)
            return
        self.failed.emit(error)
        if call.otherwise is not None:
            call.otherwise()
