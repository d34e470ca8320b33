"""Weights with differences added, as by a LoRA or a merge.

A patched weight is `base + sum of strength * difference`, computed in float32 and rounded once.
The original weight set is not changed: see `engine.weights.weight_set`.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from backends.base import Array, DType, FileSlice
from engine.weights.sources import Description, Place, WeightSource


class Difference(Protocol):
    """Numbers to add to a weight with the same number of elements, in row-major order."""

    @property
    def elements(self) -> int:
        """The number of elements."""
        ...

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, times the strength: float32, [stop - start]."""
        ...

    def parts(self) -> tuple[FileSlice, ...]:
        """Return every file slice that the difference is read from, in order."""
        ...

    def describe(self, place: Place) -> Description:
        """Describe all that the numbers depend on but file contents, for a digest."""
        ...


@dataclass(frozen=True, slots=True)
class FullDifference:
    """The difference `strength * numbers`."""

    numbers: WeightSource
    strength: float

    @property
    def elements(self) -> int:
        """The number of elements."""
        return self.numbers.elements

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, times the strength: float32, [stop - start]."""
        flat = self.numbers.reshaped((self.elements,)).rows(start, stop)
        return flat.read_as(DType.F32) * np.float32(self.strength)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the numbers."""
        return self.numbers.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the numbers, and the strength."""
        return ["full", self.numbers.describe(place), float(self.strength).hex()]


@dataclass(frozen=True, slots=True)
class LowRankDifference:
    """The difference `strength * up @ down` (LoRA: Hu et al. 2021, equation 3).

    `up` is [out, rank, ...] and `down` [rank, in, ...]; the axes after the first are flattened, so
    `down` may be a convolution's kernel and `up` a 1x1 kernel. A LoRA's strength is the request's
    strength times alpha / rank. Raises ValueError if the ranks differ.
    """

    up: WeightSource
    down: WeightSource
    strength: float

    def __post_init__(self) -> None:
        if self.up.elements != self.up.shape[0] * self.down.shape[0]:
            raise ValueError(f"{self.up.shape} and {self.down.shape} have different ranks")

    @property
    def elements(self) -> int:
        """The number of elements."""
        return self.up.shape[0] * self._columns

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, times the strength: float32, [stop - start]."""
        columns, rank = self._columns, self.down.shape[0]
        first, last = start // columns, -(-stop // columns)
        up = self.up.reshaped((self.up.shape[0], rank)).rows(first, last).read_as(DType.F32)
        down = self.down.reshaped((rank, columns)).read_as(DType.F32)
        product = (up @ down).reshape(-1)[start - first * columns : stop - first * columns]
        return product * np.float32(self.strength)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of both factors."""
        return *self.up.parts(), *self.down.parts()

    def describe(self, place: Place) -> Description:
        """Return the descriptions of both factors, and the strength."""
        factors = self.up.describe(place), self.down.describe(place)
        return ["low rank", *factors, float(self.strength).hex()]

    @property
    def _columns(self) -> int:
        return self.down.elements // self.down.shape[0]


@dataclass(frozen=True, slots=True)
class PatchedWeight:
    """The sum of the weight `unpatched` and its differences.

    `unpatched` may be a part of the weight that the differences are for, in any shape; it begins at
    element `start` of the differences.
    """

    unpatched: WeightSource
    differences: tuple[Difference, ...]
    start: int = 0

    @property
    def dtype(self) -> DType:
        """The element type that the weight without patches is stored in."""
        return self.unpatched.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.unpatched.shape

    @property
    def elements(self) -> int:
        """The number of the tensor's elements."""
        return self.unpatched.elements

    @property
    def base(self) -> WeightSource:
        """The weight without patches."""
        return self.unpatched.base

    def rows(self, start: int, stop: int) -> "PatchedWeight":
        """Return rows `start` to `stop` of the first axis, with their part of the differences."""
        row = self.elements // self.shape[0]
        part = self.unpatched.rows(start, stop)
        return PatchedWeight(part, self.differences, self.start + start * row)

    def reshaped(self, shape: tuple[int, ...]) -> "PatchedWeight":
        """Return the same numbers in the same order, in another shape of equal size."""
        return PatchedWeight(self.unpatched.reshaped(shape), self.differences, self.start)

    def read(self) -> Array:
        """Return the sum in float32."""
        return self.read_as(DType.F32)

    def read_as(self, element: DType) -> Array:
        """Return the sum, computed in float32 and rounded to `element` type once."""
        total = self.unpatched.read_as(DType.F32)
        flat = total.reshape(-1)
        for difference in self.differences:
            flat += difference.read_flat(self.start, self.start + self.elements)
        return total.astype(element.numpy, copy=False)

    def slice_as(self, element: DType) -> FileSlice | None:
        """Return None: a patched weight is stored in no file."""
        return None

    def needs_conversion(self, element: DType) -> bool:
        """Return True if the weight without patches needs conversion."""
        return self.unpatched.needs_conversion(element)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the weight without patches, then those of the differences."""
        added = (part for difference in self.differences for part in difference.parts())
        return *self.unpatched.parts(), *added

    def describe(self, place: Place) -> Description:
        """Return the descriptions of the weight without patches and of each difference."""
        differences = [difference.describe(place) for difference in self.differences]
        return ["patched", self.unpatched.describe(place), self.start, differences]
