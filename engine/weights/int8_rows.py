"""Weights of linear layers as 8-bit integers with a scale for each row, perhaps rotated.

The format is ComfyUI's `int8_tensorwise` (comfy-kitchen, `comfy_kitchen/tensor/int8.py`): integers
[out, in] times a scale for each row, or one for all. With ConvRot each row was rotated in groups
by a regular Hadamard matrix before it was rounded, which spreads outliers over the group: the
weight is the product, rotated back.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from backends.base import Array, DType
from engine.weights.conversion import convert
from engine.weights.dequantization import PIECE
from engine.weights.sources import Description, Place, StoredProduct, mapped

# The elements that are computed at once, about a processor's cache.
_AT_ONCE = 4 * PIECE
# The smallest regular Hadamard matrix: each row and column has the same sum (comfy-kitchen,
# `tensor/int8_utils.py`).
_REGULAR = np.array([[1, 1, 1, -1], [1, 1, -1, 1], [1, -1, 1, 1], [-1, 1, 1, 1]], np.float32)
_MOST_ROTATED = 4096


@dataclass(frozen=True, slots=True)
class Int8Rows(StoredProduct):
    """A weight [out, in] of int8 integers in a file, times a `scale` for each row or for all.

    `rotation` is the number of columns that were rotated together, a power of 4; 0 for none.
    `seen_as` is another shape that the weight is used in, with the same rows.
    """

    rotation: int = 0
    seen_as: tuple[int, ...] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.seen_as or self.stored.shape

    def rows(self, start: int, stop: int) -> "Int8Rows":
        """Return rows `start` to `stop`, with their scales."""
        stored, shape = self.stored.rows(start, stop), self.seen_as
        # As a list, since a file may have the scales in one row.
        scales = self.scale.reshaped((self.scale.elements,))
        scale = scales.rows(start, stop) if self.scale.elements > 1 else self.scale
        seen_as = (stop - start, *shape[1:]) if shape else None
        return replace(self, stored=stored, scale=scale, seen_as=seen_as)

    def reshaped(self, shape: tuple[int, ...]) -> "Int8Rows":
        """Return the weight in another shape. Raises ValueError for other rows."""
        if not shape or shape[0] != self.stored.shape[0]:
            raise ValueError(f"rows of {self.stored.shape} stay rows, which {shape} does not have")
        return replace(self, seen_as=shape)

    def read_as(self, element: DType) -> Array:
        """Return the numbers in `element` type, computed in float32 some rows at a time."""
        integers, scales = mapped(self.stored), self.scales()
        found, columns = np.empty(integers.shape, element.numpy), integers.shape[1]
        share = max(1, _AT_ONCE // columns)
        for first in range(0, len(integers), share):
            part = slice(first, first + share)
            numbers = integers[part].astype(np.float32) * scales[part]
            if self.rotation:
                numbers = rotated(numbers, self.rotation)
            convert(numbers.reshape(-1), found[part].reshape(-1))
        return found.reshape(self.shape)

    def integers(self) -> Array:
        """Return the integers as a view of the file: int8 [out, in]."""
        return mapped(self.stored)

    def scales(self) -> Array:
        """Return a scale for each row: float32 [out, 1]."""
        scales = mapped(self.scale).astype(np.float32).reshape(-1, 1)
        return np.broadcast_to(scales, (self.stored.shape[0], 1))

    def describe(self, place: Place) -> Description:
        """Return both places, the rotation and the shape."""
        return ["int8 rows", place(self.stored), place(self.scale), self.rotation, *self.shape]


def rotated(numbers: Array, group: int) -> Array:
    """Rotate each group of columns by the regular Hadamard matrix of its size: float32 [rows, in].

    The matrix is symmetric and its own inverse, so that it also rotates back.
    """
    return (numbers.reshape(-1, group) @ _hadamard(group)).reshape(numbers.shape)


@cache
def _hadamard(side: int) -> Array:
    """Return the Kronecker power of the matrix of side 4, divided by its root: float32."""
    matrix = _REGULAR
    while len(matrix) < side:
        matrix = np.kron(matrix, _REGULAR)
    return matrix / np.float32(np.sqrt(side))


def is_rotation(group: int, columns: int) -> bool:
    """Return True for a power of 4, from 4 to 4096, that divides a number of columns."""
    is_power = group & (group - 1) == 0 and group.bit_length() % 2 == 1
    return 4 <= group <= _MOST_ROTATED and is_power and columns % group == 0
