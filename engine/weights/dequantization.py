"""The numbers that ggml's quantised blocks stand for.

The layouts are those of `ggml-common.h`; the numbers are those of the package `gguf`
(`gguf/quants.py`), bit for bit: each is computed in float32, in the same order.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from backends.base import Array, DType

# Weights are dequantised in pieces of this many elements, a multiple of every block's.
PIECE = 1 << 16
_NIBBLES = np.array([0, 4], np.uint8).reshape(1, 2, 1)
# Eight bytes are shifted and masked at once.
_WORD_NIBBLES = _NIBBLES.astype(np.uint64)
_LOW_HALVES = np.uint64(0x0F0F0F0F0F0F0F0F)
_PAIRS = np.array([0, 2, 4, 6], np.uint8).reshape(1, 4, 1)
_BITS = np.arange(8, dtype=np.uint8).reshape(1, 8, 1)
_LOW, _BOTTOM, _LAST = np.uint8(0x0F), np.uint8(3), np.uint8(1)


class Runs(NamedTuple):
    """The numbers of blocks as runs that share a scale: scale * (integer - zero) - offset.

    `integers` returns uint8 [runs, run]: most of the work, which whoever needs the scales alone
    leaves out. Scales and offsets are float32 [runs, 1].
    """

    integers: Callable[[], Array]
    zero: int
    scales: Array
    offsets: Array | None = None


def runs_of(raw: Array, dtype: DType) -> Runs:
    """Return whole blocks, uint8 [bytes], as runs."""
    block = dtype.block
    assert block is not None, "numbers of other types are stored one by one"
    # A scale may be infinite, times zero: the file's own values, which the check for NaN finds.
    with np.errstate(invalid="ignore", over="ignore"):
        return _RUNS[dtype](raw.reshape(-1, block.nbytes))


def dequantized(raw: Array, dtype: DType) -> Array:
    """Return the numbers of whole blocks, uint8 [bytes], as float32 [elements]."""
    return numbers_of(runs_of(raw, dtype)).reshape(-1)


def numbers_of(runs: Runs) -> Array:
    """Return the numbers of runs: float32 [runs, run]."""
    integers, zero, scales, offsets = runs
    with np.errstate(invalid="ignore", over="ignore"):
        numbers = integers().astype(np.float32)
        if zero:
            numbers -= np.float32(zero)
        numbers *= scales
        if offsets is not None:
            numbers -= offsets
    return numbers


def _parts(blocks: Array, *widths: int) -> list[Array]:
    """Split blocks into fields of so many bytes; the last field has the rest."""
    places = np.cumsum(widths)
    return [
        np.ascontiguousarray(blocks[:, start:stop])
        for start, stop in zip([0, *places], [*places, blocks.shape[1]], strict=True)
    ]


def _scale(field: Array) -> Array:
    """Return a field's float16 numbers as float32 [blocks, 1]."""
    return field.view(np.float16).astype(np.float32)


