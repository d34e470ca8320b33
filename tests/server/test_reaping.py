"""A process that only waits stands between the app and the engine, and ends as the engine does."""

import os
import select
import signal
import sys
from pathlib import Path

import pytest

from engine.api.messages import Hello
from tests.forks import forked
from tests.server.conftest import Start
from tests.server.conversation import PATIENCE_S, UNYIELDING, Conversation

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the app itself waits")


PARENT = ("--parent", str(os.getpid()))


@pytest.fixture
def talk(start: Start) -> Conversation:
    """An engine with the process between; the command of a fork ends as that one does."""
    return start(forked("-m", "engine", *PARENT))


def test_the_app_waits_for_a_process_of_one_thread(start: Start) -> None:
    talk = start((*UNYIELDING, *PARENT))
    between, engine = talk.process.pid, talk.wait_for(Hello).pid
    assert len(list(Path(f"/proc/{engine}/task").iterdir())) > 1
    (thread,) = Path(f"/proc/{between}/task").iterdir()
    assert (thread / "children").read_text().split() == [str(engine)]
    # As it stays, it has read little of Python.
    assert "numpy" not in Path(f"/proc/{between}/maps").read_text()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_an_engine_that_a_signal_ends_is_told_to_the_app_as_such(
    talk: Conversation, number: signal.Signals
) -> None:
    os.kill(talk.wait_for(Hello).pid, number)
    assert talk.process.wait(PATIENCE_S) == -number


def test_the_status_of_an_engine_that_gave_up_is_the_one_of_the_process(
    talk: Conversation,
) -> None:
    assert talk.process.stdin is not None
    talk.process.stdin.write(b"\xff" * 64)
    talk.process.stdin.flush()
    assert talk.wait_for_end() == 1


def test_the_engine_ends_with_the_process_that_the_app_kills(talk: Conversation) -> None:
    engine = os.pidfd_open(talk.wait_for(Hello).pid)
    talk.process.kill()
    ended, _, _ = select.select([engine], [], [], PATIENCE_S)
    os.close(engine)
    assert ended
