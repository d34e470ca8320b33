"""Zeros of blocks that are no integers, as offsets apart, where the processor rounds to 8 bits.

The plug-in rounds beside zeros that are integers. So all blocks of a matrix get the integer in the
middle of their zeros, and what is missing is a product of its own (`backends.block_products`).
Its factors, the offsets, are held at 8 bits: so the matrix takes no more memory than with zeros.
"""

from collections.abc import Iterable, Mapping
from math import gcd
from typing import NamedTuple

import numpy as np

from backends.base import Array
from backends.block_products import BlockMatrix

_BITS, _MIDDLE = 8, 128
# Offsets of a row that share a scale, at most: what is multiplied with them is rounded, too, then.
_LONGEST = 32
# The zeros that are looked at for their middle, and the blocks that are computed at once.
_LOOKED_AT, _AT_ONCE = 1 << 14, 1 << 16


class Offsets(NamedTuple):
    """One integer for all blocks of a matrix, in place of their zeros, and the blocks' offsets.

    `matrix` [out, blocks in a row] names `arrays`, its integers and scales.
    """

    zero: int
    matrix: BlockMatrix
    arrays: Mapping[str, Array]


def offsets_apart(
    matrices: Iterable[BlockMatrix], weights: Mapping[str, Array], length: int
) -> dict[str, Offsets]:
    """Return the offsets of the matrices beside which x is rounded, by their integers' names.

    `length`: the numbers of x that share a scale, and that a block has at least; 0 for no rounding.
    """
    found: dict[str, Offsets] = {}
    for blocks in matrices:
        if length and blocks.zeros and blocks.block >= length and blocks.integers not in found:
            found[blocks.integers] = _offsets(blocks, weights)
    return found


def _offsets(blocks: BlockMatrix, weights: Mapping[str, Array]) -> Offsets:
    rows, columns = blocks.sides
    zeros, scales = (weights[name].reshape(rows, columns) for name in (blocks.zeros, blocks.scales))
    zero, run = _middle(zeros, blocks.bits), gcd(columns, _LONGEST)
    integers = np.empty((rows, columns // run, run), np.uint8)
    steps = np.empty((rows, columns // run), scales.dtype)
    share = max(1, _AT_ONCE // columns)
    for first in range(0, rows, share):
        part = slice(first, first + share)
        from_zeros = np.float32(zero) - zeros[part].astype(np.float32)
        whole = from_zeros * scales[part].astype(np.float32)
        integers[part], steps[part] = _rounded(whole.reshape(-1, columns // run, run), steps.dtype)
    names = f"{blocks.integers}:offsets", f"{blocks.integers}:offsets' scales"
    matrix = BlockMatrix(*names, "", _BITS, run, (rows, columns))
    return Offsets(zero, matrix, dict(zip(names, (integers, steps), strict=True)))


def _middle(zeros: Array, bits: int) -> int:
    """Return the integer, of so many bits, next to the median of some of the zeros."""
    some = zeros.reshape(-1)[:: max(1, zeros.size // _LOOKED_AT)].astype(np.float32)
    return int(np.clip(np.rint(np.median(some)), 0, (1 << bits) - 1))


def _rounded(numbers: Array, element: np.dtype[np.generic]) -> tuple[Array, Array]:
    """Return numbers [..., run] as integers of 8 bits about 128, and the step of each run."""
    largest = np.maximum(numbers.max(axis=-1), -numbers.min(axis=-1))
    steps = (largest / np.float32(_MIDDLE - 1)).astype(element)
    wide = steps.astype(np.float32)[..., None]
    whole = np.rint(numbers / np.where(wide == 0, np.float32(1), wide)) + np.float32(_MIDDLE)
    return np.clip(whole, 0, 255).astype(np.uint8), steps
