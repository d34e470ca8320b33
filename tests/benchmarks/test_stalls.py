"""A thread that keeps the user waiting is caught, with what it was doing."""

import time

from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from benchmarks.stalls import StallWatch
from tests.app.supervised import PATIENCE_MS


def hold_up(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def test_a_stall_is_caught_with_its_cause(qtbot: QtBot) -> None:
    watch = StallWatch(0.1)
    watch.start()
    QTimer.singleShot(20, lambda: hold_up(0.4))
    qtbot.waitUntil(lambda: bool(watch.stalls), timeout=PATIENCE_MS)
    worst = watch.stop()[0]
    # Its length is what was measured, at least what was spent on purpose.
    assert worst.seconds >= 0.35
    assert any("hold_up" in line for line in worst.stack)
    assert 0 < worst.cpu_seconds <= watch.busiest_s


def test_nothing_is_caught_after_the_end(qtbot: QtBot) -> None:
    watch = StallWatch(0.1)
    watch.start()
    assert watch.stop() == []
    done: list[bool] = []
    QTimer.singleShot(0, lambda: (hold_up(0.3), done.append(True)))
    qtbot.waitUntil(lambda: bool(done), timeout=PATIENCE_MS)
    assert watch.stalls == []
