"""Patches of some rows of a weight, and some rows of a patch.

A file may store the projections q, k and v as one layer where a network has three, or as three
where a network has one.
"""

import math
from dataclasses import dataclass

import numpy as np

from backends.base import Array, FileSlice
from engine.weights.patched import Difference, Patch, Transform, fits
from engine.weights.sources import Description, Place


@dataclass(frozen=True, slots=True)
class PlacedDifference:
    """A difference of the elements from `first` on of a weight with `elements` elements."""

    part: Difference
    first: int
    elements: int

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, zero outside the part: float32, [stop - start]."""
        found = np.zeros(stop - start, np.float32)
        begin, end = max(start, self.first), min(stop, self.first + self.part.elements)
        if begin < end:
            numbers = self.part.read_flat(begin - self.first, end - self.first)
            found[begin - start : end - start] = numbers
        return found

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the difference."""
        return self.part.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the difference, and its place."""
        return ["placed", self.part.describe(place), self.first, self.elements]


@dataclass(frozen=True, slots=True)
class CutDifference:
    """The elements from `first` on of a difference, `elements` of them."""

    whole: Difference
    first: int
    elements: int

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, times the strength: float32, [stop - start]."""
        return self.whole.read_flat(self.first + start, self.first + stop)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the difference."""
        return self.whole.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the difference, and the part's place."""
        return ["cut", self.whole.describe(place), self.first, self.elements]


@dataclass(frozen=True, slots=True)
class PlacedTransform(Transform):
    """A transform of the rows `start` to `stop` of a weight."""

    part: Transform
    start: int
    stop: int

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if the weight has these rows, and the transform fits them."""
        return self.stop <= shape[0] and self.part.fits((self.stop - self.start, *shape[1:]))

    def apply(self, weight: Array) -> Array:
        """Return the weight with the rows changed."""
        rows = slice(self.start, self.stop)
        weight[rows] = self.part.apply(weight[rows].copy())
        return weight

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the transform."""
        return self.part.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the transform, and the rows."""
        return ["placed rows", self.part.describe(place), self.start, self.stop]


def placed(patch: Patch, start: int, stop: int, shape: tuple[int, ...]) -> Patch:
    """Return a patch of rows `start` to `stop` as one of the whole weight, of this shape.

    Raises ValueError if the patch does not fit the rows.
    """
    if stop > shape[0] or not fits(patch, (stop - start, *shape[1:])):
        raise ValueError(f"the patch does not fit rows {start} to {stop} of {shape}")
    if isinstance(patch, Transform):
        return PlacedTransform(patch, start, stop)
    columns = math.prod(shape[1:])
    return PlacedDifference(patch, start * columns, math.prod(shape))


def rows_of(patch: Patch, start: int, stop: int, shape: tuple[int, ...]) -> Difference:
    """Return rows `start` to `stop` of the patch of a weight of this shape.

    Raises ValueError for a transform, whose rows may depend on each other, and if the patch does
    not fit the weight.
    """
    if isinstance(patch, Transform) or stop > shape[0] or not fits(patch, shape):
        raise ValueError(f"the patch has no rows {start} to {stop} of {shape}")
    columns = math.prod(shape[1:])
    return CutDifference(patch, start * columns, (stop - start) * columns)
