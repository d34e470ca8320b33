"""Sources of weights: the protocol, and the sources that read a file's numbers as stored or scaled.

`engine.weights.derived` computes a weight from others, `engine.weights.patched` adds differences to
a weight. A further kind is another class with these methods. Numbers in a quantised type, blocks of
small integers with scales, are dequantised when they are read (`engine.weights.dequantization`).

An fp8 file may hold each weight divided by a scale, so that it fills fp8's range. The weight is the
product, computed in float32 and rounded once, as in ComfyUI's `comfy/quant_ops.py`.
"""

import mmap
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import msgspec
import numpy as np

from backends.base import Array, DType, FileSlice
from engine.weights.conversion import convert, converted
from engine.weights.dequantization import PIECE, dequantized

# The description of a weight, as input of a digest: lists, texts and integers, for JSON.
Description = list[object]
# Describes the place of a slice: the number of its file, its offset, type and shape.
Place = Callable[[FileSlice], Description]

_FLOAT8 = {DType.F8_E4M3, DType.F8_E5M2}


class WeightSource(Protocol):
    """One tensor and the source of its numbers, which only `read` and `read_as` read."""

    @property
    def dtype(self) -> DType:
        """The element type that the numbers are stored in."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        ...

    @property
    def elements(self) -> int:
        """The number of the tensor's elements."""
        ...

    @property
    def base(self) -> "WeightSource":
        """The weight without patches; itself if it has none."""
        ...

    def rows(self, start: int, stop: int) -> "WeightSource":
        """Return rows `start` to `stop` of the tensor's first axis."""
        ...

    def reshaped(self, shape: tuple[int, ...]) -> "WeightSource":
        """Return the same numbers in the same order, in another shape of equal size."""
        ...

    def read(self) -> Array:
        """Return the numbers: a view of the file if they are stored as they are, else float32."""
        ...

    def read_as(self, element: DType) -> Array:
        """Return the numbers in `element` type, computed in float32 and rounded once."""
        ...

    def slice_as(self, element: DType) -> FileSlice | None:
        """Return the file slice that stores the numbers in `element` type; None if none does."""
        ...

    def needs_conversion(self, element: DType) -> bool:
        """Return True if the weight is stored in another element type, or with a scale."""
        ...

    def parts(self) -> tuple[FileSlice, ...]:
        """Return every file slice that the weight is read from, in order."""
        ...

    def describe(self, place: Place) -> Description:
        """Describe all that the numbers depend on but file contents, for a digest."""
        ...


class FileWeight(msgspec.Struct, frozen=True):
    """A weight whose numbers are stored in a file, without a scale."""

    slice: FileSlice

    @property
    def dtype(self) -> DType:
        """The element type that the numbers are stored in."""
        return self.slice.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.slice.shape

    @property
    def elements(self) -> int:
        """The number of the tensor's elements."""
        return self.slice.elements

    @property
    def base(self) -> Self:
        """The weight itself: it has no patches."""
        return self

    def rows(self, start: int, stop: int) -> Self:
        """Return rows `start` to `stop` of the tensor's first axis.

        Raises ValueError where those of a quantised type are no whole blocks.
        """
        return msgspec.structs.replace(self, slice=self.slice.rows(start, stop))

    def reshaped(self, shape: tuple[int, ...]) -> Self:
        """Return the same numbers in the same order, in another shape of equal size."""
        return msgspec.structs.replace(self, slice=self.slice.reshaped(shape))

    def read(self) -> Array:
        """Return the numbers: a view of the file; float32 for fp8 and blocks."""
        widens = self.dtype in _FLOAT8 or self.dtype.block is not None
        return self.read_as(DType.F32) if widens else mapped(self.slice)

    def read_as(self, element: DType) -> Array:
        """Return the numbers in `element` type, rounded to nearest."""
        return _converted(self.slice, None, element)

    def slice_as(self, element: DType) -> FileSlice | None:
        """Return the slice if it is stored in `element` type and row-major, else None."""
        return None if self.needs_conversion(element) else self.slice

    def needs_conversion(self, element: DType) -> bool:
        """Return True if the slice is stored in another type, or not row-major."""
        return self.dtype is not element or self.slice.channels_last

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the slice."""
        return (self.slice,)

    def describe(self, place: Place) -> Description:
        """Return the place of the slice."""
        return ["file", place(self.slice)]


@dataclass(frozen=True, slots=True)
class StoredProduct(ABC):
    """A weight that is the product of numbers `stored` in a file and the `scale` beside them."""

    stored: FileSlice
    scale: FileSlice

    @property
    def path(self) -> Path:
        """The file of the stored numbers."""
        return self.stored.path

    @property
    def offset(self) -> int:
        """The first byte of the stored numbers in the file."""
        return self.stored.offset

    @property
    def dtype(self) -> DType:
        """The element type of the stored numbers, before they are scaled."""
        return self.stored.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.stored.shape

    @property
    def elements(self) -> int:
        """The number of the tensor's elements."""
        return self.stored.elements

    @property
    def base(self) -> Self:
        """The weight itself: it has no patches."""
        return self

    @property
    def nbytes(self) -> int:
        """The length of the stored numbers in bytes, without the scale."""
        return self.stored.nbytes

    def read(self) -> Array:
        """Return the products in float32."""
        return self.read_as(DType.F32)

    @abstractmethod
    def read_as(self, element: DType) -> Array:
        """Return the products in `element` type, computed in float32 and rounded once."""

    def slice_as(self, element: DType) -> FileSlice | None:
        """Return None: the stored bytes are not the products."""
        return None

    def needs_conversion(self, element: DType) -> bool:
        """Return True: the stored numbers are always multiplied by the scale."""
        return True

    def parts(self) -> tuple[FileSlice, ...]:
        """Return the slices of the stored numbers and of the scale."""
        return self.stored, self.scale


