"""An app that reads slowly holds nobody up, and loses nothing but previews."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from time import sleep

from engine.api.messages import (
    Configure,
    ImageSaved,
    JobFinished,
    JobPhase,
    JobPreview,
    JobProgress,
    LogRecord,
    Ping,
    Pong,
)
from engine.api.messages import Event as AnyEvent
from engine.api.values import Phase
from engine.api.wire import FrameParser, decode_event, encode
from engine.server.outbox import Outbox
from tests.server.conftest import MakeJob, Start
from tests.server.conversation import PATIENCE_S, scripted
from tests.server.scripted_engine import Misdeed, Plan
from tests.server.test_jobs import pictures


def wait_until(condition: Callable[[], object]) -> None:
    """Look again and again until it holds."""
    for _ in range(int(PATIENCE_S * 100)):
        if condition():
            return
        sleep(0.01)
    raise AssertionError("it did not happen")


# --- the whole process ---


def test_a_job_is_finished_though_nobody_reads(start: Start, job: MakeJob, tmp_path: Path) -> None:
    plan = Plan(networks={"denoiser": Misdeed(run_seconds=0.05)})
    talk = start(scripted(plan), ready=False, reads=False)
    talk.send(Configure(cache=str(tmp_path / "cache")))
    # Two previews, 49 KB each, are more than a pipe holds; the run lasts for ten of them.
    talk.send(job("one", starter=True, steps=50, width=1024, height=1024))
    wait_until(lambda: pictures(tmp_path))
    talk.may_read.set()
    talk.wait_for(JobFinished)
    talk.shut_down()
    assert [event.done for event in talk.of(JobProgress) if event.total == 50] == [*range(51)]
    assert len(talk.of(ImageSaved)) == 1
    assert talk.of(JobPhase)[-1].phase is Phase.SAVE
    # One in the pipe, one half in it, and the latest.
    assert 1 <= len(talk.of(JobPreview)) <= 3


def test_a_job_waits_when_too_much_is_unread_and_then_loses_nothing(
    start: Start, job: MakeJob, tmp_path: Path
) -> None:
    talk = start(scripted(Plan(limit_bytes=1000)), ready=False, reads=False)
    talk.send(Configure(cache=str(tmp_path / "cache")), job("many", count=100, steps=5))
    # The pipe takes 64 KiB, then 1000 bytes wait, then the job does.
    wait_until(lambda: len(pictures(tmp_path)) > 10)
    talk.send(*(Ping(sequence=number) for number in range(1000)))
    talk.may_read.set()
    talk.wait_for(JobFinished)
    talk.wait_for(Pong, lambda event: event.sequence == 999)
    talk.shut_down()
    assert [event.sequence for event in talk.of(Pong)] == [*range(1000)]
    assert [event.seed for event in talk.of(ImageSaved)] == [7 + i for i in range(100)]
    assert len(talk.of(JobProgress)) == 100 * 6


# --- the outbox alone ---


class Pipe:
    """A pipe that is read when the test says so."""

    def __init__(self, limit_bytes: int) -> None:
        self.read, self._write = os.pipe()
        self.gone = Event()
        self.outbox = Outbox(self._write, self.gone.set, limit_bytes)

    def drained(self) -> list[AnyEvent]:
        """Close the outbox and read everything."""
        self.outbox.close()
        events: list[AnyEvent] = []

        def listen() -> None:
            parser = FrameParser()
            while data := os.read(self.read, 1 << 16):
                events.extend(decode_event(frame) for frame in parser.feed(data))

        thread = Thread(target=listen, daemon=True)
        thread.start()
        assert self.outbox.drain(PATIENCE_S)
        os.close(self._write)
        thread.join(PATIENCE_S)
        os.close(self.read)
        return events


def preview(job: str, step: int) -> JobPreview:
    return JobPreview(job=job, step=step, width=1, height=1)


def log(text: str) -> LogRecord:
    return LogRecord(level="info", logger="test", text=text)


def test_a_newer_preview_takes_the_place_of_one_that_waits() -> None:
    pipe = Pipe(1 << 20)
    for step in range(3):
        pipe.outbox.put(JobProgress(job="a", done=step, total=3))
        pipe.outbox.put(preview("a", step), b"123")
        pipe.outbox.put(preview("b", step), b"123")
    pipe.outbox.start()
    events = pipe.drained()
    assert [event for event in events if not isinstance(event, JobProgress)] == [
        preview("a", 2),
        preview("b", 2),
    ]
    assert [event.done for event in events if isinstance(event, JobProgress)] == [0, 1, 2]
    assert events.index(preview("a", 2)) > events.index(JobProgress(job="a", done=2, total=3))


def test_pending_events_are_counted_in_bytes() -> None:
    pipe = Pipe(1 << 20)
    expected = 0
    for number in range(100):
        pipe.outbox.put(log(str(number)))
        expected += len(encode(log(str(number))))
        pipe.outbox.put(preview("a", number), bytes(1000))
    expected += len(encode(preview("a", 99), bytes(1000)))
    assert pipe.outbox.pending_bytes == expected
    pipe.outbox.start()
    assert len(pipe.drained()) == 101
    assert pipe.outbox.pending_bytes == 0


def test_who_sends_waits_while_too_much_is_pending_but_not_who_must_not() -> None:
    pipe, sent = Pipe(200), list[int]()

    def send() -> None:
        for number in range(50):
            pipe.outbox.put(log("x" * 100))
            sent.append(number)

    sender = Thread(target=send, daemon=True)
    sender.start()
    wait_until(lambda: pipe.outbox.pending_bytes >= 200)
    pipe.outbox.put(Pong(sequence=1), wait=False)
    sender.join(0.2)
    assert sender.is_alive()
    assert len(sent) == 2
    pipe.outbox.start()
    sender.join(PATIENCE_S)
    events = pipe.drained()
    assert len([event for event in events if isinstance(event, LogRecord)]) == 50
    assert Pong(sequence=1) in events


def test_nobody_waits_for_a_reader_that_is_gone() -> None:
    pipe = Pipe(200)
    os.close(pipe.read)
    pipe.outbox.start()
    for _ in range(10):
        pipe.outbox.put(log("x" * 100))
    assert pipe.gone.wait(PATIENCE_S)
    pipe.outbox.put(log("x" * 100))
    assert pipe.outbox.pending_bytes == 0
    assert pipe.outbox.drain(PATIENCE_S)


def test_after_closing_nothing_is_taken() -> None:
    pipe = Pipe(200)
    pipe.outbox.put(log("before"))
    pipe.outbox.close()
    pipe.outbox.put(log("after"))
    pipe.outbox.start()
    assert pipe.drained() == [log("before")]
