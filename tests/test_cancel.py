"""The cancel token: no wish to stop is lost, and none comes twice or late."""

import sys
from collections.abc import Iterator
from threading import Barrier, Event, Thread, get_ident

import pytest

from engine.cancel import CancelToken


def test_cancelling_inside_the_block_calls_stop_once_on_the_asking_thread() -> None:
    token, calls, asking = CancelToken(), list[int](), list[int]()
    entered = Event()

    def ask() -> None:
        entered.wait()
        asking.append(get_ident())
        token.cancel()
        token.cancel()

    thread = Thread(target=ask)
    thread.start()
    with token.calling(lambda: calls.append(get_ident())):
        assert not token.is_set()
        entered.set()
        thread.join()
        assert token.is_set()
        assert calls == asking
    assert len(calls) == 1


def test_an_earlier_cancellation_calls_stop_at_once() -> None:
    token, calls = CancelToken(), list[str]()
    token.cancel()
    with token.calling(lambda: calls.append("stop")):
        assert calls == ["stop"]
    assert calls == ["stop"]


def test_cancelling_after_the_block_calls_no_stop() -> None:
    token, calls = CancelToken(), list[str]()
    with token.calling(lambda: calls.append("stop")):
        pass
    token.cancel()
    assert calls == []


def test_a_block_that_fails_is_left_too() -> None:
    token, calls = CancelToken(), list[str]()
    with pytest.raises(KeyError), token.calling(lambda: calls.append("stop")):
        raise KeyError
    token.cancel()
    assert calls == []


def test_cancelling_calls_the_stops_of_all_nested_blocks() -> None:
    token, calls = CancelToken(), list[str]()

    def stop() -> None:
        calls.append("stop")

    with token.calling(stop):
        with token.calling(stop), token.calling(lambda: calls.append("other")):
            pass
        with token.calling(lambda: calls.append("inner")):
            token.cancel()
    assert sorted(calls) == ["inner", "stop"]


def test_a_stop_may_use_the_token() -> None:
    """A session's cancel may take its time or look at the token; that must not lock up."""
    token, calls = CancelToken(), list[bool]()

    def stop() -> None:
        calls.append(token.is_set())
        token.cancel()
        with token.calling(lambda: calls.append(True)):
            pass

    with token.calling(stop):
        token.cancel()
    assert calls == [True, True]


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless")
def test_no_cancellation_is_lost_between_threads() -> None:
    """A function is called exactly once if its block sees the cancellation, else never."""
    for _ in range(100):
        token, calls, start = CancelToken(), list[int](), Barrier(3)
        inside, late = set[int](), list[int]()

        def ask(token: CancelToken = token, start: Barrier = start) -> None:
            start.wait()
            token.cancel()

        askers = [Thread(target=ask) for _ in range(2)]
        for asker in askers:
            asker.start()
        start.wait()
        seen, block = False, 0
        while not seen:
            block += 1
            inside.add(block)

            def stop(
                block: int = block,
                calls: list[int] = calls,
                inside: set[int] = inside,
                late: list[int] = late,
            ) -> None:
                (calls if block in inside else late).append(block)

            with token.calling(stop):
                seen = token.is_set()
            inside.remove(block)
        for asker in askers:
            asker.join()
        assert calls.count(block) == 1
        assert calls[:-1] in ([], [block - 1])  # asked as that one ended
        assert late == []


def test_a_block_is_not_left_while_its_stop_is_called() -> None:
    """Else a session could be closed under the call that cancels it."""
    token, calling, order = CancelToken(), Event(), list[str]()

    def stop() -> None:
        calling.set()
        left.wait(0.2)
        order.append("stopped")

    left = Event()
    asker = Thread(target=token.cancel)
    with token.calling(stop):
        asker.start()
        calling.wait()
    order.append("left")
    left.set()
    asker.join()
    assert order == ["stopped", "left"]