@dataclass(frozen=True, slots=True)
class ScaledSlice(StoredProduct):
    """A weight that is the product of numbers in a file and a single scale."""

    def rows(self, start: int, stop: int) -> "ScaledSlice":
        """Return rows `start` to `stop` of the tensor's first axis."""
        return ScaledSlice(self.stored.rows(start, stop), self.scale)

    def reshaped(self, shape: tuple[int, ...]) -> "ScaledSlice":
        """Return the same numbers in the same order, in another shape of equal size."""
        return ScaledSlice(self.stored.reshaped(shape), self.scale)

    def read_as(self, element: DType) -> Array:
        """Return the products in `element` type, rounded to nearest once."""
        return _converted(self.stored, mapped(self.scale), element)

    def describe(self, place: Place) -> Description:
        """Return both places, and the scale, which a digest that samples the file may miss."""
        return ["scaled", place(self.stored), place(self.scale), mapped(self.scale).tobytes().hex()]


# A weight as the reader finds it, or made of such ones.
Weight = FileSlice | WeightSource


def as_source(weight: FileSlice | WeightSource) -> WeightSource:
    """Wrap a file slice as a `FileWeight`; return another source unchanged."""
    return FileWeight(weight) if isinstance(weight, FileSlice) else weight


def as_sources(weights: Mapping[str, FileSlice | WeightSource]) -> dict[str, WeightSource]:
    """Return every weight as a source, by name."""
    return {name: as_source(weight) for name, weight in weights.items()}


def stored_type(weights: Iterable[WeightSource]) -> DType:
    """Return the element type that most bytes of weights are stored in; float32 for no weights."""
    stored = Counter[DType]()
    for source in weights:
        stored[source.dtype] += source.dtype.bytes_of(source.elements)
    return stored.most_common(1)[0][0] if stored else DType.F32


def mapped(ref: FileSlice) -> Array:
    """Return a memory-mapped view of a slice; its file is read when the view is used."""
    numbers = mapped_bytes(ref).view(ref.dtype.numpy)
    if ref.channels_last:
        outer, inner, *sides = ref.shape
        return numbers.reshape(outer, *sides, inner).transpose(0, 3, 1, 2)
    return numbers.reshape(ref.shape)


def mapped_bytes(ref: FileSlice) -> Array:
    """Return a memory-mapped view of a slice's bytes, of any type: uint8 [nbytes]."""
    if not ref.nbytes:
        return np.empty(0, np.uint8)
    before = ref.offset % mmap.ALLOCATIONGRANULARITY
    # Without buffers, and not by `np.memmap`: a LoRA has hundreds of single numbers, each mapped.
    with ref.path.open("rb", buffering=0) as file:
        pages = mmap.mmap(
            file.fileno(), before + ref.nbytes, access=mmap.ACCESS_READ, offset=ref.offset - before
        )
    return np.frombuffer(pages, np.uint8, ref.nbytes, before)


def _converted(stored: FileSlice, scale: Array | None, element: DType) -> Array:
    if stored.dtype.block is not None:
        return _dequantized(stored, scale, element)
    if stored.dtype in _FLOAT8:
        # Converting only fp8's 256 values and indexing them takes a third of a cast's time.
        every = np.arange(256, dtype=np.uint8).view(stored.dtype.numpy)
        with np.errstate(over="ignore"):  # values that overflow may not occur in the weight
            values = _scaled(every, scale).astype(element.numpy)
        return values[mapped(stored).view(np.uint8)]
    return converted(_scaled(mapped(stored), scale), element)


def _scaled(values: Array, scale: Array | None) -> Array:
    return values if scale is None else values.astype(np.float32) * scale.astype(np.float32).item()


def _dequantized(stored: FileSlice, scale: Array | None, element: DType) -> Array:
    """Return the numbers of blocks, computed in pieces that stay in a processor's cache."""
    block = stored.dtype.block
    assert block is not None
    raw, found = np.asarray(mapped_bytes(stored)), np.empty(stored.elements, element.numpy)
    for first in range(0, stored.elements, PIECE):
        start, out = first // block.elements * block.nbytes, found[first : first + PIECE]
        piece = raw[start : start + stored.dtype.bytes_of(out.size)]
        convert(_scaled(dequantized(piece, stored.dtype), scale), out)
    return found.reshape(stored.shape)


def stored_bytes(weight: Weight) -> int:
    """Return the number of bytes in files that a weight is read from."""
    return sum(part.nbytes for part in as_source(weight).parts())
