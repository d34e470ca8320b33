"""Weights that are computed from others: packed projections, summed kernels, other layouts."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from backends.base import Array, DType, FileSlice
from engine.weights.sources import Description, Place, WeightSource

# Writes what is derived from weights of any element type to an array of another.
Derive = Callable[[Sequence[Array], Array], None]


@dataclass(frozen=True, slots=True)
class DerivedWeight:
    """A weight of `shape` that `derive` computes from `sources`, of which there is at least one.

    `label` says how: two weights of the same sources and label have the same numbers.
    """

    sources: tuple[WeightSource, ...]
    shape: tuple[int, ...]
    derive: Derive
    label: str

    @property
    def dtype(self) -> DType:
        """The type that the first source is stored in."""
        return self.sources[0].dtype

    @property
    def elements(self) -> int:
        """The number of the tensor's elements."""
        return math.prod(self.shape)

    @property
    def base(self) -> "DerivedWeight":
        """Derived from the sources without patches; itself where none has any."""
        bases = tuple(source.base for source in self.sources)
        if all(base is source for base, source in zip(bases, self.sources, strict=True)):
            return self
        return DerivedWeight(bases, self.shape, self.derive, self.label)

    def rows(self, start: int, stop: int) -> "DerivedWeight":
        """The part of the tensor along its first axis, for which all of it is computed."""

        def cut(whole: Sequence[Array], out: Array) -> None:
            out[...] = whole[0][start:stop]

        shape = (stop - start, *self.shape[1:])
        return DerivedWeight((self,), shape, cut, f"rows {start} to {stop}")

    def reshaped(self, shape: tuple[int, ...]) -> "DerivedWeight":
        """The same numbers, in the same order, in another shape of as many."""

        def derive(parts: Sequence[Array], out: Array) -> None:
            self.derive(parts, out.reshape(self.shape))

        return DerivedWeight(self.sources, shape, derive, f"{self.label} {self.shape}")

    def read(self) -> Array:
        """The numbers, in float32."""
        return self.read_as(DType.F32)

    def read_as(self, element: DType) -> Array:
        """The numbers in `element` type, rounded as `derive` does."""
        derived = np.empty(self.shape, element.numpy)
        self.derive([source.read() for source in self.sources], derived)
        return derived

    def slice_as(self, element: DType) -> FileSlice | None:
        """None: it is in no file."""
        return None

    def needs_conversion(self, element: DType) -> bool:
        """Return True if a source needs conversion."""
        return any(source.needs_conversion(element) for source in self.sources)

    def parts(self) -> tuple[FileSlice, ...]:
        """The parts of all sources, in order."""
        return tuple(part for source in self.sources for part in source.parts())

    def describe(self, place: Place) -> Description:
        """The label, the shape and the sources."""
        sources = [source.describe(place) for source in self.sources]
        return ["derived", self.label, list(self.shape), sources]
