"""Scrolling while something is dragged near an edge."""

from PySide6.QtCore import QPoint, QTimer, Signal
from PySide6.QtWidgets import QScrollArea

# The width of the edge, and the fastest way per turn, in device-independent pixels.
_EDGE, _FASTEST = 48, 24
_TURN_MS = 16


class EdgeScroll(QTimer):
    """Scrolls an area up or down while the pointer is near its upper or lower edge."""

    # Emits the pointer's place on the screen after the area has moved below it.
    scrolled = Signal(QPoint)

    def __init__(self, area: QScrollArea) -> None:
        super().__init__(area, interval=_TURN_MS)
        self._area, self._place = area, QPoint()
        self.timeout.connect(self._turn)

    def follow(self, place: QPoint) -> None:
        """Follow the pointer to a place on the screen."""
        self._place = place
        if self._step():
            if not self.isActive():
                self.start()
        else:
            self.stop()

    def _step(self) -> int:
        """Return how far to go: the nearer to the edge, or beyond it, the farther."""
        view = self._area.viewport()
        y = view.mapFromGlobal(self._place).y()
        above, below = _EDGE - y, y - (view.height() - _EDGE)
        depth = max(above, below, 0)
        step = min(_FASTEST, 1 + depth * _FASTEST // _EDGE) if depth else 0
        return -step if above > below else step

    def _turn(self) -> None:
        bar = self._area.verticalScrollBar()
        before = bar.value()
        bar.setValue(before + self._step())
        if bar.value() == before:
            self.stop()
        else:
            self.scrolled.emit(self._place)
