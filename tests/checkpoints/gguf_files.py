"""Writing GGUF files for tests, right or wrong, without the package `gguf`."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from backends.base import Array, DType
from engine.checkpoints.gguf_header import MAGIC, TYPES

_NUMBERS = {dtype: number for number, dtype in TYPES.items()}
# The places of a block's float16 numbers.
_HALVES: Mapping[DType, tuple[int, ...]] = {
    DType.Q4_0: (0,),
    DType.Q4_1: (0, 2),
    DType.Q5_0: (0,),
    DType.Q5_1: (0, 2),
    DType.Q8_0: (0,),
    DType.Q2_K: (80, 82),
    DType.Q3_K: (108,),
    DType.Q4_K: (0, 2),
    DType.Q5_K: (0, 2),
    DType.Q6_K: (208,),
}
QUANTIZED = tuple(_HALVES)


@dataclass(frozen=True)
class Stored:
    """A tensor as a file stores it; `shape` has rows first."""

    dtype: DType
    shape: tuple[int, ...]
    raw: bytes


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def fact(name: str, value: str | int) -> bytes:
    """A text, or a number of 32 bits."""
    if isinstance(value, str):
        return text(name) + struct.pack("<I", 8) + text(value)
    return text(name) + struct.pack("<II", 4, value)


def numbers_fact(name: str, numbers: Sequence[int]) -> bytes:
    """A list of numbers of 32 bits."""
    listed = struct.pack(f"<{len(numbers)}i", *numbers)
    return text(name) + struct.pack("<IIQ", 9, 5, len(numbers)) + listed


def tensor(name: str, shape: Sequence[int], kind: int, offset: int) -> bytes:
    sizes = struct.pack(f"<{len(shape)}Q", *reversed(shape))
    return text(name) + struct.pack("<I", len(shape)) + sizes + struct.pack("<IQ", kind, offset)


def number_of(dtype: DType) -> int:
    """The number that a file has for a type."""
    return _NUMBERS[dtype]


def header(facts: Sequence[bytes], tensors: Sequence[bytes], version: int = 3) -> bytes:
    counts = struct.pack("<IQQ", version, len(tensors), len(facts))
    return MAGIC + counts + b"".join(facts) + b"".join(tensors)


def padded(raw: bytes, alignment: int = 32) -> bytes:
    return raw + bytes(-len(raw) % alignment)


def write_gguf(
    path: Path,
    tensors: Mapping[str, Stored],
    facts: Mapping[str, str | int] | None = None,
    lists: Sequence[bytes] = (),
) -> Path:
    """A sound file."""
    listed: list[bytes] = []
    data = bytearray()
    for name, stored in tensors.items():
        listed.append(tensor(name, stored.shape, _NUMBERS[stored.dtype], len(data)))
        data += padded(stored.raw)
    texts = [fact(name, value) for name, value in (facts or {}).items()]
    path.write_bytes(padded(header([*texts, *lists], listed)) + data)
    return path


def write_sparse_gguf(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]],
    facts: Mapping[str, str | int] | None = None,
    dtype: DType = DType.F16,
) -> Path:
    """A sound file whose weights are a hole in it; ggml has no numbers without a dimension."""
    listed: list[bytes] = []
    size = 0
    for name, shape in shapes.items():
        listed.append(tensor(name, shape or (1,), _NUMBERS[dtype], size))
        size += -(-dtype.bytes_of(prod(shape)) // 32) * 32
    raw = padded(header([fact(*entry) for entry in (facts or {}).items()], listed))
    with path.open("wb") as file:
        file.write(raw)
        file.truncate(len(raw) + size)
    return path


def plain(numbers: Array, dtype: DType = DType.F32) -> Stored:
    return Stored(dtype, numbers.shape, numbers.astype(dtype.numpy).tobytes())


def blocks(dtype: DType, shape: tuple[int, ...], seed: int = 0, scale: float = 0.02) -> Stored:
    """Random blocks whose scales are of the size of `scale`."""
    random, block = np.random.default_rng(seed), dtype.block
    assert block is not None
    raw = random.integers(
        0, 256, (int(np.prod(shape)) // block.elements, block.nbytes), dtype=np.uint8
    )
    for place in _HALVES[dtype]:
        halves = (scale * random.standard_normal((len(raw), 1))).astype(np.float16)
        raw[:, place : place + 2] = halves.view(np.uint8)
    return Stored(dtype, shape, raw.tobytes())


def quantized(numbers: Array, dtype: DType) -> Stored:
    """Numbers rounded to Q8_0 or Q4_0, as ggml's reference rounds them."""
    runs = numbers.astype(np.float32).reshape(-1, 32)
    round_ = {DType.Q8_0: _q8_0, DType.Q4_0: _q4_0}[dtype]
    scales, fields = round_(runs)
    raw = np.concatenate([scales.astype(np.float16).view(np.uint8), fields], axis=1)
    return Stored(dtype, numbers.shape, raw.tobytes())


def six_bits(numbers: Array) -> Stored:
    """Numbers in Q6_K, without the search by which ggml's reference comes a little closer."""
    runs = numbers.astype(np.float32).reshape(-1, 16, 16)
    largest = np.take_along_axis(runs, np.abs(runs).argmax(axis=2)[..., None], axis=2)[..., 0]
    whole = (np.abs(largest).max(axis=1, keepdims=True) / (32 * 127)).astype(np.float16)
    small = np.rint(largest / -32 / whole.astype(np.float32)).clip(-128, 127).astype(np.int8)
    steps = (whole.astype(np.float32) * small)[..., None]
    integers = np.rint(runs / np.where(steps == 0, 1, steps)).clip(-32, 31) + 32
    # Halves of 128 numbers, in four rows each.
    rows = integers.astype(np.uint8).reshape(-1, 2, 4, 32)
    low = (rows[:, :, :2] & np.uint8(15)) | (rows[:, :, 2:] << np.uint8(4))
    shifts = np.array([0, 2, 4, 6], np.uint8)[:, None]
    high = np.bitwise_or.reduce((rows >> np.uint8(4)) << shifts, axis=2)
    count = len(rows)
    fields = low.reshape(count, 128), high.reshape(count, 64), small.view(np.uint8)
    raw = np.concatenate([*fields, whole.view(np.uint8)], axis=1)
    return Stored(DType.Q6_K, numbers.shape, raw.tobytes())


def _q8_0(runs: Array) -> tuple[Array, Array]:
    scales = np.abs(runs).max(axis=1, keepdims=True) / np.float32(127)
    whole = np.rint(runs / np.where(scales == 0, 1, scales))
    return scales, whole.astype(np.int8).view(np.uint8)


def _q4_0(runs: Array) -> tuple[Array, Array]:
    largest = np.take_along_axis(runs, np.abs(runs).argmax(axis=1)[:, None], axis=1)
    scales = largest / np.float32(-8)
    whole = np.trunc(runs / np.where(scales == 0, 1, scales) + np.float32(8.5))
    nibbles = whole.clip(0, 15).astype(np.uint8)
    return scales, nibbles[:, :16] | (nibbles[:, 16:] << np.uint8(4))
