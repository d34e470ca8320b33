"""Detects periods in which the GUI thread handles no events, and records its stack."""

import sys
import threading
import time
import traceback
from itertools import islice
from types import FrameType

import msgspec
from PySide6.QtCore import QObject, Qt, QTimer

# The time of a frame at sixty frames per second.
LONG_S = 0.016
_BEAT_MS = 5
_SAMPLE_S = 0.004
_FRAMES = 12


class Stall(msgspec.Struct, frozen=True):
    """A period in which no event was handled.

    `cpu_seconds` is the thread's processor time in it: if it is much less than `seconds`, another
    process had the processor, or the thread waited. `stack` is the thread's stack, outermost call
    first.
    """

    seconds: float
    cpu_seconds: float
    stack: tuple[str, ...]


class StallWatch(QObject):
    """A timer that beats on the GUI thread, and a thread that notices missing beats.

    `busiest_s` is the thread's most processor time between two beats, unaffected by other
    processes.
    """

    def __init__(self, long_s: float = LONG_S, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.stalls: list[Stall] = []
        self.busiest_s = 0.0
        self._long_s = long_s
        self._thread_id = threading.get_ident()
        self._beat = time.perf_counter()
        self._cpu = time.thread_time()
        self._stack: tuple[str, ...] = ()
        self._stopped = threading.Event()
        self._timer = QTimer(self, interval=_BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_beat)
        self._watcher = threading.Thread(target=self._watch, name="stall watch", daemon=True)

    def start(self) -> None:
        """Start watching; must be called on the thread to watch."""
        self._beat, self._cpu = time.perf_counter(), time.thread_time()
        self._timer.start()
        self._watcher.start()

    def stop(self) -> list[Stall]:
        """Stop watching and return the stalls, longest first."""
        self._timer.stop()
        self._stopped.set()
        self._watcher.join()
        return sorted(self.stalls, key=lambda stall: -stall.seconds)

    def _on_beat(self) -> None:
        now, cpu = time.perf_counter(), time.thread_time()
        late = now - self._beat - _BEAT_MS / 1000
        if late > self._long_s:
            self.stalls.append(Stall(late, cpu - self._cpu, self._stack))
        self.busiest_s = max(self.busiest_s, cpu - self._cpu)
        self._beat, self._cpu, self._stack = now, cpu, ()

    def _watch(self) -> None:
        while not self._stopped.wait(_SAMPLE_S):
            if not self._stack and time.perf_counter() - self._beat > self._long_s:
                frame = sys._current_frames().get(self._thread_id)  # pyright: ignore[reportPrivateUsage]
                self._stack = _innermost(frame)


def _innermost(frame: FrameType | None) -> tuple[str, ...]:
    """Return the innermost calls, the innermost last.

    No source line is read: for that the busy thread would have to give way many times.
    """
    calls = islice(traceback.walk_stack(frame), _FRAMES)
    found = [f"{at.f_code.co_filename}:{line} {at.f_code.co_name}" for at, line in calls]
    return tuple(reversed(found))
