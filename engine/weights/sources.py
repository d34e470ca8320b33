"""Sources of weights: one protocol, and the sources that read a file as it is or scaled.

`engine.weights.derived` computes a weight from others, `engine.weights.patched` adds differences to
one. A further kind, as blocks of 4 bits with their scales, is another class with these methods.

An fp8 file may hold its weights divided by a number of their own, so that they fill fp8's range;
what they stand for is the product, taken in float32 and rounded once, as ComfyUI's
`comfy/quant_ops.py` has it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from backends.base import Array, DType, FileSlice

# A part of what a digest is made of: lists, texts and integers, for JSON.
Description = list[object]
# Describes where a slice is: the number of its file, offset, type and shape.
Place = Callable[[FileSlice], Description]

_FLOAT8 = {DType.F8_E4M3, DType.F8_E5M2}


class WeightSource(Protocol):
    """One tensor and where its numbers come from. They are read by `read` and `read_as` alone."""

    @property
    def dtype(self) -> DType:
        """The type that its numbers are stored in."""
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
        """The same weight without patches: itself where it has none."""
        ...

    def rows(self, start: int, stop: int) -> "WeightSource":
        """The part of the tensor along its first axis."""
        ...

    def reshaped(self, shape: tuple[int, ...]) -> "WeightSource":
        """The same numbers, in the same order, in another shape of as many."""
        ...

    def read(self) -> Array:
        """The numbers: a view of the file where its type holds them, else float32."""
        ...

    def read_as(self, element: DType) -> Array:
        """The numbers in `element` type, computed in float32 and rounded to nearest once."""
        ...

    def slice_as(self, element: DType) -> FileSlice | None:
        """The slice whose bytes are the numbers in `element` type; None where there is none."""
        ...

    def needs_conversion(self, element: DType) -> bool:
        """Return True if the weight has another type in its file, or a scale."""
        ...

    def parts(self) -> tuple[FileSlice, ...]:
        """Every slice of a file that it is read from, in order."""
        ...

    def describe(self, place: Place) -> Description:
        """All that its numbers depend on but the content of its files, for a digest."""
        ...


@dataclass(frozen=True, slots=True)
class FileWeight:
    """A weight that is stored as it is."""

    slice: FileSlice

    @property
    def dtype(self) -> DType:
        """The type that its numbers are stored in."""
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
    def base(self) -> "FileWeight":
        """Itself."""
        return self

    def rows(self, start: int, stop: int) -> "FileWeight":
        """The part of the tensor along its first axis."""
        return FileWeight(self.slice.rows(start, stop))

    def reshaped(self, shape: tuple[int, ...]) -> "FileWeight":
        """The same numbers, in the same order, in another shape of as many."""
        return FileWeight(self.slice.reshaped(shape))

    def read(self) -> Array:
        """The numbers: a view of the file; float32 for fp8."""
        return self.read_as(DType.F32) if self.dtype in _FLOAT8 else mapped(self.slice)

    def read_as(self, element: DType) -> Array:
        """The numbers in `element` type, rounded to nearest."""
        return _converted(self.slice, None, element)

    def slice_as(self, element: DType) -> FileSlice | None:
        """The slice, where it is stored in that type."""
        return self.slice if self.dtype is element else None

    def needs_conversion(self, element: DType) -> bool:
        """Return True if the slice is stored in another type."""
        return self.dtype is not element

    def parts(self) -> tuple[FileSlice, ...]:
        """The slice."""
        return (self.slice,)

    def describe(self, place: Place) -> Description:
        """The place of the slice."""
        return ["file", place(self.slice)]


@dataclass(frozen=True, slots=True)
class ScaledSlice:
    """A weight that stands for its numbers in the file times the one number of `scale`."""

    stored: FileSlice
    scale: FileSlice

    @property
    def path(self) -> Path:
        """The file it is in."""
        return self.stored.path

    @property
    def offset(self) -> int:
        """The first byte of the stored numbers in the file."""
        return self.stored.offset

    @property
    def dtype(self) -> DType:
        """The type of its numbers before they are scaled."""
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
    def base(self) -> "ScaledSlice":
        """Itself."""
        return self

    @property
    def nbytes(self) -> int:
        """Length in the file in bytes, but for the scale."""
        return self.stored.nbytes

    def rows(self, start: int, stop: int) -> "ScaledSlice":
        """The part of the tensor along its first axis."""
        return ScaledSlice(self.stored.rows(start, stop), self.scale)

    def reshaped(self, shape: tuple[int, ...]) -> "ScaledSlice":
        """The same numbers, in the same order, in another shape of as many."""
        return ScaledSlice(self.stored.reshaped(shape), self.scale)

    def read(self) -> Array:
        """The products, in float32."""
        return self.read_as(DType.F32)

    def read_as(self, element: DType) -> Array:
        """The products in `element` type, rounded to nearest once."""
        return _converted(self.stored, mapped(self.scale), element)

    def slice_as(self, element: DType) -> FileSlice | None:
        """None: its bytes are not its numbers."""
        return None

    def needs_conversion(self, element: DType) -> bool:
        """True: it is multiplied, whatever its type."""
        return True

    def parts(self) -> tuple[FileSlice, ...]:
        """The stored numbers and the scale."""
        return self.stored, self.scale

    def describe(self, place: Place) -> Description:
        """Both places, and the scale: 4 bytes, which a digest that samples the file may miss."""
        return ["scaled", place(self.stored), place(self.scale), mapped(self.scale).tobytes().hex()]


# A weight as a checkpoint's reader finds it.
StoredWeight = FileSlice | ScaledSlice


def as_source(weight: FileSlice | WeightSource) -> WeightSource:
    """A weight as a source, which a slice of a file is not by itself."""
    return FileWeight(weight) if isinstance(weight, FileSlice) else weight


def as_sources(weights: Mapping[str, FileSlice | WeightSource]) -> dict[str, WeightSource]:
    """Every weight as a source."""
    return {name: as_source(weight) for name, weight in weights.items()}


def mapped(ref: FileSlice) -> Array:
    """A view of a weight over its file's pages; nothing is read until it is used."""
    flat = np.memmap(ref.path, np.uint8, "r", ref.offset, (ref.nbytes,))
    return flat.view(ref.dtype.numpy).reshape(ref.shape)


def _converted(stored: FileSlice, scale: Array | None, element: DType) -> Array:
    if stored.dtype in _FLOAT8:
        # A third of the time of a cast: there are only 256 numbers to convert.
        every = np.arange(256, dtype=np.uint8).view(stored.dtype.numpy)
        with np.errstate(over="ignore"):  # of those that no weight is, perhaps
            values = _scaled(every, scale).astype(element.numpy)
        return values[mapped(stored).view(np.uint8)]
    return _scaled(mapped(stored), scale).astype(element.numpy)


def _scaled(values: Array, scale: Array | None) -> Array:
    return values if scale is None else values.astype(np.float32) * scale.astype(np.float32).item()
