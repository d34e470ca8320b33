"""Frames: what goes in comes out, however it is cut; what is no frame is refused, cheaply."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.api.messages import (
    Command,
    Event,
    JobPreview,
    LogRecord,
    Ping,
    Pong,
    RunJob,
)
from engine.api.request import GenerateRequest
from engine.api.wire import (
    MAX_FRAME_BYTES,
    MAX_HEADER_BYTES,
    Frame,
    FrameParser,
    WireError,
    decode_command,
    decode_event,
    encode,
)
from tests.api.strategies import COMMANDS, EVENTS, commands, events

PREFIX = struct.Struct("<II")


def test_the_strategies_know_every_message() -> None:
    assert len(COMMANDS) == 24
    assert len(EVENTS) == 35
    assert not set(COMMANDS) & set(EVENTS)


@given(commands)
def test_commands_come_out_as_they_went_in(command: Command) -> None:
    (frame,) = FrameParser().feed(encode(command))
    assert decode_command(frame) == command
    assert frame.payload == b""


@given(events, st.binary(max_size=100))
def test_events_come_out_as_they_went_in(event: Event, payload: bytes) -> None:
    (frame,) = FrameParser().feed(encode(event, payload))
    assert decode_event(frame) == event
    assert frame.payload == payload


@given(
    st.lists(st.tuples(events, st.binary(max_size=50)), min_size=1, max_size=5),
    st.data(),
)
def test_frames_are_parsed_however_the_stream_is_cut(
    sent: list[tuple[Event, bytes]], data: st.DataObject
) -> None:
    stream = b"".join(encode(event, payload) for event, payload in sent)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=20).map(sorted))
    parser = FrameParser()
    frames: list[Frame] = []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        frames += parser.feed(stream[begin:end])
    assert [(decode_event(frame), frame.payload) for frame in frames] == sent
    assert parser.pending_bytes == 0


def test_byte_by_byte_nothing_comes_early() -> None:
    stream = encode(Ping(sequence=1)) + encode(JobPreview(job="a", step=1, width=1, height=1), b"x")
    parser, ends = FrameParser(), list[int]()
    for position in range(len(stream)):
        ends += [position + 1 for _ in parser.feed(stream[position : position + 1])]
    assert ends == [len(encode(Ping(sequence=1))), len(stream)]


@given(st.binary(max_size=300))
def test_garbage_is_refused_or_waits_for_more(garbage: bytes) -> None:
    parser = FrameParser()
    try:
        frames = list(parser.feed(garbage))
    except WireError:
        return
    assert sum(len(f.header) + len(f.payload) + 8 for f in frames) <= len(garbage)
    assert parser.pending_bytes <= len(garbage)
    for frame in frames:
        for decode in (decode_command, decode_event):
            try:
                decode(frame)
            except WireError as error:
                assert str(error)  # noqa: PT017 (that it is no other exception is the point)


@given(commands, st.data())
def test_a_flipped_byte_is_refused_or_is_another_command(
    command: Command, data: st.DataObject
) -> None:
    (frame,) = FrameParser().feed(encode(command))
    position = data.draw(st.integers(0, len(frame.header) - 1))
    header = bytearray(frame.header)
    header[position] ^= data.draw(st.integers(1, 255))
    try:
        decoded = decode_command(Frame(bytes(header)))
    except WireError:
        return
    assert isinstance(decoded, COMMANDS)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_sizes_are_checked_before_anything_is_stored(header: int, payload: int) -> None:
    allowed = header <= MAX_HEADER_BYTES and 8 + header + payload <= MAX_FRAME_BYTES
    parser = FrameParser()
    if allowed and header + payload:
        assert list(parser.feed(PREFIX.pack(header, payload))) == []
        assert parser.pending_bytes == 8
    elif not allowed:
        with pytest.raises(WireError, match="bytes"):
            list(parser.feed(PREFIX.pack(header, payload)))


def test_the_largest_frames_pass_and_larger_ones_are_not_sent() -> None:
    def log(length: int) -> LogRecord:
        return LogRecord(level="info", logger="", text="x" * length)

    overhead = len(encode(log(1 << 20))) - (1 << 20) - 8
    largest = log(MAX_HEADER_BYTES - overhead)
    (frame,) = FrameParser().feed(encode(largest))
    assert decode_event(frame) == largest
    with pytest.raises(WireError, match="header"):
        encode(log(MAX_HEADER_BYTES - overhead + 1))
    room = MAX_FRAME_BYTES - len(encode(Pong(sequence=1)))
    (frame,) = FrameParser().feed(encode(Pong(sequence=1), bytes(room)))
    assert len(frame.payload) == room
    with pytest.raises(WireError, match="frame"):
        encode(Pong(sequence=1), bytes(room + 1))


def test_a_command_is_no_event_and_an_event_no_command() -> None:
    (frame,) = FrameParser().feed(encode(Ping(sequence=1)))
    with pytest.raises(WireError):
        decode_event(frame)
    (frame,) = FrameParser().feed(encode(Pong(sequence=1)))
    with pytest.raises(WireError):
        decode_command(frame)


def test_fields_of_a_later_version_are_ignored() -> None:
    """Messages that cannot be read are told apart by the protocol's number, not here."""
    header = b"\x83\xa4type\xa4Ping\xa8sequence\x07\xa5extra\x01"
    assert decode_command(Frame(header)) == Ping(sequence=7)


def test_a_request_without_a_field_it_needs_is_refused() -> None:
    command = RunJob(job="a", request=GenerateRequest(prompt="p"), folder="o")
    (frame,) = FrameParser().feed(encode(command))
    with pytest.raises(WireError, match="prompt"):
        decode_command(Frame(frame.header.replace(b"\xa6prompt", b"\xa6promqt")))
