"""Garbage is collected on the window's thread alone, whichever thread makes many objects."""

import gc
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer
from pytestqt.qtbot import QtBot

from app.garbage import GarbageCollection
from tests.ended import delete_after_test

LOOK_MS = 20


class Node:
    """An object that only itself keeps, and a count of those that are there."""

    alive = 0

    def __init__(self) -> None:
        self.itself = self
        Node.alive += 1

    def __del__(self) -> None:
        Node.alive -= 1


@pytest.fixture
def collection(qapp: QCoreApplication) -> Iterator[GarbageCollection]:
    gc.collect()
    collection = GarbageCollection(qapp, LOOK_MS)
    yield collection
    gc.enable()
    delete_after_test(collection)


@pytest.fixture
def generations() -> Iterator[list[int]]:
    """The generation of each collection that began, as it goes on."""
    found: list[int] = []

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            found.append(about["generation"])

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


def leave_a_cycle(on_end: Callable[[], None]) -> None:
    """Leave an object of Qt to the collector of garbage."""
    cycle = QObject()
    cycle.itself = cycle  # pyright: ignore[reportAttributeAccessIssue]
    cycle.destroyed.connect(on_end, Qt.ConnectionType.DirectConnection)


def make_many() -> None:
    """Make as many objects as have Python look for garbage repeatedly."""
    kept: list[list[int]] = [[] for _ in range(200_000)]
    kept.clear()


def on_another_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def keep_busy(parent: QObject) -> QTimer:
    """Have this thread work most of the time until the timer is stopped."""

    def work() -> None:
        until = time.thread_time() + 0.02
        while time.thread_time() < until:
            pass

    timer = QTimer(parent, interval=5)
    timer.timeout.connect(work)
    timer.start()
    return timer


@pytest.mark.usefixtures("collection")
def test_an_object_of_qt_in_a_cycle_ends_on_its_own_thread(qtbot: QtBot) -> None:
    ended_on: list[int] = []
    leave_a_cycle(lambda: ended_on.append(threading.get_ident()))
    on_another_thread(make_many)
    assert ended_on == []
    qtbot.waitUntil(lambda: bool(ended_on))
    assert ended_on == [threading.get_ident()]


@pytest.mark.usefixtures("collection")
def test_garbage_of_another_thread_is_collected_while_the_window_does_nothing(
    qtbot: QtBot, generations: list[int]
) -> None:
    for count in (5_000, 100, 5_000):
        on_another_thread(lambda count=count: [Node() for _ in range(count)].clear())
        assert Node.alive == count
        qtbot.waitUntil(lambda: Node.alive == 0)
    # What is there no more is nothing to look for among all objects.
    assert 2 not in generations


@pytest.mark.usefixtures("collection")
def test_old_garbage_is_collected_at_rest(qtbot: QtBot, generations: list[int]) -> None:
    kept = [Node() for _ in range(5_000)]
    gc.collect()
    generations.clear()
    kept.clear()
    assert Node.alive == 5_000
    others = [[0] for _ in range(5_000)]
    qtbot.waitUntil(lambda: Node.alive == 0)
    qtbot.wait(5 * LOOK_MS)
    assert generations.count(2) == 1
    assert others


def test_all_objects_are_gone_through_at_rest_unless_many_have_come(
    qtbot: QtBot, collection: GarbageCollection, generations: list[int]
) -> None:
    work = keep_busy(collection)
    some = [[0] for _ in range(10_000)]
    qtbot.waitUntil(lambda: 0 in generations)
    qtbot.wait(10 * LOOK_MS)
    assert 2 not in generations
    work.stop()
    qtbot.waitUntil(lambda: 2 in generations)
    generations.clear()
    work.start()
    many = [[0] for _ in range(30_000)]
    qtbot.waitUntil(lambda: 2 in generations)
    assert some
    assert many


@pytest.mark.usefixtures("collection")
def test_the_middle_of_the_objects_is_gone_through_now_and_then(
    qtbot: QtBot, generations: list[int]
) -> None:
    qtbot.waitUntil(lambda: generations.count(1) == 2)
    assert 9 <= generations.count(0) / 2 <= 11
