"""Python's garbage, collected on the window's thread and on no other.

Python collects on whichever thread makes one object too many. Where only a cycle kept an object of
Qt, that thread would delete it, whose timers and sockets belong to another: Qt warns, or crashes.
"""

import gc
import time

from PySide6.QtCore import QObject, QTimer

_LOOK_MS = 500
# What was made is gone through once it is so many objects, as by Python's own rule, or at rest.
_YOUNG = 700
# Each so many times, what earlier ones left is gone through again.
_MIDDLE_EVERY = 10
# Once so many are left, all is gone through: at rest, or whatever happens.
_GROWN_AT_REST, _GROWN = 2_000, 20_000
# The thread is at rest if it used less of the processor in each of so many looks.
_RESTING_S, _RESTS = 0.01, 3


class GarbageCollection(QObject):
    """Collects garbage on the thread that it is made on, which Python itself does no longer.

    It looks for some every `look_ms` milliseconds. What was made lately is gone through at once: a
    millisecond. All that `gc.freeze` does not spare takes some 10 ms for each 20,000 objects, and
    waits for a moment when nothing is done, unless much has come.
    """

    def __init__(self, parent: QObject, look_ms: int = _LOOK_MS) -> None:
        super().__init__(parent)
        gc.disable()
        self._grown = self._young_times = self._rests = 0
        self._used = time.thread_time()
        timer = QTimer(self, interval=look_ms)
        timer.timeout.connect(self._look)
        timer.start()

    def _look(self) -> None:
        used = time.thread_time()
        self._rests = self._rests + 1 if used - self._used < _RESTING_S else 0
        is_at_rest = self._rests >= _RESTS
        if is_at_rest or gc.get_count()[0] >= _YOUNG:
            self._collect_young()
        if self._grown >= (_GROWN_AT_REST if is_at_rest else _GROWN):
            gc.collect()
            self._grown = 0
        self._used = time.thread_time()

    def _collect_young(self) -> None:
        self._young_times += 1
        is_for_middle = self._young_times % _MIDDLE_EVERY == 0
        # Those that were made since the last time, without as many as were deleted.
        made = gc.get_count()[0]
        self._grown += made - gc.collect(1 if is_for_middle else 0)
