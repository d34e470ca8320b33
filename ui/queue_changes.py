"""The signals of the queue, merged: ten thousand jobs may be added or changed at once."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from app.queue.job_queue import JobQueue

_SETTLE_MS = 30


def on_queue_changes(
    queue: JobQueue, parent: QObject, refresh: Callable[[], None], after_ms: int = _SETTLE_MS
) -> None:
    """Call `refresh` soon after changes of the queue, once for many of them."""
    settled = QTimer(parent, singleShot=True, interval=after_ms)
    settled.timeout.connect(refresh)

    def on_change(*_: object) -> None:
        if not settled.isActive():
            settled.start()

    for signal in (
        queue.job_added,
        queue.job_changed,
        queue.job_removed,
        queue.arrangement_changed,
    ):
        signal.connect(on_change)
