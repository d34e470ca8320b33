"""Weights with patches, as of a LoRA or a merge, computed in float32 and rounded once.

A patch is a `Difference`, which is added, or a `Transform`, which computes the weight from what the
patches before it made. The original weight set is not changed: see `engine.weights.weight_set`.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import msgspec
import numpy as np

from backends.base import Array, DType, FileSlice
from engine.weights.conversion import convert
from engine.weights.products import product
from engine.weights.sources import Description, Place, WeightSource

# Sums are computed in pieces of this many elements, which stay in a processor's cache.
_PIECE = 1 << 18
# Reads numbers `start` to `stop` of a difference.
Read = Callable[[int, int], Array]


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


class Transform(ABC):
    """A computation of a whole weight from itself: a rotation (OFT), a new norm (DoRA)."""

    __slots__ = ()

    @abstractmethod
    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if weights of this shape can be changed."""

    @abstractmethod
    def apply(self, weight: Array) -> Array:
        """Return the changed weight: float32, of the same shape; `weight` may be overwritten."""

    @abstractmethod
    def parts(self) -> tuple[FileSlice, ...]:
        """Return every file slice that the computation reads, in order."""

    @abstractmethod
    def describe(self, place: Place) -> Description:
        """Describe all that the computation depends on but file contents, for a digest."""


# One change to a weight. Patches of a weight act one after the other.
Patch = Difference | Transform


def fits(patch: Patch, shape: tuple[int, ...]) -> bool:
    """Return True if a weight of this shape can be changed by the patch."""
    if isinstance(patch, Transform):
        return patch.fits(shape)
    return patch.elements == math.prod(shape)


class FullDifference(msgspec.Struct, frozen=True):
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


class LowRankDifference(msgspec.Struct, frozen=True):
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
        return self.opened(start, stop)(start, stop)

    def opened(self, start: int, stop: int) -> Read:
        """Return a function that reads any of numbers `start` to `stop`; factors are read here.

        What it returns is valid until its next call.
        """
        columns, rank = self._columns, self.down.shape[0]
        begin, end = start // columns, -(-stop // columns)
        up = self.up.reshaped((self.up.shape[0], rank)).rows(begin, end).read_as(DType.F32)
        up = up * np.float32(self.strength)
        down = self.down.reshaped((rank, columns)).read_as(DType.F32)

        room = np.empty((0, columns), np.float32)

        def read(start: int, stop: int) -> Array:
            nonlocal room
            first, last = start // columns, -(-stop // columns)
            if len(room) < last - first:
                room = np.empty((last - first, columns), np.float32)
            rows = product(up[first - begin : last - begin], down, room[: last - first]).reshape(-1)
            return rows[start - first * columns : stop - first * columns]

        return read

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


class PatchedWeight(msgspec.Struct, frozen=True):
    """The weight `unpatched`, changed by each of its patches in turn.

    `unpatched` may be a part of the weight that the patches are for, in any shape; it begins at
    element `start` of the weight `whole`, which is None if `unpatched` is that weight.
    """

    unpatched: WeightSource
    patches: tuple[Patch, ...]
    start: int = 0
    whole: WeightSource | None = None

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
        """Return rows `start` to `stop` of the first axis, with their part of the patches."""
        first = self.start + start * (self.elements // self.shape[0])
        part = self.unpatched.rows(start, stop)
        return PatchedWeight(part, self.patches, first, self._whole)

    def reshaped(self, shape: tuple[int, ...]) -> "PatchedWeight":
        """Return the same numbers in the same order, in another shape of equal size."""
        other = self.unpatched.reshaped(shape)
        return PatchedWeight(other, self.patches, self.start, self._whole)

    def read(self) -> Array:
        """Return the changed numbers in float32."""
        return self.read_as(DType.F32)

    def read_as(self, element: DType) -> Array:
        """Return the changed numbers, computed in float32 and rounded to `element` type once."""
        if self._transforms:
            return self._transformed().astype(element.numpy, copy=False)
        return self._sum(element)

    def slice_as(self, element: DType) -> FileSlice | None:
        """Return None: a patched weight is stored in no file."""
        return None

    def needs_conversion(self, element: DType) -> bool:
        """Return True if the weight without patches needs conversion."""
        return self.unpatched.needs_conversion(element)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the weight without patches, then those of the patches."""
        read = self._whole if self._transforms else self.unpatched
        return *read.parts(), *(part for patch in self.patches for part in patch.parts())

    def describe(self, place: Place) -> Description:
        """Return the descriptions of the weight without patches and of each patch."""
        patches = [patch.describe(place) for patch in self.patches]
        whole = [self._whole.describe(place)] if self._transforms else []
        return ["patched", self.unpatched.describe(place), self.start, patches, *whole]

    @property
    def _whole(self) -> WeightSource:
        return self.whole or self.unpatched

    @property
    def _transforms(self) -> bool:
        return any(isinstance(patch, Transform) for patch in self.patches)

    def _sum(self, element: DType) -> Array:
        """Return the weight and its differences, which are read for this part alone."""
        # The stored numbers may be a view of a file; slices of a plain array are cheaper.
        stored = np.asarray(self.unpatched.read()).reshape(-1)
        total = np.empty(self.shape, element.numpy)
        flat, row = total.reshape(-1), self.elements // math.prod(self.shape[:1])
        reads = [_read(patch, self.start, self.start + self.elements) for patch in self.patches]
        piece = max(_PIECE // row, 1) * row
        sums = np.empty(min(piece, self.elements), np.float32)
        for first in range(0, self.elements, piece):
            last = min(first + piece, self.elements)
            numbers = sums[: last - first]
            convert(stored[first:last], numbers)
            for read in reads:
                numbers += read(self.start + first, self.start + last)
            convert(numbers, flat[first:last])
        return total

    def _transformed(self) -> Array:
        """Return this part of the whole weight, which transforms need."""
        weight = self._whole.read_as(DType.F32)
        for patch in self.patches:
            if isinstance(patch, Transform):
                weight = np.ascontiguousarray(patch.apply(weight))
            else:
                weight += patch.read_flat(0, weight.size).reshape(weight.shape)
        return weight.reshape(-1)[self.start : self.start + self.elements].reshape(self.shape)


def _read(patch: Patch, start: int, stop: int) -> Read:
    """Return a function that reads any of numbers `start` to `stop` of a difference."""
    assert not isinstance(patch, Transform)
    if isinstance(patch, LowRankDifference):
        return patch.opened(start, stop)
    whole = patch.read_flat(start, stop)
    return lambda first, last: whole[first - start : last - start]
