"""Weights computed from other weights: packed projections, summed kernels, other layouts."""

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from backends.base import Array, DType, FileSlice
from engine.weights.sources import Description, Place, WeightSource

# Computes a weight from arrays of any element type, and writes it to an array of another type.
Derive = Callable[[Sequence[Array], Array], None]


class DerivedWeight(msgspec.Struct, frozen=True):
    """A weight of `shape` that `derive` computes from one or more `sources`.

    `label` identifies the computation: weights of the same sources and label are equal.
    """

    sources: tuple[WeightSource, ...]
    shape: tuple[int, ...]
    derive: Derive
    label: str

    @property
    def dtype(self) -> DType:
        """The element type that the first source is stored in."""
        return self.sources[0].dtype

    @property
    def elements(self) -> int:
        """The number of elements of the tensor."""
        return math.prod(self.shape)

    @property
    def base(self) -> "DerivedWeight":
        """The weight derived from the sources without patches; itself if none is patched."""
        bases = tuple(source.base for source in self.sources)
        if all(base is source for base, source in zip(bases, self.sources, strict=True)):
            return self
        return DerivedWeight(bases, self.shape, self.derive, self.label)

    def rows(self, start: int, stop: int) -> "DerivedWeight":
        """Return rows `start` to `stop` of the first axis; a read computes the whole tensor."""

        def cut(whole: Sequence[Array], out: Array) -> None:
            out[...] = whole[0][start:stop]

        shape = (stop - start, *self.shape[1:])
        return DerivedWeight((self,), shape, cut, f"rows {start} to {stop}")

    def reshaped(self, shape: tuple[int, ...]) -> "DerivedWeight":
        """Return the same numbers in the same order, in another shape of equal size."""

        def derive(parts: Sequence[Array], out: Array) -> None:
            self.derive(parts, out.reshape(self.shape))

        return DerivedWeight(self.sources, shape, derive, f"{self.label} {self.shape}")

    def read(self) -> Array:
        """Return the numbers in float32."""
        return self.read_as(DType.F32)

    def read_as(self, element: DType) -> Array:
        """Return the numbers in `element` type, rounded by `derive`."""
        derived = np.empty(self.shape, element.numpy)
        self.derive([source.read() for source in self.sources], derived)
        return derived

    def slice_as(self, element: DType) -> FileSlice | None:
        """Return None: a derived weight is stored in no file."""
        return None

    def needs_conversion(self, element: DType) -> bool:
        """Return True if a source needs conversion."""
        return any(source.needs_conversion(element) for source in self.sources)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of all sources, in order."""
        return tuple(part for source in self.sources for part in source.parts())

    def describe(self, place: Place) -> Description:
        """Return the label, the shape and the sources' descriptions."""
        sources = [source.describe(place) for source in self.sources]
        return ["derived", self.label, list(self.shape), sources]
