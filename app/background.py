"""Runs functions on other threads and delivers their results on the GUI thread."""

import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal

from app.notices.faults import fault

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


class Background(QObject):
    """A pool of threads. Every call's outcome is delivered on the thread this object lives on.

    `failed` carries the ErrorInfo of an exception that a function raised, which is a bug of ours.
    """

    failed = Signal(object)
    _finished = Signal(object, object)

    def __init__(self, threads: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open = True
        # What must be done and has not begun, in order.
        self._owed: deque[Callable[[], None]] = deque()
        # The number of the last look, and by receiver that of the latest look delivered to it.
        self._looks = 0
        self._latest: dict[Callable[[Any], None], int] = {}
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(threads)
        self._finished.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        function: Callable[[], Result],
        then: Callable[[Result], None],
        *,
        must: bool = False,
    ) -> None:
        """Call `function` on another thread, then `then` with its result on this one.

        One that `must` be called, as it writes what a person made, is called at the end at last.
        """

        def call() -> None:
            try:
                result = function()
            except Exception as error:  # noqa: BLE001 (the boundary that reports)
                _log.exception("in the background")
                self._finished.emit(self.failed.emit, fault(error))
                return
            self._finished.emit(then, result)

        def call_next() -> None:
            # Not before another that must be called, whichever thread is the quicker.
            with suppress(IndexError):
                self._owed.popleft()()

        if must and self._open:
            self._owed.append(call)
        if self._open:
            self._pool.start(call_next if must else call)

    def look(self, function: Callable[[], Result], then: Callable[[Result], None]) -> None:
        """Run a function that reads what may change, such as a folder, and is called repeatedly.

        Of two threads the earlier may end later: its older result does not reach `then` any more.
        """
        self._looks += 1
        number = self._looks

        def take(result: Result) -> None:
            if number > self._latest.get(then, 0):
                self._latest[then] = number
                then(result)

        self.run(function, take)

    def close(self) -> None:
        """Wait for the running functions and those that must run; drop the others and results."""
        self._open = False
        self._pool.clear()
        self._pool.waitForDone()
        while self._owed:
            self._owed.popleft()()

    def _deliver(self, then: Callable[[object], None], result: object) -> None:
        if self._open:
            then(result)
