"""Messages of a trial's child process: one line of JSON each, on a pipe of their own."""

from typing import TypeAlias

import msgspec

from engine.api.machine import PrecisionFigures
from engine.devices.verdicts import TriedDevice
from engine.untrusted_json import JsonError, decode_json


class DevicesFound(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The first message: the backend's devices, before any of them runs."""

    devices: tuple[TriedDevice, ...]


class TrialStarted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A device starts to compute. If the process dies from here on, this device is to blame."""

    device: str
    precision: str


class TrialFinished(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The result of one device in one precision.

    `disturbed`: other programs kept the processors busy while it was timed.
    """

    device: str
    figures: PrecisionFigures
    disturbed: bool = False


class AllReported(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The last message: the child process has reported everything."""


TrialMessage: TypeAlias = DevicesFound | TrialStarted | TrialFinished | AllReported
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder[TrialMessage](TrialMessage)  # pyright: ignore[reportArgumentType]


def encode_message(message: TrialMessage) -> bytes:
    """Encode a message as a line of JSON."""
    return _encoder.encode(message) + b"\n"


def decode_message(line: bytes) -> TrialMessage | None:
    """Decode a line; return None if it is not a message."""
    try:
        return decode_json(line, _decoder)
    except JsonError:
        return None
