"""Work of the window's thread in slices, between which the window draws and answers."""

import time
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer

# What is begun in this time is done in one turn of the event loop.
_SLICE_S = 0.004


class Slices(QObject):
    """Work that goes on by a slice in each turn of the event loop, and is deleted when it is over.

    The work is an iterator: it does one piece for each value that it is asked for.
    """

    def __init__(self, work: Iterator[object], parent: QObject) -> None:
        """Begin in the next turn."""
        super().__init__(parent)
        self._work, self._is_over = work, False
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._go_on)
        self._turns.start()

    def finish(self) -> None:
        """Do the rest at once, if there is any."""
        for _ in self._work:
            pass
        self.stop()

    def stop(self) -> None:
        """Leave the rest undone, if there is any."""
        if not self._is_over:
            self._is_over = True
            self._turns.stop()
            self.deleteLater()

    def rest(self, *, rests: bool) -> None:
        """Pause, or go on in the next turn, if there is anything left."""
        if self._is_over:
            return
        if rests:
            self._turns.stop()
        else:
            self._turns.start()

    def _go_on(self) -> None:
        until = time.perf_counter() + _SLICE_S
        for _ in self._work:
            if time.perf_counter() >= until:
                return
        self.stop()
