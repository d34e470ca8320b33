"""Work of the window's thread in turns of the event loop, between which the window answers."""

import time
from collections import deque
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer

# The time that work takes in one turn.
TURN_S = 0.004


class Turns(QObject):
    """Pieces of work in the order in which they were asked for: few at once, many in turns."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._work: deque[Iterator[object]] = deque()
        self._next = QTimer(self, singleShot=True, interval=0)
        self._next.timeout.connect(self._go_on)

    def run(self, work: Iterator[object]) -> None:
        """Do work behind all other: an iterator, which does a piece for each value."""
        self._work.append(work)
        if not self._next.isActive():
            self._go_on()

    def finish(self) -> None:
        """Do the rest at once, if there is any."""
        self._next.stop()
        while self._work:
            for _ in self._work.popleft():
                pass

    def _go_on(self) -> None:
        until = time.perf_counter() + TURN_S
        while self._work:
            for _ in self._work[0]:
                if time.perf_counter() >= until:
                    self._next.start()
                    return
            self._work.popleft()
