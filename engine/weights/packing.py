"""Quantised weights as com.microsoft's MatMulNBits takes them: integers of 4 or 8 bits, scales.

The operator computes x W^T with W = scale * (integer - zero) in blocks of 16 or 32 along a row
(ONNX Runtime, `docs/ContribOperators.md`). Types whose numbers have that form are repacked without
loss. Q5_1 and Q5_K, integers of 5 bits with an offset, have not: the operator takes offsets beside
4 bits only, so their numbers are rounded to 8 bits anew. So are those of Q6_K where its blocks of
16 are joined to blocks of 32. Numbers that are in no blocks are rounded where that is asked for, to
8 or 4 bits.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec
import numpy as np

from backends.base import Array, DType, FileSlice
from backends.forms import BlockForm
from engine.weights.dequantization import PIECE, Runs, numbers_of, runs_of
from engine.weights.int8_rows import Int8Rows
from engine.weights.sources import (
    Description,
    FileWeight,
    Place,
    ScaledSlice,
    WeightSource,
    mapped_bytes,
)
from engine.weights.stored import PackableWeight


class Packing(NamedTuple):
    """The form of a type's numbers: bits of an integer, integers of a block, and two properties.

    `has_zeros`: the operator is given the zero of each block. `rounds`: numbers are rounded anew.
    """

    bits: int
    block: int
    has_zeros: bool = False
    rounds: bool = False

    @property
    def middle(self) -> int:
        """The zero of blocks that have none of their own."""
        return 1 << (self.bits - 1)


_PACKINGS: Mapping[DType, Packing] = {
    DType.Q4_0: Packing(4, 32),
    DType.Q4_1: Packing(4, 32, has_zeros=True),
    DType.Q5_0: Packing(8, 32),
    DType.Q5_1: Packing(8, 32, rounds=True),
    DType.Q8_0: Packing(8, 32),
    DType.Q2_K: Packing(4, 16, has_zeros=True),
    DType.Q3_K: Packing(4, 16),
    DType.Q4_K: Packing(4, 32, has_zeros=True),
    DType.Q5_K: Packing(8, 32, rounds=True),
    DType.Q6_K: Packing(8, 16),
}
# Of types whose blocks are joined, and the numbers in one of these.
_JOINED: Mapping[DType, Packing] = {DType.Q6_K: Packing(8, 32, rounds=True)}
_JOINED_RUN = 16
# Of numbers in no blocks that keep so many bits.
_ROUNDED: Mapping[int, Packing] = {bits: Packing(bits, 32, rounds=True) for bits in (8, 4)}
# Of int8 integers with a scale for each row, and of such as are rotated back.
_OF_ROWS, _OF_ROTATED_ROWS = Packing(8, 32), Packing(8, 32, rounds=True)
# Types of numbers that are in no blocks and may be rounded.
_PLAIN = {DType.F32, DType.F16, DType.BF16, DType.F8_E4M3, DType.F8_E5M2}
# The elements that are rounded at once, about a processor's cache.
_ROUNDED_AT_ONCE = 16 * PIECE
# The halves of a byte.
_FIRST, _SECOND = np.uint16(0x0F), np.uint16(0xF0)
# The largest number of float16; bfloat16 has the range of float32.
_LARGEST_HALF = 65504


class Field(StrEnum):
    """The operator's inputs that stand for a weight."""

    INTEGERS = "integers"
    SCALES = "scales"
    ZEROS = "zeros"


def have_joined(weights: Iterable[WeightSource]) -> bool:
    """Return True if some weights are stored in blocks that `BlockForm.joined` joins."""
    return any(weight.base.dtype in _JOINED for weight in weights)


def packing_of(weight: WeightSource, form: BlockForm | None) -> Packing | None:
    """Return the form in which the weight of a linear layer stays; None for 16 or 32 bits.

    Patched weights are numbers that fit no blocks. Without a `form` there are no blocks.
    """
    if form is None or len(weight.shape) != 2:
        return None
    rounded = _ROUNDED.get(form.bits)
    if isinstance(weight, Int8Rows):
        return _packing_of_rows(weight, rounded)
    if rounded is not None and isinstance(weight, FileWeight | ScaledSlice):
        fits = weight.dtype in _PLAIN and weight.shape[1] % rounded.block == 0
        if fits:
            return rounded
    if not isinstance(weight, FileWeight):
        return None
    joined = _JOINED.get(weight.dtype) if form.joined else None
    packing = joined or _PACKINGS.get(weight.dtype)
    # The file's blocks may run across rows; the operator's do not.
    return packing if packing and weight.shape[1] % packing.block == 0 else None