def _nibbles(field: Array, run: int) -> Array:
    """Return the low half of each `run` bytes, then their high half: uint8 [blocks, elements]."""
    words = field.view(np.uint64).reshape(-1, 1, run // 8)
    halves = (words >> _WORD_NIBBLES) & _LOW_HALVES
    return halves.view(np.uint8).reshape(len(field), -1)


def _five_bits(field: Array, high: Array) -> Array:
    """Return halves of bytes with their fifth bits, the lowest first: uint8 [blocks, 32]."""
    return _nibbles(field, 16) | (np.unpackbits(high, axis=1, bitorder="little") << np.uint8(4))


def _in_layers(field: Array, shifts: Array, mask: np.uint8, run: int) -> Array:
    """Return the bits of `mask` in each 32 bytes at each shift: uint8 [runs, run]."""
    return ((field.reshape(-1, 1, 32) >> shifts) & mask).reshape(-1, run)


def _q4_0(blocks: Array) -> Runs:
    scale, field = _parts(blocks, 2)
    return Runs(lambda: _nibbles(field, 16), 8, _scale(scale))


def _q4_1(blocks: Array) -> Runs:
    scale, least, field = _parts(blocks, 2, 2)
    return Runs(lambda: _nibbles(field, 16), 0, _scale(scale), -_scale(least))


def _q5_0(blocks: Array) -> Runs:
    scale, high, field = _parts(blocks, 2, 4)
    return Runs(lambda: _five_bits(field, high), 16, _scale(scale))


def _q5_1(blocks: Array) -> Runs:
    scale, least, high, field = _parts(blocks, 2, 2, 4)
    return Runs(lambda: _five_bits(field, high), 0, _scale(scale), -_scale(least))


def _q8_0(blocks: Array) -> Runs:
    scale, field = _parts(blocks, 2)
    # The bits of a signed byte with its sign turned are those of the byte plus 128.
    return Runs(lambda: field ^ np.uint8(128), 128, _scale(scale))


def _q2_k(blocks: Array) -> Runs:
    packed, field, scale, least = _parts(blocks, 16, 64, 2)
    scales = _scale(scale) * (packed & _LOW).astype(np.float32)
    offsets = _scale(least) * (packed >> np.uint8(4)).astype(np.float32)

    def integers() -> Array:
        return _in_layers(field, _PAIRS, _BOTTOM, 16)

    return Runs(integers, 0, scales.reshape(-1, 1), offsets.reshape(-1, 1))


def _q3_k(blocks: Array) -> Runs:
    count = len(blocks)
    mask, field, packed, scale = _parts(blocks, 32, 64, 12)
    low = ((packed[:, None, :8] >> _NIBBLES) & _LOW).reshape(count, 16)
    high = ((packed[:, None, 8:] >> _PAIRS) & _BOTTOM).reshape(count, 16)
    small = (low | (high << np.uint8(4))).astype(np.float32) - np.float32(32)

    def integers() -> Array:
        # The numbers are four less where the mask has no bit.
        third = _in_layers(mask, _BITS, _LAST, 16) << np.uint8(2)
        return _in_layers(field, _PAIRS, _BOTTOM, 16) | third

    return Runs(integers, 4, (_scale(scale) * small).reshape(-1, 1))


def _runs_of_32(scale: Array, least: Array, packed: Array) -> tuple[Array, Array]:
    """Return scales and offsets of runs of 32 numbers, which are packed as 6 bits each."""
    first, second, third = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    low, top, two, four = np.uint8(0x3F), np.uint8(0x30), np.uint8(2), np.uint8(4)
    scales = np.concatenate([first & low, (third & _LOW) | ((first >> two) & top)], axis=1)
    offsets = np.concatenate([second & low, (third >> four) | ((second >> two) & top)], axis=1)
    return (
        (_scale(scale) * scales.astype(np.float32)).reshape(-1, 1),
        (_scale(least) * offsets.astype(np.float32)).reshape(-1, 1),
    )


def _q4_k(blocks: Array) -> Runs:
    scale, least, packed, field = _parts(blocks, 2, 2, 12)

    def integers() -> Array:
        return _nibbles(field, 32).reshape(-1, 32)

    return Runs(integers, 0, *_runs_of_32(scale, least, packed))


def _q5_k(blocks: Array) -> Runs:
    scale, least, packed, high, field = _parts(blocks, 2, 2, 12, 32)

    def integers() -> Array:
        fifth = _in_layers(high, _BITS, _LAST, 32) << np.uint8(4)
        return _nibbles(field, 32).reshape(-1, 32) | fifth

    return Runs(integers, 0, *_runs_of_32(scale, least, packed))


def _q6_k(blocks: Array) -> Runs:
    low, high, small, scale = _parts(blocks, 128, 64, 16)
    scales = _scale(scale) * small.view(np.int8).astype(np.float32)

    def integers() -> Array:
        upper = _in_layers(high, _PAIRS, _BOTTOM, 16) << np.uint8(4)
        return _nibbles(low, 64).reshape(-1, 16) | upper

    return Runs(integers, 32, scales.reshape(-1, 1))


_RUNS: Mapping[DType, Callable[[Array], Runs]] = {
    DType.Q4_0: _q4_0,
    DType.Q4_1: _q4_1,
    DType.Q5_0: _q5_0,
    DType.Q5_1: _q5_1,
    DType.Q8_0: _q8_0,
    DType.Q2_K: _q2_k,
    DType.Q3_K: _q3_k,
    DType.Q4_K: _q4_k,
    DType.Q5_K: _q5_k,
    DType.Q6_K: _q6_k,
}
