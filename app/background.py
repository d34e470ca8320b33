"""Runs functions on other threads and delivers their results on the GUI thread."""

import logging
from collections.abc import Callable
from typing import TypeVar

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
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(threads)
        self._finished.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(self, function: Callable[[], Result], then: Callable[[Result], None]) -> None:
        """Call `function` on another thread, then `then` with its result on this one."""

        def call() -> None:
            try:
                result = function()
            except Exception as error:  # noqa: BLE001 (the boundary that reports)
                _log.exception("in the background")
                self._finished.emit(self.failed.emit, fault(error))
                return
            self._finished.emit(then, result)

        if self._open:
            self._pool.start(call)

    def close(self) -> None:
        """Wait for the running functions, drop their results, and start no more."""
        self._open = False
        self._pool.clear()
        self._pool.waitForDone()

    def _deliver(self, then: Callable[[object], None], result: object) -> None:
        if self._open:
            then(result)
