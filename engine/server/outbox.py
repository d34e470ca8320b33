"""Events on their way to the app."""

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from itertools import count
from threading import Condition, Thread
from typing import Protocol

from engine.api.messages import Event, JobPreview
from engine.api.wire import encode

# A day of progress events; a slow reader holds up the job only beyond that.
MAX_PENDING_BYTES = 16 << 20


class Put(Protocol):
    """The signature of `Outbox.put`, which sends an event."""

    def __call__(self, event: Event, payload: bytes = b"", *, wait: bool = True) -> None:
        """Send an event with its payload; see `Outbox.put`."""
        ...


class Outbox:
    """Writes events in order, on a thread of its own.

    At most one preview of a job waits: a newer one replaces it, at the end of the queue. No other
    event is dropped. Any thread may use it.
    """

    def __init__(
        self, descriptor: int, gone: Callable[[], None], limit_bytes: int = MAX_PENDING_BYTES
    ) -> None:
        """`gone` is called once, on the writing thread, when nobody reads any more."""
        self._descriptor, self._gone, self._limit = descriptor, gone, limit_bytes
        self._changed = Condition()
        self._waiting: OrderedDict[Hashable, bytes] = OrderedDict()
        self._numbers = count()
        self._pending_bytes = 0
        self._writing = False
        self._closed = False
        self._thread = Thread(target=self._write, name="events", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    @property
    def pending_bytes(self) -> int:
        """Bytes of the events that wait."""
        return self._pending_bytes

    def put(self, event: Event, payload: bytes = b"", *, wait: bool = True) -> None:
        """Send an event; with `wait`, block until less than the limit is pending.

        Does nothing once closed. Raises WireError for an event larger than a frame may be.
        """
        frame = encode(event, payload)
        with self._changed:
            while wait and self._pending_bytes >= self._limit and not self._closed:
                self._changed.wait()
            if self._closed:
                return
            key = _latest_key(event)
            if key is None:
                key = next(self._numbers)
            else:
                self._pending_bytes -= len(self._waiting.pop(key, b""))
            self._waiting[key] = frame
            self._pending_bytes += len(frame)
            self._changed.notify_all()

    def close(self) -> None:
        """Take no more events; those that wait are still written."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def drain(self, timeout_s: float) -> bool:
        """Wait until every event is written; return False if that takes longer than `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not self._waiting and not self._writing, timeout_s
            )

    def _write(self) -> None:
        while (frame := self._next()) is not None:
            try:
                _write_all(self._descriptor, frame)
            except OSError:
                self._discard()
                self._gone()
                return

    def _next(self) -> bytes | None:
        """Wait for the next frame and return it; None once closed and empty."""
        with self._changed:
            self._writing = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return None
            _, frame = self._waiting.popitem(last=False)
            self._pending_bytes -= len(frame)
            self._writing = True
            self._changed.notify_all()
            return frame

    def _discard(self) -> None:
        with self._changed:
            self._closed, self._writing = True, False
            self._waiting.clear()
            self._pending_bytes = 0
            self._changed.notify_all()


def _latest_key(event: Event) -> Hashable | None:
    """Return the key of an event that a later one of that key replaces; None for other events."""
    return (JobPreview, event.job) if isinstance(event, JobPreview) else None


def _write_all(descriptor: int, frame: bytes) -> None:
    rest = memoryview(frame)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
