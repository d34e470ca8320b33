"""The handshake, and streams that are refused."""

import struct
from importlib.metadata import version
from pathlib import Path

import pytest

from engine.api.messages import (
    PROTOCOL_VERSION,
    Configure,
    EngineFatal,
    Hello,
    LogRecord,
    Ping,
    Pong,
    Ready,
    ScanDevices,
    Shutdown,
)
from engine.api.values import ErrorCode
from engine.api.wire import MAX_FRAME_BYTES, MAX_HEADER_BYTES, encode
from tests.server.conftest import MakeJob, Start
from tests.server.conversation import UNYIELDING, Conversation, scripted
from tests.server.scripted_engine import Plan


def fatal(talk: Conversation) -> EngineFatal:
    """The failure that ended the engine: the last it said."""
    assert talk.wait_for_end() == 1
    last = talk.events[-1]
    assert isinstance(last, EngineFatal), talk.describe()
    return last


def test_the_engine_greets_and_is_ready_once_configured(start: Start) -> None:
    talk = start(UNYIELDING, ready=False)
    hello = talk.wait_for(Hello)
    assert hello.protocol == PROTOCOL_VERSION
    assert hello.version == version("safelight")
    assert hello.pid == talk.process.pid
    assert talk.of(Ready) == []
    talk.send(Configure(cache=str(talk.folder / "cache")))
    talk.wait_for(Ready)
    talk.shut_down()


def test_the_engine_starts_when_configured_before_it_says_hello(start: Start) -> None:
    talk = start(ready=False)
    talk.send(Configure(cache=str(talk.folder)), Ping(sequence=1))
    talk.wait_for(Ready)
    talk.wait_for(Pong)


def test_another_version_of_the_protocol_is_refused(start: Start) -> None:
    talk = start(ready=False)
    talk.send(Configure(cache="", protocol=PROTOCOL_VERSION + 1))
    assert fatal(talk).error.code is ErrorCode.PROTOCOL_MISMATCH
    assert talk.of(Ready) == []


def test_pings_are_answered_before_ready_and_nothing_else_is(start: Start) -> None:
    talk = start(ready=False)
    talk.send(Ping(sequence=5))
    assert talk.wait_for(Pong).sequence == 5
    talk.send(ScanDevices(query=1))
    assert fatal(talk).error.code is ErrorCode.PROTOCOL_BROKEN


def test_a_second_configure_is_refused(start: Start) -> None:
    talk = start()
    talk.send(Configure(cache=""))
    assert fatal(talk).error.code is ErrorCode.PROTOCOL_BROKEN


def test_a_library_that_cannot_be_loaded_is_told(start: Start) -> None:
    talk = start(scripted(Plan(missing="numpy")), ready=False)
    error = fatal(talk).error
    assert error.code is ErrorCode.ENGINE_NOT_STARTED
    assert "numpy" in error.detail
    assert error.hint


def frame(header: bytes) -> bytes:
    return struct.pack("<II", len(header), 0) + header


GARBAGE = {
    "text": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "zeros": bytes(64),
    "an event": encode(Pong(sequence=1)),
    "an unknown message": frame(b"\x81\xa4type\xa1X"),
    "no msgpack": frame(b"\xc1\xc1\xc1"),
    "an oversized header": struct.pack("<II", MAX_HEADER_BYTES + 1, 0),
    "an oversized payload": struct.pack("<II", 1, MAX_FRAME_BYTES),
    "numbers that overflow": b"\xff" * 8,
    "a field of another type": frame(b"\x82\xa4type\xa4Ping\xa8sequence\xa1x"),
    "deep nesting": frame(b"\x91" * 100_000),
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE.keys())
def test_garbage_ends_the_engine_with_a_reason(start: Start, data: bytes) -> None:
    talk = start()
    talk.send_bytes(data)
    error = fatal(talk).error
    assert error.code is ErrorCode.PROTOCOL_BROKEN
    assert error.message
    assert error.hint
    assert error.detail


def test_commands_before_the_garbage_are_taken(start: Start) -> None:
    talk = start()
    talk.send_bytes(encode(Ping(sequence=1)) + b"\xff" * 8 + encode(Ping(sequence=2)))
    fatal(talk)
    assert [pong.sequence for pong in talk.of(Pong)] == [1]


def test_garbage_while_a_job_runs_ends_it(start: Start, job: MakeJob) -> None:
    talk = start()
    talk.send(job("long", steps=1000))
    talk.send_bytes(b"\xff" * 8)
    fatal(talk)


def test_half_a_frame_is_no_frame_and_may_come_in_pieces(start: Start) -> None:
    talk = start()
    frame = encode(Ping(sequence=3))
    for position in range(len(frame)):
        talk.send_bytes(frame[position : position + 1])
    assert talk.wait_for(Pong).sequence == 3
    talk.send_bytes(frame[:-1])
    talk.hang_up()
    assert talk.wait_for_end() == 0
    assert len(talk.of(Pong)) == 1
    assert talk.of(EngineFatal) == []


def test_shutdown_ends_the_engine(start: Start) -> None:
    talk = start()
    talk.send(Shutdown())
    assert talk.wait_for_end() == 0


def test_records_that_libraries_log_are_sent(start: Start, job: MakeJob) -> None:
    talk = start(scripted(Plan(broken=True)))
    talk.send(job("broken", prompt="a secret"))
    record = talk.wait_for(LogRecord)
    assert (record.level, record.logger) == ("error", "engine.server.job_run")
    talk.shut_down()
    assert not any("secret" in record.text for record in talk.of(LogRecord))


def test_hello_says_which_runtime_packs_are_left_out(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packs = tmp_path / "packs of Zoë"
    packs.mkdir()
    (packs / "active.json").write_text('{"active": {"tiny": "tiny-1.0"}}')
    monkeypatch.setenv("SAFELIGHT_PACKS", str(packs))
    talk = start()
    assert talk.wait_for(Hello).pack_problems == (
        "The runtime pack tiny-1.0 is left out: its folder is missing.",
    )
    talk.shut_down()
