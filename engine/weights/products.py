"""Products of matrices for threads of which each computes a weight."""

import math
from collections.abc import Iterator

import numpy as np

from backends.base import Array

# A product is computed in tiles of at most this many multiplications. OpenBLAS takes one thread for
# them. Weights are bound in several threads already: with as many of OpenBLAS in each of them, a
# product was measured to take up to a hundred times as long.
_MULTIPLICATIONS = 1 << 18


def product(left: Array, right: Array, out: Array | None = None) -> Array:
    """Return the product of float32 matrices, computed by the calling thread alone.

    With `out` it is written there: fresh memory is slow to write to for the first time.
    Tiles of one size are one call of NumPy, which leaves the interpreter to others meanwhile.
    """
    (rows, inner), columns = left.shape, right.shape[1]
    found = np.empty((rows, columns), np.float32) if out is None else out
    height = min(max(math.isqrt(_MULTIPLICATIONS // inner), 1), rows)
    width = min(max(_MULTIPLICATIONS // (height * inner), 1), columns)
    for top, bottom, tall in _spans(rows, height):
        for first, last, wide in _spans(columns, width):
            part = found[top:bottom, first:last].reshape(-1, tall, (last - first) // wide, wide)
            np.matmul(
                left[top:bottom].reshape(-1, 1, tall, inner),
                right[:, first:last].reshape(inner, -1, wide).transpose(1, 0, 2),
                out=part.transpose(0, 2, 1, 3),
            )
    return found


def _spans(size: int, tile: int) -> Iterator[tuple[int, int, int]]:
    """Yield the part of a side that whole tiles cover, then the rest: start, stop, tile."""
    whole = size // tile * tile
    yield 0, whole, tile
    if whole < size:
        yield whole, size, size - whole
