"""Qt's objects that tests are done with, deleted between two tests on their own thread.

Kept, they are watched folders, timers and memory that each later test pays for; and left to
Python's collector of garbage, they could end on whichever thread notices them.
"""

import gc

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject

_ended: list[QObject] = []


def delete_after_test(*objects: QObject) -> None:
    """Have these deleted, in this order, once the fixtures of the test have ended."""
    _ended.extend(objects)


def delete_ended() -> None:
    """Delete what was closed, what was named, and what only the test that ended still held."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    if not _ended:
        return
    for ended in _ended:
        if shiboken6.isValid(ended):
            shiboken6.delete(ended)
    _ended.clear()
    spare_what_stays()


def spare_what_stays() -> None:
    """Collect garbage; what is left is not gone through at the next time."""
    gc.collect()
    gc.freeze()
