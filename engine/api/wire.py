"""Frames: the binary format of messages on a pipe.

    u32 header length | u32 payload length | header: msgpack of a message | payload: raw bytes

Both numbers are little-endian. A header has at most 4 MiB, a frame at most 64 MiB: a larger one is
refused before memory is allocated for it.
"""

import struct
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from engine.api.messages import Command, Event
from engine.api.texts import SIGN_BYTES, with_signs, without_signs

Message = TypeVar("Message")

MAX_HEADER_BYTES = 4 << 20
MAX_FRAME_BYTES = 64 << 20
_PREFIX = struct.Struct("<II")

_encoder = msgspec.msgpack.Encoder()
_commands = msgspec.msgpack.Decoder[Command](Command)  # pyright: ignore[reportArgumentType]
_events = msgspec.msgpack.Decoder[Event](Event)  # pyright: ignore[reportArgumentType]


class WireError(Exception):
    """The other side violates the protocol; the connection cannot be used any further."""


class Frame(msgspec.Struct, frozen=True):
    """One encoded message and its payload."""

    header: bytes
    payload: bytes = b""


def encode(message: Command | Event, payload: bytes = b"") -> bytes:
    """Return the bytes of a message's frame. Raises WireError if it exceeds the limits."""
    header = _header(message)
    _require_size(len(header), len(payload))
    return _PREFIX.pack(len(header), len(payload)) + header + payload


def decode_command(frame: Frame) -> Command:
    """Return the command in a frame. Raises WireError if it holds none."""
    try:
        return _decoded(frame.header, _commands)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"not a command: {error}") from error


def decode_event(frame: Frame) -> Event:
    """Return the event in a frame. Raises WireError if it holds none."""
    try:
        return _decoded(frame.header, _events)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"not an event: {error}") from error


class FrameParser:
    """A parser of a byte stream, fed in pieces of any size, into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield each frame that is now complete. Raises WireError for one that is too large."""
        self._buffer += data
        while len(self._buffer) >= _PREFIX.size:
            header_length, payload_length = _PREFIX.unpack_from(self._buffer)
            _require_size(header_length, payload_length)
            begin = _PREFIX.size + header_length
            end = begin + payload_length
            if len(self._buffer) < end:
                return
            frame = Frame(bytes(self._buffer[_PREFIX.size : begin]), bytes(self._buffer[begin:end]))
            del self._buffer[:end]
            yield frame

    @property
    def pending_bytes(self) -> int:
        """The number of bytes received of a frame that is not complete yet."""
        return len(self._buffer)


def _header(message: Command | Event) -> bytes:
    """Encode a message as MessagePack; texts that UTF-8 cannot express are escaped with signs."""
    try:
        header = _encoder.encode(message)
    except UnicodeEncodeError:
        header = SIGN_BYTES
    if SIGN_BYTES not in header:
        return header
    return _encoder.encode(with_signs(msgspec.to_builtins(message, builtin_types=(bytes,))))


def _decoded(header: bytes, decoder: "msgspec.msgpack.Decoder[Message]") -> Message:
    if SIGN_BYTES not in header:
        return decoder.decode(header)
    return msgspec.convert(without_signs(msgspec.msgpack.decode(header)), decoder.type)


def _require_size(header: int, payload: int) -> None:
    if header > MAX_HEADER_BYTES:
        raise WireError(f"a header of {header} bytes; at most {MAX_HEADER_BYTES} are allowed")
    if _PREFIX.size + header + payload > MAX_FRAME_BYTES:
        raise WireError(f"a frame of {header + payload} bytes; at most {MAX_FRAME_BYTES}")
