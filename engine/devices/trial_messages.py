"""What the child process of a trial says: a line of JSON each, on a pipe nobody else writes to."""

from typing import TypeAlias

import msgspec

from engine.api.machine import PrecisionFigures
from engine.devices.verdicts import TriedDevice
from engine.untrusted_json import JsonError, decode_json


class Saw(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The backend's devices; nothing has run on them yet."""

    devices: tuple[TriedDevice, ...]


class Tries(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What is run from now on; how this process ends is that device's doing."""

    device: str
    precision: str


class Did(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """How it went."""

    device: str
    figures: PrecisionFigures


class Over(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Everything was said."""


Word: TypeAlias = Saw | Tries | Did | Over
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder[Word](Word)  # pyright: ignore[reportArgumentType]


def encode_word(word: Word) -> bytes:
    """A word as a line."""
    return _encoder.encode(word) + b"\n"


def decode_word(line: bytes) -> Word | None:
    """The word in a line; None where it is none."""
    try:
        return decode_json(line, _decoder)
    except JsonError:
        return None
