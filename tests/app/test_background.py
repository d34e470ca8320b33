"""Results come back on the thread that asked; faults are told, not lost."""

import threading
from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject, Qt, QTimer
from pytestqt.qtbot import QtBot

from app import background as background_module
from app.background import Background
from engine.api.values import ErrorCode, ErrorInfo
from tests.app.supervised import PATIENCE_MS


def test_a_result_comes_back_on_the_thread_that_asked(qtbot: QtBot) -> None:
    background = Background(2)
    seen: list[tuple[int, int]] = []
    background.run(threading.get_ident, lambda ident: seen.append((ident, threading.get_ident())))
    qtbot.waitUntil(lambda: bool(seen), timeout=PATIENCE_MS)
    there, here = seen[0]
    assert here == threading.get_ident() != there
    background.close()


def test_a_fault_is_told(qtbot: QtBot) -> None:
    background = Background(1)
    told: list[ErrorInfo] = []
    background.failed.connect(told.append)

    def fail() -> int:
        raise KeyError("missing")

    background.run(fail, lambda _: told.clear())
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    assert told[0].code is ErrorCode.INTERNAL
    assert "KeyError" in told[0].detail
    background.close()


def test_an_older_look_that_ends_later_does_not_replace_a_newer_one(qtbot: QtBot) -> None:
    background = Background(2)
    release, both, seen = threading.Event(), threading.Barrier(2), list[str]()

    def slow() -> str:
        release.wait(PATIENCE_MS / 1000)
        return "older"

    background.look(slow, seen.append)
    background.look(lambda: "newer", seen.append)
    qtbot.waitUntil(lambda: bool(seen), timeout=PATIENCE_MS)
    release.set()
    # Both threads can meet only once the older look has ended.
    met = list[int]()
    for _ in range(2):
        background.run(both.wait, met.append)
    qtbot.waitUntil(lambda: len(met) == 2, timeout=PATIENCE_MS)
    background.look(lambda: "newest", seen.append)
    qtbot.waitUntil(lambda: len(seen) > 1, timeout=PATIENCE_MS)
    assert seen == ["newer", "newest"]
    background.close()


def test_work_that_must_be_done_is_done_before_the_pool_closes(qtbot: QtBot) -> None:
    background = Background(1)
    begun, release, done = threading.Event(), threading.Event(), list[str]()

    def wait() -> None:
        begun.set()
        release.wait(PATIENCE_MS / 1000)

    background.run(wait, lambda _: None)
    assert begun.wait(PATIENCE_MS / 1000)
    background.run(lambda: done.append("may wait"), lambda _: None)
    background.run(lambda: done.append("first"), lambda _: None, must=True)
    background.run(lambda: done.append("second"), lambda _: None, must=True)
    threading.Timer(0.05, release.set).start()
    background.close()
    assert done == ["first", "second"]


def test_no_result_is_delivered_after_the_pool_was_closed(qtbot: QtBot) -> None:
    background = Background(1)
    begun, release, seen = threading.Event(), threading.Event(), list[bool]()

    def wait() -> bool:
        begun.set()
        return release.wait(PATIENCE_MS / 1000)

    background.run(wait, seen.append)
    background.run(lambda: True, seen.append)
    assert begun.wait(PATIENCE_MS / 1000)
    threading.Timer(0.05, release.set).start()
    background.close()
    done = Background(1)
    done.run(lambda: True, lambda _: seen.append(False))
    qtbot.waitUntil(lambda: bool(seen), timeout=PATIENCE_MS)
    assert seen == [False]
    done.close()


def test_work_that_must_be_done_goes_in_turns(qtbot: QtBot) -> None:
    background = Background(2)
    begun, release, done = threading.Event(), threading.Event(), list[str]()

    def slow() -> None:
        begun.set()
        release.wait(PATIENCE_MS / 1000)
        done.append("first")

    background.run(slow, lambda _: None, must=True)
    assert begun.wait(PATIENCE_MS / 1000)
    background.run(lambda: done.append("second"), lambda _: None, must=True)
    # The other thread is free for what may overtake.
    seen = list[bool]()
    background.run(lambda: True, seen.append)
    qtbot.waitUntil(lambda: bool(seen), timeout=PATIENCE_MS)
    assert done == []
    release.set()
    qtbot.waitUntil(lambda: done == ["first", "second"], timeout=PATIENCE_MS)
    background.close()


