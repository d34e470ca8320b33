"""The watch within the application: what its thread does for long, what fails, how it grows.

A turn of the event loop is measured by the thread's own processor time, which other programs on the
machine do not lengthen. A thread that waits, for a disk or another thread, uses none of it; that
time is the turn's, without the processor's and without the system's queue for the processor: that
of this thread, and that of the others which it may wait for.
"""

import gc
import linecache
import logging
import os
import resource
import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractEventDispatcher, QObject, QTimer
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QApplication

import app.logs
from tests.monkey.disorder import children
from tests.monkey.heap import heap_mb
from tests.monkey.records import FIGURES, FINDINGS, Figures, Finding, Record

STALL_MS = 50.0
_SAMPLE_S = 0.01
_FRAMES = 14
_SAMPLES = 3
_FIGURES_MS = 5000
# So many objects of a type are worth a line.
_MANY = 20
_LONG_S = 60.0
# A thread that waits there waits for events.
_EXEC = "exec("


class Watch(QObject):
    """Writes findings and figures into a folder, from the thread that it is made on."""

    def __init__(self, folder: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._findings = Record(folder / FINDINGS)
        self._figures = Record(folder / FIGURES)
        self.rests = 0
        self._thread = threading.get_ident()
        self._turn, self._usage = _Clock.now(), _usage()
        self._stacks: list[tuple[str, ...]] = []
        self._collecting = 0.0
        self._collected_ms = 0.0
        gc.callbacks.append(self._on_collection)
        # What leaves an event handler is logged by the application itself.
        threading.excepthook = self._on_thread_exception
        sys.unraisablehook = self._on_unraisable
        logging.getLogger().addHandler(_Complaints(self))
        dispatcher = QAbstractEventDispatcher.instance()
        # Before and after events are handled, which of them depends on the dispatcher.
        dispatcher.awake.connect(self._on_turn)
        dispatcher.aboutToBlock.connect(self._on_turn)
        timer = QTimer(self, interval=_FIGURES_MS)
        timer.timeout.connect(self.note)
        timer.start()
        threading.Thread(target=self._sample, name="monkey's watch", daemon=True).start()

    def add(self, kind: str, text: str, stack: tuple[str, ...] = (), ms: float = 0.0) -> None:
        """Write a finding down."""
        self._findings.add(Finding(at=time.time(), kind=kind, text=text, ms=ms, stack=stack))

    def excuse(self) -> None:
        """Forget this turn so far: it was the probe's."""
        self._turn, self._usage = _Clock.now(), _usage()
        self._stacks, self._collected_ms = [], 0.0

    def note(self, *, rests: bool = False) -> None:
        """Write the figures down."""
        sizes = dict(
            line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines()
        )
        self._figures.add(
            Figures(
                at=time.time(),
                resident_mb=int(sizes["VmRSS"].split()[0]) / 1024,
                anonymous_mb=int(sizes["RssAnon"].split()[0]) / 1024,
                handles=len(os.listdir("/proc/self/fd")),  # noqa: PTH208 (names only)
                threads=int(sizes["Threads"]),
                rests=rests,
                **(_census() if rests else {}),
            )
        )
        if rests:
            self.rests += 1
            self.excuse()

    def _on_turn(self) -> None:
        """Judge the turn that ends here, where the next one begins."""
        used, _ = _Clock.now().since(self._turn)
        if used > STALL_MS:
            focus = QApplication.focusWidget()
            text = f"focus in {type(focus).__name__}"
            if self._collected_ms > 1:
                text += f", collected garbage for {self._collected_ms:.0f} ms"
            now, before = _usage(), self._usage
            system_ms = (now.ru_stime - before.ru_stime) * 1000
            preempted = now.ru_nivcsw - before.ru_nivcsw
            text += f", {system_ms:.0f} ms of it in the system, preempted {preempted} times"
            stacks = tuple(line for stack in self._stacks for line in ("--", *stack))
            self.add("stall", text, stacks, used)
        self.excuse()

    def _sample(self) -> None:
        """Keep the stacks of a turn that is long already, and tell of one that waits."""
        clock = time.pthread_getcpuclockid(self._thread)
        wait: _Wait | None = None
        while True:
            time.sleep(_SAMPLE_S)
            turn, stacks = self._turn, self._stacks
            now = _Clock(time.monotonic(), time.clock_gettime(clock), _queued())
            used, waited = now.since(turn)
            # From the second half on: the first is as much to blame as what exceeds the limit.
            if used > STALL_MS / 2 and len(stacks) < _SAMPLES:
                stacks.append(_lines(self._stack()))
            if waited < STALL_MS / 2 or self._waits_for_events():
                wait = None
            elif wait is None or wait.turn is not turn:
                wait = _Wait(turn, now)
            elif (ms := wait.until(now)) > STALL_MS:
                self.add("held_up", "", ("--", *_lines(self._stack())), ms)
                wait.is_told = True

    def _waits_for_events(self) -> bool:
        frame = sys._current_frames().get(self._thread)  # pyright: ignore[reportPrivateUsage]
        if frame is None:
            return True
        return _EXEC in linecache.getline(frame.f_code.co_filename, frame.f_lineno or 0)

    def _stack(self) -> traceback.StackSummary:
        frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
        return traceback.extract_stack(frames.get(self._thread))

    def _on_collection(self, phase: str, _info: dict[str, int]) -> None:
        if threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._collecting = time.thread_time()
        else:
            self._collected_ms += (time.thread_time() - self._collecting) * 1000

    def _on_thread_exception(self, told: threading.ExceptHookArgs) -> None:
        if told.exc_value is not None:
            self._tell(told.exc_value)
        threading.__excepthook__(told)

    def _on_unraisable(self, told: "sys.UnraisableHookArgs") -> None:
        if told.exc_value is not None:
            self._tell(told.exc_value)
        sys.__unraisablehook__(told)

    def _tell(self, error: BaseException) -> None:
        self.add("traceback", repr(error), _lines(traceback.extract_tb(error.__traceback__)))


def _census() -> dict[str, Any]:
    """Return the figures of `Figures` about what Python holds: to be seen at rest only."""
    # Other threads wait: one that goes on while its unfinished tuple is held here as an object
    # fails (`_PyTuple_Resize` refuses a tuple that somebody else refers to).
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_LONG_S)
    try:
        return _counted()
    finally:
        sys.setswitchinterval(interval)


