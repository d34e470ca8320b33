"""Weights as they are stored, and their numbers: of any type, and scaled where that is fp8.

An fp8 file may hold its weights divided by a number of their own, so that they fill fp8's range;
what they stand for is the product, taken in float32 and rounded once, as ComfyUI's
`comfy/quant_ops.py` has it.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import numpy as np

from backends.base import Array, DType, FileSlice

# Writes what is derived from stored weights of any element type to an array of another.
Derive = Callable[[Sequence[Array], Array], None]

_FLOAT8 = {DType.F8_E4M3, DType.F8_E5M2}


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
        """Where it begins there."""
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
        """How many numbers the tensor has."""
        return self.stored.elements

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


StoredWeight = FileSlice | ScaledSlice


@dataclass(frozen=True, slots=True)
class DerivedWeight:
    """A weight of `shape` that `derive` computes from those in a file."""

    sources: tuple[StoredWeight, ...]
    shape: tuple[int, ...]
    derive: Derive

    @property
    def elements(self) -> int:
        """How many numbers the tensor has."""
        return math.prod(self.shape)


WeightSource = StoredWeight | DerivedWeight


def is_stored_as(source: WeightSource, element: DType) -> TypeGuard[FileSlice]:
    """Whether a weight can be bound by reference: its bytes are its numbers in `element` type."""
    return isinstance(source, FileSlice) and source.dtype is element


def file_slices(source: WeightSource) -> tuple[FileSlice, ...]:
    """Every part of a file that a weight is made of, in order."""
    match source:
        case FileSlice():
            return (source,)
        case ScaledSlice():
            return source.stored, source.scale
        case DerivedWeight():
            return tuple(part for one in source.sources for part in file_slices(one))


def numbers(weight: StoredWeight) -> Array:
    """What a weight stands for: a view of its file where it can be, else float32."""
    if isinstance(weight, FileSlice) and weight.dtype not in _FLOAT8:
        return mapped(weight)
    return numbers_as(weight, DType.F32)


def numbers_as(weight: StoredWeight, element: DType) -> Array:
    """What a weight stands for, in `element` type, rounded to nearest once."""
    stored, scale = (
        (weight, None) if isinstance(weight, FileSlice) else (weight.stored, mapped(weight.scale))
    )
    if stored.dtype in _FLOAT8:
        # A third of the time of a cast: there are only 256 numbers to convert.
        every = np.arange(256, dtype=np.uint8).view(stored.dtype.numpy)
        with np.errstate(over="ignore"):  # of those that no weight is, perhaps
            values = _scaled(every, scale).astype(element.numpy)
        return values[mapped(stored).view(np.uint8)]
    return _scaled(mapped(stored), scale).astype(element.numpy)


def _scaled(values: Array, scale: Array | None) -> Array:
    return values if scale is None else values.astype(np.float32) * scale.astype(np.float32).item()


def scales_digest(weights: Iterable[StoredWeight]) -> str:
    """A digest of all scales, empty where no weight has one.

    A scale is 4 bytes, which a digest that samples the file (`engine.checkpoints.index`) may miss.
    """
    scales = [weight.scale for weight in weights if isinstance(weight, ScaledSlice)]
    if not scales:
        return ""
    return hashlib.sha256(b"".join(mapped(scale).tobytes() for scale in scales)).hexdigest()


def mapped(ref: FileSlice) -> Array:
    """A view of a weight over its file's pages; nothing is read until it is used."""
    flat = np.memmap(ref.path, np.uint8, "r", ref.offset, (ref.nbytes,))
    return flat.view(ref.dtype.numpy).reshape(ref.shape)
