"""Faults that are planted into the application, to show that the monkey finds them."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QTimer, qWarning

from tests.monkey.watch import Watch

_kept: list[bytearray] = []


def _stall() -> None:
    until = time.thread_time() + 0.09
    while time.thread_time() < until:
        pass


def _wait() -> None:
    # For what uses no processor, as a disk or a thread that holds a lock.
    time.sleep(0.2)


def _leak() -> None:
    # Written to, so that it is resident.
    _kept.append(bytearray(b"x" * 2_000_000))


def _error() -> None:
    raise LookupError("planted")


def _warning() -> None:
    qWarning("planted warning")


def _outside() -> None:
    with suppress(PermissionError):
        Path("/planted outside").mkdir()


_RESTS_BEFORE_A_CRASH = 5
# The fault, and the milliseconds after which it comes, again and again.
_PLANTS: dict[str, tuple[Callable[[], None], int]] = {
    "stall": (_stall, 1500),
    "wait": (_wait, 1700),
    "leak": (_leak, 100),
    "error": (_error, 2000),
    "warning": (_warning, 2000),
    "outside": (_outside, 2000),
}


def plant(names: str, watch: Watch) -> None:
    """Plant the faults of these names, which commas separate."""

    def crash() -> None:
        # By then everything else was seen.
        if watch.rests >= _RESTS_BEFORE_A_CRASH:
            os.abort()

    plants = {**_PLANTS, "crash": (crash, 500)}
    for name in filter(None, names.split(",")):
        fault, interval = plants[name]
        timer = QTimer(watch, interval=interval)
        timer.timeout.connect(fault)
        timer.start()