def test_whoever_waits_for_a_result_hears_of_a_fault(qtbot: QtBot) -> None:
    background = Background(1)
    told, ended = list[ErrorInfo](), list[bool]()
    background.failed.connect(told.append)
    background.run(lambda: 1 // 0, lambda _: None, otherwise=lambda: ended.append(True))
    qtbot.waitUntil(lambda: ended == [True], timeout=PATIENCE_MS)
    assert told[0].code is ErrorCode.INTERNAL
    background.close()


def test_looks_are_about_what_they_read_whoever_is_told(qtbot: QtBot) -> None:
    background = Background(2)
    release, seen = threading.Event(), list[str]()

    def slow() -> str:
        release.wait(PATIENCE_MS / 1000)
        return "older"

    background.look(slow, lambda found: seen.append(found), "a file")
    background.look(lambda: "other", lambda found: seen.append(found), "another file")
    background.look(lambda: "newer", lambda found: seen.append(found), "a file")
    qtbot.waitUntil(lambda: len(seen) == 2, timeout=PATIENCE_MS)
    release.set()
    ended = list[bool]()
    both = threading.Barrier(2)
    for _ in range(2):
        background.run(both.wait, lambda _: ended.append(True))
    qtbot.waitUntil(lambda: len(ended) == 2, timeout=PATIENCE_MS)
    assert sorted(seen) == ["newer", "other"]
    background.close()


def test_calls_that_wait_for_a_drive_hold_up_no_others(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Once two of them kept all else waiting, and the window looked at nothing any more.
    monkeypatch.setattr(background_module, "_PATIENCE_MS", 20)
    background = Background(2)
    answer, seen = threading.Event(), list[str]()
    for _ in range(5):
        background.run(lambda: answer.wait(PATIENCE_MS / 1000), lambda _: seen.append("slow"))
    background.run(lambda: "quick", seen.append)
    qtbot.waitUntil(lambda: seen == ["quick"], timeout=PATIENCE_MS)
    answer.set()
    qtbot.waitUntil(lambda: len(seen) == 6, timeout=PATIENCE_MS)
    background.close()


def test_a_pool_of_one_thread_keeps_the_order_of_its_calls(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_module, "_PATIENCE_MS", 20)
    background = Background(1)
    answer, seen = threading.Event(), list[str]()
    background.run(lambda: answer.wait(PATIENCE_MS / 1000), lambda _: seen.append("first"))
    background.run(lambda: "second", seen.append)
    passed = list[bool]()
    QTimer.singleShot(200, lambda: passed.append(True))
    qtbot.waitUntil(lambda: bool(passed), timeout=PATIENCE_MS)
    assert seen == []
    answer.set()
    qtbot.waitUntil(lambda: seen == ["first", "second"], timeout=PATIENCE_MS)
    background.close()


def test_an_object_that_a_call_alone_holds_ends_on_the_thread_that_asked(qtbot: QtBot) -> None:
    # An object of Qt with timers or sockets must not end on another thread.
    class Slow(Background):
        """A thread is done with its call only after the result was delivered."""

        def _timed(self, call: Callable[[], None]) -> None:
            super()._timed(call)
            delivered.wait(PATIENCE_MS / 1000)
            del call
            left.set()

    delivered, left = threading.Event(), threading.Event()
    ended_on: list[int] = []

    class Asking(QObject):
        def work(self) -> int:
            return 1

        def take(self, _result: int) -> None:
            QTimer.singleShot(0, delivered.set)

    background, asking = Slow(1), Asking()
    asking.destroyed.connect(
        lambda: ended_on.append(threading.get_ident()), Qt.ConnectionType.DirectConnection
    )
    background.run(asking.work, asking.take, otherwise=asking.deleteLater)
    del asking
    qtbot.waitUntil(left.is_set, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: bool(ended_on), timeout=PATIENCE_MS)
    assert ended_on == [threading.get_ident()]
    background.close()
