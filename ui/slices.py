"""Work of the window's thread in slices, between which the window draws and answers."""

import time
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer

# What is begun in this time is done in one turn of the event loop.
_SLICE_S = 0.004


class Slices(QObject):
    """Work that goes on by a slice in each turn of the event loop, until it is over.

    The work is an iterator: it does one piece for each value that it is asked for.
    """

    def __init__(self, work: Iterator[object], parent: QObject) -> None:
        """Begin in the next turn."""
        super().__init__(parent)
        self._work = work
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._go_on)
        self._turns.start()

    def finish(self) -> None:
        """Do the rest at once, if there is any."""
        self._turns.stop()
        for _ in self._work:
            pass

    def stop(self) -> None:
        """Leave the rest undone, if there is any, and delete this."""
        self._turns.stop()
        self.deleteLater()

    def _go_on(self) -> None:
        until = time.perf_counter() + _SLICE_S
        for _ in self._work:
            if time.perf_counter() >= until:
                return
        self._turns.stop()
