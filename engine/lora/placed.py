"""Patches of a part of a weight, parts of a patch, and patches of a weight stored transposed.

A checkpoint may hold query, key and value in one weight where a file has three layers, and the
other way round. OpenCLIP stores its projection as [inputs, outputs].
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from backends.base import Array, DType, FileSlice
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.lora.layers import Rows, Target
from engine.weights.patched import Difference, LowRankDifference, Patch, Transform
from engine.weights.sources import Description, Place, WeightSource

# The weights that a fused layer holds, with the layer's rows that each is.
Members = Sequence[tuple[Rows, WeightSource]]


class PartOfDifference(msgspec.Struct, frozen=True):
    """The numbers of a difference from `start` on, as a difference of `elements` numbers."""

    whole: Difference
    start: int
    elements: int

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, times the strength: float32, [stop - start]."""
        return self.whole.read_flat(self.start + start, self.start + stop)

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the whole difference."""
        return self.whole.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the whole difference, and the part."""
        return ["part", self.start, self.elements, self.whole.describe(place)]


class PlacedDifference(msgspec.Struct, frozen=True):
    """A difference of a part of a weight from `start` on, as one of all its `elements`."""

    part: Difference
    start: int
    elements: int

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, times the strength: float32, [stop - start]."""
        found = np.zeros(stop - start, np.float32)
        first, last = max(start, self.start), min(stop, self.start + self.part.elements)
        if first < last:
            part = self.part.read_flat(first - self.start, last - self.start)
            found[first - start : last - start] = part
        return found

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the part's difference."""
        return self.part.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the part's difference, and its place."""
        return ["placed", self.start, self.elements, self.part.describe(place)]


@dataclass(frozen=True, slots=True)
class PlacedTransform(Transform):
    """A transform of the rows `start` to `stop` of a weight."""

    part: Transform
    start: int
    stop: int

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if the weight has these rows, and they can be changed."""
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
        return ["placed rows", self.start, self.stop, self.part.describe(place)]


@dataclass(frozen=True, slots=True)
class PartOfTransform(Transform):
    """A transform of a fused layer, as one of a weight between the layer's others.

    Its rows may depend on each other, as the lengths of inputs in DoRA do, so the others are read
    as the checkpoint has them: no patch of theirs is seen.
    """

    whole: Transform
    before: tuple[WeightSource, ...]
    after: tuple[WeightSource, ...]

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if the layer can be changed that has a weight of this shape there."""
        others = (*self.before, *self.after)
        rows = shape[0] + sum(other.shape[0] for other in others)
        alike = all(other.shape[1:] == shape[1:] for other in others)
        return alike and self.whole.fits((rows, *shape[1:]))

    def apply(self, weight: Array) -> Array:
        """Return the weight as it is in the changed layer."""
        before, after = (
            [other.read_as(DType.F32) for other in others] for others in (self.before, self.after)
        )
        start = sum(map(len, before))
        layer = self.whole.apply(np.concatenate([*before, weight, *after]))
        return layer[start : start + len(weight)]

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the layer's other weights and of the transform."""
        others = (*self.before, *self.after)
        return *(part for other in others for part in other.parts()), *self.whole.parts()

    def describe(self, place: Place) -> Description:
        """Return the descriptions of the weights before and after, and of the transform."""
        before, after = (
            [other.describe(place) for other in others] for others in (self.before, self.after)
        )
        return ["part of a layer", before, after, self.whole.describe(place)]


class TransposedDifference(msgspec.Struct, frozen=True):
    """The numbers of a difference of a weight [outputs, inputs], as of one [inputs, outputs]."""

    whole: Difference
    outputs: int

    @property
    def elements(self) -> int:
        """The number of elements."""
        return self.whole.elements

    def read_flat(self, start: int, stop: int) -> Array:
        """Return numbers `start` to `stop`, times the strength: float32, [stop - start]."""
        numbers = self.whole.read_flat(0, self.elements).reshape(self.outputs, -1)
        return numbers.T.reshape(-1)[start:stop]

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the difference."""
        return self.whole.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the difference, and the shape."""
        return ["transposed", self.outputs, self.whole.describe(place)]


@dataclass(frozen=True, slots=True)
class TransposedTransform(Transform):
    """A transform of a weight [outputs, inputs], as of one [inputs, outputs]."""

    whole: Transform

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Return True if weights of this shape can be changed."""
        return len(shape) == 2 and self.whole.fits(shape[::-1])

    def apply(self, weight: Array) -> Array:
        """Return the changed weight: float32, of the same shape."""
        return self.whole.apply(np.ascontiguousarray(weight.T)).T

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the file slices of the transform."""
        return self.whole.parts()

    def describe(self, place: Place) -> Description:
        """Return the description of the transform."""
        return ["transposed", self.whole.describe(place)]


def placed(patch: Patch, target: Target, shape: tuple[int, ...], members: Members = ()) -> Patch:
    """Return a module's patch as one of the target's weight or bias, which has this shape.

    `members` are all weights or biases of the fused layer that the target is a part of. Raises
    EngineError(NOT_AVAILABLE) for a change that needs the whole of a layer of which some is not
    there.
    """
    if target.transposed and len(shape) == 2:
        if isinstance(patch, Transform):
            return TransposedTransform(patch)
        return TransposedDifference(patch, shape[1])
    if target.part is None and target.rows is None:
        return patch
    if isinstance(patch, Transform):
        if target.part is None and target.rows is not None:
            return PlacedTransform(patch, *target.rows)
        if target.part is not None and target.rows is None and _is_whole(members):
            return _between(patch, target.part, members)
        raise EngineError(
            ErrorCode.NOT_AVAILABLE,
            sentence(
                "A LoRA changes {layer} together with other layers, and not by adding to it.",
                layer=target.layer,
            ),
            sentence("This version cannot split such a change: use another file of the LoRA."),
        )
    if target.part is not None:
        patch = _part(patch, target.part, shape if target.rows is None else ())
    if target.rows is None:
        return patch
    row = math.prod(shape[1:])
    return PlacedDifference(patch, target.rows[0] * row, math.prod(shape))


def _is_whole(members: Members) -> bool:
    """Return True if the members follow one another from the layer's first row."""
    end = 0
    for (start, stop), source in members:
        if start != end or source.shape[:1] != (stop - start,):
            return False
        end = stop
    return bool(members)


def _between(patch: Transform, part: Rows, members: Members) -> PartOfTransform:
    before = tuple(source for rows, source in members if rows[1] <= part[0])
    after = tuple(source for rows, source in members if rows[0] >= part[1])
    return PartOfTransform(patch, before, after)


def _part(patch: Difference, rows: tuple[int, int], shape: tuple[int, ...]) -> Difference:
    if isinstance(patch, LowRankDifference):
        return LowRankDifference(patch.up.rows(*rows), patch.down, patch.strength)
    row = math.prod(shape[1:])
    return PartOfDifference(patch, rows[0] * row, (rows[1] - rows[0]) * row)