def _packing_of_rows(weight: Int8Rows, rounded: Packing | None) -> Packing | None:
    """Return the blocks for integers with a scale for each row, rounded anew if rotated back."""
    if weight.shape[1] % _OF_ROWS.block:
        return None
    if rounded is not None and rounded.bits < _OF_ROWS.bits:
        return rounded
    return _OF_ROTATED_ROWS if weight.rotation else _OF_ROWS


def is_computed(source: WeightSource, element: DType, form: BlockForm | None) -> bool:
    """Return True for a weight that no file holds as it is bound in a graph of `element` type."""
    return source.slice_as(element) is None or packing_of(source, form) is not None


class PackedWeight(msgspec.Struct, frozen=True):
    """One of the operator's inputs that stand for `weight`, a matrix [out, in] in blocks.

    `element` is the graph's element type, which scales and zeros have.
    """

    weight: PackableWeight
    packing: Packing
    field: Field
    element: DType = DType.F32

    @property
    def held(self) -> DType:
        """The element type that the input has in its graph."""
        return DType.U8 if self.field is Field.INTEGERS else self.element

    @property
    def dtype(self) -> DType:
        """The type that the weight is stored in."""
        return self.weight.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The input's shape: [out, blocks, bytes], or [out, blocks] for one number a block."""
        rows, columns = self.weight.shape
        blocks = columns // self.packing.block
        whole = self.packing.block * self.packing.bits // 8
        return (rows, blocks, whole) if self.field is Field.INTEGERS else (rows, blocks)

    @property
    def elements(self) -> int:
        """The number of the input's elements."""
        return int(np.prod(self.shape))

    @property
    def base(self) -> "PackedWeight":
        """The weight itself: it has no patches."""
        return self

    def rows(self, start: int, stop: int) -> "PackedWeight":
        """Return the same input for rows `start` to `stop` of the weight."""
        return msgspec.structs.replace(self, weight=self.weight.rows(start, stop))

    def reshaped(self, shape: tuple[int, ...]) -> "PackedWeight":
        """Return the input itself. Raises ValueError for another shape, which no operator takes."""
        if shape != self.shape:
            raise ValueError(f"packed weights have the shape {self.shape}, not {shape}")
        return self

    def read(self) -> Array:
        """Return the input's numbers."""
        return self.read_as(self.held)

    def read_as(self, element: DType) -> Array:
        """Return the input's numbers, made of the file's in pieces; `element` is `held`."""
        assert element is self.held, "no other type stands for the blocks"
        block = self.dtype.block
        if isinstance(self.weight, Int8Rows) and not self.packing.rounds:
            return self._of_rows(self.weight)
        if block is None or not isinstance(self.weight, FileWeight):
            return self._rounded_rows()
        stored = self.weight.slice
        raw, found = np.asarray(mapped_bytes(stored)), np.empty(self.elements, element.numpy)
        piece = PIECE // block.elements * block.nbytes
        share = piece // block.nbytes * block.elements * self.elements // stored.elements
        for number, first in enumerate(range(0, raw.size, piece)):
            runs = runs_of(raw[first : first + piece], self.dtype)
            packed = _packed(runs, self.packing, self.element, self.field)
            found[number * share : (number + 1) * share] = packed.reshape(-1)
        return found.reshape(self.shape)

    def _of_rows(self, weight: Int8Rows) -> Array:
        """Return the file's integers, or the scale of each row for all of its blocks."""
        if self.field is Field.SCALES:
            return np.broadcast_to(weight.scales().astype(self.element.numpy), self.shape)
        # The bits of a signed byte with its sign turned are those of the byte plus 128.
        return (weight.integers().view(np.uint8) ^ np.uint8(128)).reshape(self.shape)

    def _rounded_rows(self) -> Array:
        """Return the input's numbers for a weight in no blocks, some rows at a time."""
        found, (rows, columns) = np.empty(self.shape, self.held.numpy), self.weight.shape
        share = max(1, _ROUNDED_AT_ONCE // columns)
        for first in range(0, rows, share):
            part = self.weight.rows(first, min(first + share, rows))
            runs = part.read_as(DType.F32).reshape(-1, self.packing.block)
            rounded = _rounded(runs, self.packing, self.element, self.field)
            found[first : first + share] = rounded.reshape(-1, *self.shape[1:])
        return found

    def slice_as(self, element: DType) -> FileSlice | None:
        """Return None: the file has integers and scales in turn, or other numbers."""
        return None

    def needs_conversion(self, element: DType) -> bool:
        """Return True: the file has integers and scales in turn, or other numbers."""
        return True

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the slice of the weight."""
        return self.weight.parts()

    def describe(self, place: Place) -> Description:
        """Return the field and the place of the weight."""
        field = self.field.value, self.held.value
        return ["packed", *field, *self.packing, self.weight.describe(place)]


def bound_type(source: WeightSource, element: DType) -> DType:
    """Return the element type that a weight is bound in, in a graph of `element` type."""
    return source.held if isinstance(source, PackedWeight) else element


def bound_bytes(source: WeightSource, element: DType, form: BlockForm | None = None) -> int:
    """Return the bytes of a weight that is bound in a graph of `element` type.

    With `form`, a weight in blocks counts as if it were that of a linear layer.
    """
    packing = packing_of(source, form)
    if packing is None:
        return source.elements * bound_type(source, element).itemsize
    numbers = element.itemsize * (1 + packing.has_zeros)
    return source.elements * packing.bits // 8 + source.elements // packing.block * numbers


def _packed(runs: Runs, packing: Packing, element: DType, field: Field) -> Array:
    """Return one of the operator's inputs for runs, in its order."""
    if packing.rounds and runs.offsets is None:
        return _joined(runs, packing, element, field)
    if packing.rounds:
        return _rounded(numbers_of(runs), packing, element, field)
    flat, steps, offsets = _steps(runs, element)
    if field is Field.SCALES:
        return steps
    if field is Field.ZEROS:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(flat, np.float32(1), offsets / steps)
    integers = runs.integers()
    if packing.has_zeros:
        integers = np.where(flat, np.uint8(0), integers)
    elif packing.middle != runs.zero:
        integers = integers + np.uint8(packing.middle - runs.zero)
    return integers if packing.bits == 8 else _halves(integers)


def _halves(integers: Array) -> Array:
    """Return integers of 4 bits, two in a byte, the first in its low half."""
    pairs = integers.view("<u2")
    return ((pairs & _FIRST) | ((pairs >> np.uint16(4)) & _SECOND)).astype(np.uint8)


def _steps(runs: Runs, element: DType) -> tuple[Array, Array, Array]:
    """Return which runs are flat, and the scales and offsets of all.

    A run whose scale is 0, or so small that no number of `element` type is its zero, is its offset
    alone: it gets the offset as its scale, and integers of 0.
    """
    if runs.offsets is None:
        return np.zeros(1, np.bool_), runs.scales, np.zeros(1, np.float32)
    largest = np.float32(_LARGEST_HALF if element is DType.F16 else np.finfo(np.float32).max)
    scales = runs.scales.astype(element.numpy).astype(np.float32)
    flat = np.abs(scales) <= np.abs(runs.offsets) / largest
    return flat, np.where(flat, runs.offsets, scales), runs.offsets


def _rounded(numbers: Array, packing: Packing, element: DType, field: Field) -> Array:
    """Return one of the operator's inputs for numbers [runs, run], rounded to steps about 0.

    There are 255 steps of 8 bits and 15 of 4, as many on either side; a step is the scale as the
    graph has it.
    """
    largest = np.float32(packing.middle - 1)
    steps = (np.abs(numbers).max(axis=1, keepdims=True) / largest).astype(element.numpy)
    if field is not Field.INTEGERS:
        return steps
    integers = _whole_steps(numbers, steps, packing, -largest)
    return integers if packing.bits == 8 else _halves(integers)


def _joined(runs: Runs, packing: Packing, element: DType, field: Field) -> Array:
    """Return one of the operator's inputs for runs that are joined to blocks.

    A step is such a part of a block's largest scale, a quarter in Q6_K, that the integers of its
    run fill 8 bits. So they are multiples of it and keep their numbers; other runs are rounded.
    """
    scales = runs.scales.reshape(-1, packing.block // _JOINED_RUN)
    largest = np.take_along_axis(scales, np.abs(scales).argmax(axis=1)[:, None], axis=1)
    steps = (largest * np.float32(runs.zero / packing.middle)).astype(element.numpy)
    if field is not Field.INTEGERS:
        return steps
    numbers = numbers_of(runs).reshape(-1, packing.block)
    return _whole_steps(numbers, steps, packing, -np.float32(packing.middle))


def _whole_steps(numbers: Array, steps: Array, packing: Packing, least: np.float32) -> Array:
    """Return numbers [runs, run] as integers about the middle, at least `least` steps below it."""
    steps = steps.astype(np.float32)
    whole = np.rint(numbers / np.where(steps == 0, np.float32(1), steps))
    middle = np.float32(packing.middle)
    return (np.clip(whole, least, middle - 1) + middle).astype(np.uint8)