def _counted() -> dict[str, Any]:
    gc.collect()
    objects = gc.get_objects()
    widgets = QApplication.allWidgets()
    kinds = Counter(f"{type(held).__module__}.{type(held).__qualname__}" for held in objects)
    kinds.update(f"widget {widget.metaObject().className()}" for widget in widgets)
    images = {held.cacheKey(): held.sizeInBytes() for held in objects if isinstance(held, QImage)}
    for held in objects:
        if isinstance(held, QPixmap):
            images[held.cacheKey()] = held.width() * held.height() * held.depth() // 8
    used, free = heap_mb()
    return {
        "heap_mb": used,
        "heap_free_mb": free,
        "blocks": sys.getallocatedblocks(),
        "widgets": len(widgets),
        "objects": len(objects),
        "images_mb": sum(images.values()) / 2**20,
        "kinds": {name: count for name, count in kinds.items() if count >= _MANY},
    }


class _Complaints(logging.Handler):
    """Writes down what was logged as an error, and every warning of Qt's."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(logging.WARNING)
        self._watch = watch

    def emit(self, record: logging.LogRecord) -> None:
        is_qt = record.name == "qt"
        if is_qt or record.levelno >= logging.ERROR or record.exc_info:
            kind = "traceback" if record.exc_info else "warning"
            error = record.exc_info[1] if record.exc_info else None
            trace = traceback.extract_tb(error.__traceback__) if error else _callers()
            stack = _lines(trace)
            text = f"{record.name}: {record.getMessage()}"
            self._watch.add(kind, f"{text}: {error!r}" if error else text, stack)


class _Clock:
    """A thread's clocks at a time: in seconds, the queue for the processor too."""

    __slots__ = ("processor", "queued", "wall")

    def __init__(self, wall: float, processor: float, queued: float) -> None:
        self.wall, self.processor, self.queued = wall, processor, queued

    @classmethod
    def now(cls) -> "_Clock":
        """Return the clocks of the thread that asks."""
        return cls(time.monotonic(), time.thread_time(), _queued())

    def since(self, earlier: "_Clock") -> tuple[float, float]:
        """Return the milliseconds that the thread used the processor, and that it waited."""
        used = self.processor - earlier.processor
        waited = self.wall - earlier.wall - used - (self.queued - earlier.queued)
        return used * 1000, waited * 1000


class _Wait:
    """A turn that waits for something else than events, as far as it was seen."""

    def __init__(self, turn: _Clock, now: _Clock) -> None:
        self.turn, self._since, self._others = turn, now, _queued_others()
        self.is_told = False

    def until(self, now: _Clock) -> float:
        """Return the milliseconds that no other thread's queue explains; 0 once they were told."""
        _, waited = now.since(self._since)
        if self.is_told or waited <= STALL_MS:
            return 0.0
        return waited - (_queued_others() - self._others) * 1000


def _usage() -> resource.struct_rusage:
    return resource.getrusage(resource.RUSAGE_THREAD)


_STATISTICS = os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)


def _queued() -> float:
    """Return the seconds that the window's thread was ready to run but did not."""
    return int(os.pread(_STATISTICS, 100, 0).split()[1]) / 1e9


def _queued_others() -> float:
    """Return the seconds that others which the window waits for were ready but did not run.

    They are the other threads of the application, and what the monkey started beside it: the
    display server, which answers many a call of Qt.
    """
    own = [Path(task.path) for task in os.scandir("/proc/self/task")]
    beside = [Path(f"/proc/{pid}") for pid in children(os.getppid()) if pid != os.getpid()]
    total = 0.0
    for task in (*own, *beside):
        # It may end meanwhile.
        with suppress(OSError):
            total += int((task / "schedstat").read_text().split()[1]) / 1e9
    return total - _queued()


def _callers() -> traceback.StackSummary:
    """Return who had something logged, without the frames of logging."""
    ours = (logging.__file__, app.logs.__file__, __file__)
    frames = (frame for frame in traceback.extract_stack() if frame.filename not in ours)
    return traceback.StackSummary.from_list(list(frames))


def _lines(summary: traceback.StackSummary) -> tuple[str, ...]:
    return tuple(f"{Path(at.filename).name}:{at.lineno} {at.name}" for at in summary[-_FRAMES:])
