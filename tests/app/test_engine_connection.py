"""Engines that do not speak the protocol, say too much, or nothing that makes sense."""

import struct
import sys

import msgspec
import pytest
from PySide6.QtCore import QTimer

from app.engine.connection import ReadingLimits
from app.engine.process import EngineState
from engine.api.messages import (
    DevicesFound,
    Hello,
    ImageSaved,
    JobCancelled,
    JobFinished,
    JobPreview,
    JobProgress,
    Ping,
    Ready,
    RunJob,
    VerifyDevices,
)
from engine.api.request import GenerateRequest
from engine.api.values import ErrorCode
from engine.api.wire import encode
from tests.app.conftest import Supervise
from tests.app.fake_engine import Plan
from tests.app.supervised import QUICK, is_alive

# Seventy megabytes in small pieces: far more than may wait, and no danger to a machine on which
# nobody stops it.
FLOOD = Plan(raw=1000 * encode(JobProgress(job="a", done=1, total=2)), raw_times=1500)
PROGRESS = encode(JobProgress(job="a", done=1, total=2))


def preview(width: int, height: int, payload: bytes) -> bytes:
    return encode(JobPreview(job="a", step=1, width=width, height=height), payload)


@pytest.mark.parametrize(
    "raw",
    [
        b"Warning: a native library says hello\n" * 100,
        b"\x00" * 64,
        struct.pack("<II", 0xFFFFFFFF, 0),
        struct.pack("<II", 10, 0xFFFFFFFF) + b"x" * 1000,
        struct.pack("<II", 4, 0) + b"\xc1\xc1\xc1\xc1",
        struct.pack("<II", 5, 0) + b"\x81\xa4type",
        encode(Ping(sequence=1)),
        PROGRESS.replace(b"done", b"tone"),
        PROGRESS.replace(b"\xa1a", b"\xa1\xff"),
        encode(Hello(version="again", pid=1)),
        encode(Ready()),
        preview(0, 5, b""),
        preview(-1, -1, b"xyz"),
        preview(1 << 30, 1 << 30, b"xyz"),
        preview(4, 4, bytes(47)),
    ],
    ids=[
        *("text", "zeros", "long header", "long payload", "no msgpack", "cut msgpack"),
        *("a command", "a field missing", "no UTF-8", "second Hello", "second Ready"),
        *("flat preview", "negative preview", "preview too large", "preview of wrong length"),
    ],
)
def test_bytes_that_are_no_event_end_the_connection(supervise: Supervise, raw: bytes) -> None:
    engine = supervise(Plan(raw=raw, ignores_shutdown=True))
    engine.process.start()
    engine.wait(lambda: bool(engine.told.given_up))
    assert {error.code for error in engine.told.crashes} == {ErrorCode.PROTOCOL_BROKEN}
    assert len(engine.told.crashes) == 3
    assert engine.told.given_up[0].code is ErrorCode.PROTOCOL_BROKEN
    engine.wait(lambda: not is_alive(engine.pid))


def test_good_events_before_bad_ones_are_heard(supervise: Supervise) -> None:
    engine = supervise(Plan(raw=5 * PROGRESS + b"\xff" * 8))
    engine.process.start()
    engine.wait(lambda: bool(engine.told.crashes))
    assert len(engine.told.of(JobProgress)) == 5


def test_half_a_frame_at_the_end_is_a_crash_like_any_other(supervise: Supervise) -> None:
    half = preview(100, 100, bytes(30_000))[:20_000]
    engine = supervise(Plan(raw=PROGRESS + half, ends_after=3, by_signal=9)).start()
    engine.wait(lambda: bool(engine.told.crashes))
    assert engine.told.crashes[0].code is ErrorCode.ENGINE_CRASHED
    assert engine.told.of(JobPreview) == []


def test_half_a_frame_and_silence_is_an_engine_that_does_not_answer(supervise: Supervise) -> None:
    engine = supervise(Plan(raw=PROGRESS[:-1], deaf_after=1)).start()
    engine.wait(lambda: engine.process.state is EngineState.NOT_ANSWERING)


