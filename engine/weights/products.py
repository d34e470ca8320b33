"""Products of matrices for threads of which each computes a weight."""

import numpy as np

from backends.base import Array

# A product is computed in tiles of these rows and at most this many multiplications. OpenBLAS takes
# one thread for them. Weights are bound in several threads already: with as many of OpenBLAS in
# each of them, a product was measured to take up to a hundred times as long.
_ROWS, _MULTIPLICATIONS = 16, 1 << 18


def product(left: Array, right: Array) -> Array:
    """Return the product of float32 matrices, computed by the calling thread alone."""
    found = np.empty((len(left), right.shape[1]), np.float32)
    width = max(_MULTIPLICATIONS // (_ROWS * len(right)), 1)
    for column in range(0, right.shape[1], width):
        part = right[:, column : column + width]
        for row in range(0, len(left), _ROWS):
            tile = found[row : row + _ROWS, column : column + width]
            np.matmul(left[row : row + _ROWS], part, out=tile)
    return found
