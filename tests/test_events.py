"""Waiting for what events bring."""

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from tests.events import Bot

PATIENCE_MS = 60_000


def test_every_test_has_the_bot(qtbot: QtBot) -> None:
    assert isinstance(qtbot, Bot)


def test_a_condition_is_seen_where_events_never_end(qtbot: QtBot) -> None:
    happened: list[None] = []
    timer = QTimer()
    timer.timeout.connect(lambda: happened.append(None))
    timer.start(0)
    qtbot.waitUntil(lambda: len(happened) > 99, timeout=PATIENCE_MS)
    timer.stop()


def test_a_condition_may_wait_itself(qtbot: QtBot) -> None:
    waited: list[None] = []

    def is_over() -> bool:
        happened: list[None] = []
        QTimer.singleShot(5, lambda: happened.append(None))
        qtbot.waitUntil(lambda: bool(happened), timeout=PATIENCE_MS)
        waited.extend(happened)
        return len(waited) == 3

    qtbot.waitUntil(is_over, timeout=PATIENCE_MS)
    assert len(waited) == 3


def test_a_fact_without_an_event_is_seen(qtbot: QtBot) -> None:
    looks: list[None] = []
    qtbot.waitUntil(lambda: looks.append(None) or len(looks) > 9, timeout=PATIENCE_MS)


def test_patience_ends(qtbot: QtBot) -> None:
    with pytest.raises(TimeoutError, match="30 ms"):
        qtbot.waitUntil(lambda: False, timeout=30)


def test_an_exception_of_a_condition_ends_the_wait(qtbot: QtBot) -> None:
    looks: list[None] = []

    def fail() -> bool:
        looks.append(None)
        if len(looks) > 2:
            raise ValueError("third")
        return False

    with pytest.raises(ValueError, match="third"):
        qtbot.waitUntil(fail, timeout=PATIENCE_MS)