@pytest.mark.skipif(sys.platform == "win32", reason="measures memory as Unix does")
def test_a_flood_faster_than_it_can_be_read_ends_the_connection(supervise: Supervise) -> None:
    import resource

    # One event each turn: whatever the machine, that is slower than the flood.
    slow = msgspec.structs.replace(QUICK, reading=ReadingLimits(turn_ms=0.0, backlog_bytes=1 << 20))
    engine = supervise(FLOOD, slow, new=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    engine.process.start()
    engine.wait(lambda: bool(engine.told.given_up))
    assert {error.code for error in engine.told.crashes} == {ErrorCode.PROTOCOL_BROKEN}
    assert "more than can be read" in engine.told.given_up[0].message
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 100 * 1024
    assert not is_alive(engine.pid)


def test_the_event_loop_turns_while_a_flood_is_read(supervise: Supervise) -> None:
    engine = supervise(FLOOD).start()
    seen: list[int] = []
    timer = QTimer(interval=0)
    timer.timeout.connect(lambda: seen.append(len(engine.told.events)))
    timer.start()
    # A pipe holds 64 KiB, so that more than a hundred turns pass until the backlog is too large. Of
    # these a machine that is busy with other things may let the engine run at few.
    engine.wait(lambda: len(set(seen)) > 10)
    timer.stop()
    assert not engine.told.given_up


def test_only_the_newest_waiting_preview_is_delivered_and_none_after_the_jobs_end(
    supervise: Supervise,
) -> None:
    engine = supervise(Plan(previews=50)).start()
    request = GenerateRequest(prompt="", seed=7)
    for name in ("a", "b"):
        engine.process.send(RunJob(job=name, request=request, folder=str(engine.folder / "out")))
        engine.wait_for(JobFinished, "ab".index(name) + 1)
    previews = engine.told.of(JobPreview)
    assert len(previews) < 2 * 50
    for name in ("a", "b"):
        events = [event for event, _ in engine.told.events if getattr(event, "job", "") == name]
        assert isinstance(events[-1], JobFinished)
        steps = [event.step for event in events if isinstance(event, JobPreview)]
        assert steps == sorted(steps)


def test_a_preview_that_comes_with_the_jobs_end_is_not_told(supervise: Supervise) -> None:
    """The window would show the preview over the picture."""
    cancelled = encode(JobCancelled(job="a"))
    engine = supervise(Plan(raw=preview(1, 1, b"rgb") + cancelled)).start()
    engine.wait_for(JobCancelled)
    engine.process.send(VerifyDevices(query=1))
    engine.wait_for(DevicesFound)
    assert engine.told.of(JobPreview) == []


def test_a_preview_arrives_with_its_pixels(supervise: Supervise) -> None:
    pixels = bytes(range(27))
    engine = supervise(Plan(raw=b"".join(preview(3, 3, pixels) for _ in range(9)))).start()
    engine.wait_for(JobPreview)
    assert {payload for event, payload in engine.told.events if isinstance(event, JobPreview)} == {
        pixels
    }


def test_a_picture_of_the_largest_preview_size_arrives(supervise: Supervise) -> None:
    side = 2048
    engine = supervise(Plan(previews=1, preview_side=side, never_finishes=True)).start()
    request = GenerateRequest(prompt="", seed=7)
    engine.process.send(RunJob(job="a", request=request, folder=str(engine.folder / "out")))
    engine.wait_for(ImageSaved)
    engine.wait_for(JobPreview)
    (pixels,) = (pixels for event, pixels in engine.told.events if isinstance(event, JobPreview))
    assert len(pixels) == 3 * side * side


def test_commands_are_answered_in_the_middle_of_events(supervise: Supervise) -> None:
    engine = supervise(Plan(step_seconds=0.001, steps=500)).start()
    request = GenerateRequest(prompt="", seed=7)
    engine.process.send(RunJob(job="a", request=request, folder=str(engine.folder / "out")))
    engine.wait_for(JobProgress)
    engine.process.send(VerifyDevices(query=1))
    engine.wait_for(DevicesFound)
    assert engine.told.of(JobFinished) == []
