"""The numbers that ggml's quantised blocks stand for.

The layouts are those of `ggml-common.h`; the numbers are those of the package `gguf`
(`gguf/quants.py`), bit for bit: each is computed in float32, in the same order.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from backends.base import Array, DType

# Weights are dequantised in pieces of this many elements, a multiple of every block's.
PIECE = 1 << 16
_LARGE = 256  # the elements of a block of the types whose names end with K
_NIBBLES = np.array([0, 4], np.uint8).reshape(1, 2, 1)
_PAIRS = np.array([0, 2, 4, 6], np.uint8).reshape(1, 4, 1)
_BITS = np.arange(8, dtype=np.uint8).reshape(1, 8, 1)
_LOW, _BOTTOM, _LAST = np.uint8(0x0F), np.uint8(3), np.uint8(1)


def dequantized(raw: Array, dtype: DType) -> Array:
    """Return the numbers of whole blocks, uint8 [bytes], as float32 [elements]."""
    block = dtype.block
    assert block is not None, "numbers of other types are stored one by one"
    blocks = raw.reshape(-1, block.nbytes)
    # A scale may be infinite, times zero: the file's own values, which the check for NaN finds.
    with np.errstate(invalid="ignore", over="ignore"):
        return _NUMBERS[dtype](blocks).reshape(-1)


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
    count = len(field)
    halves = field.reshape(-1, 1, run) >> _NIBBLES
    return (halves & _LOW).reshape(count, -1)


def _fifth_bits(field: Array) -> Array:
    """Return the bits of 32-bit words, the lowest first, as 16 or 0: uint8 [blocks, 32]."""
    return np.unpackbits(field, axis=1, bitorder="little") << np.uint8(4)


def _signed(numbers: Array, zero: int) -> Array:
    return (numbers.astype(np.int8) - np.int8(zero)).astype(np.float32)


def _q4_0(blocks: Array) -> Array:
    scale, field = _parts(blocks, 2)
    return _scale(scale) * _signed(_nibbles(field, 16), 8)


def _q4_1(blocks: Array) -> Array:
    scale, least, field = _parts(blocks, 2, 2)
    return _scale(scale) * _nibbles(field, 16).astype(np.float32) + _scale(least)


def _q5_0(blocks: Array) -> Array:
    scale, high, field = _parts(blocks, 2, 4)
    return _scale(scale) * _signed(_nibbles(field, 16) | _fifth_bits(high), 16)


def _q5_1(blocks: Array) -> Array:
    scale, least, high, field = _parts(blocks, 2, 2, 4)
    numbers = (_nibbles(field, 16) | _fifth_bits(high)).astype(np.float32)
    return _scale(scale) * numbers + _scale(least)


def _q8_0(blocks: Array) -> Array:
    scale, field = _parts(blocks, 2)
    return field.view(np.int8).astype(np.float32) * _scale(scale)


def _q2_k(blocks: Array) -> Array:
    scales, field, scale, least = _parts(blocks, 16, 64, 2)
    runs = (_scale(scale) * (scales & _LOW).astype(np.float32))[..., None]
    offsets = (_scale(least) * (scales >> np.uint8(4)).astype(np.float32))[..., None]
    numbers = (field.reshape(-1, 1, 32) >> _PAIRS) & _BOTTOM
    return runs * numbers.reshape(-1, 16, 16).astype(np.float32) - offsets


def _q3_k(blocks: Array) -> Array:
    count = len(blocks)
    mask, field, packed, scale = _parts(blocks, 32, 64, 12)
    low = ((packed[:, None, :8] >> _NIBBLES) & _LOW).reshape(count, 16)
    high = ((packed[:, None, 8:] >> _PAIRS) & _BOTTOM).reshape(count, 16)
    runs = (_scale(scale) * _signed(low | (high << np.uint8(4)), 32))[..., None]
    two = ((field.reshape(-1, 1, 32) >> _PAIRS) & _BOTTOM).reshape(count, 16, 16)
    # Four is subtracted where the mask has no bit.
    third = ((mask.reshape(-1, 1, 32) >> _BITS) & _LAST).reshape(count, 16, 16) ^ _LAST
    return runs * (two.astype(np.int8) - (third << np.uint8(2)).astype(np.int8)).astype(np.float32)


def _runs_of_32(scale: Array, least: Array, packed: Array) -> tuple[Array, Array]:
    """Return scales and offsets of runs of 32 numbers, float32 [blocks, 8, 1].

    They are packed as 6 bits each in 12 bytes.
    """
    first, second, third = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    low, top = np.uint8(0x3F), np.uint8(0x30)
    scales = np.concatenate([first & low, (third & _LOW) | ((first >> np.uint8(2)) & top)], axis=1)
    offsets = np.concatenate(
        [second & low, (third >> np.uint8(4)) | ((second >> np.uint8(2)) & top)], axis=1
    )
    return (
        (_scale(scale) * scales.astype(np.float32))[..., None],
        (_scale(least) * offsets.astype(np.float32))[..., None],
    )


def _q4_k(blocks: Array) -> Array:
    scale, least, packed, field = _parts(blocks, 2, 2, 12)
    runs, offsets = _runs_of_32(scale, least, packed)
    return runs * _nibbles(field, 32).reshape(-1, 8, 32).astype(np.float32) - offsets


def _q5_k(blocks: Array) -> Array:
    scale, least, packed, high, field = _parts(blocks, 2, 2, 12, 32)
    runs, offsets = _runs_of_32(scale, least, packed)
    fifth = ((high.reshape(-1, 1, 32) >> _BITS) & _LAST) << np.uint8(4)
    numbers = _nibbles(field, 32).reshape(-1, 8, 32) | fifth
    return runs * numbers.astype(np.float32) - offsets


def _q6_k(blocks: Array) -> Array:
    low, high, scales, scale = _parts(blocks, 128, 64, 16)
    runs = (_scale(scale) * scales.view(np.int8).astype(np.float32))[..., None]
    upper = ((high.reshape(-1, 1, 32) >> _PAIRS) & _BOTTOM) << np.uint8(4)
    numbers = _nibbles(low, 64).reshape(-1, _LARGE) | upper.reshape(-1, _LARGE)
    return runs * _signed(numbers, 32).reshape(-1, 16, 16)


_NUMBERS: Mapping[DType, Callable[[Array], Array]] = {
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
QUANTIZED: Sequence[DType] = tuple(_NUMBERS)
