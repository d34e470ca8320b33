"""The number formats that weights are stored in and networks compute in."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np


class Block(NamedTuple):
    """A run of numbers that are stored together, as small integers with scales."""

    elements: int
    nbytes: int


class DType(StrEnum):
    """Element types of weights and tensors, named as in safetensors headers.

    The last ones are ggml's quantised types (`ggml-common.h`): blocks of integers of 2 to 8 bits
    with scales. Only files hold them; no array has such a type.
    """

    F64 = "F64"
    F32 = "F32"
    F16 = "F16"
    BF16 = "BF16"
    F8_E4M3 = "F8_E4M3"
    F8_E5M2 = "F8_E5M2"
    I64 = "I64"
    I32 = "I32"
    I16 = "I16"
    I8 = "I8"
    U64 = "U64"
    U32 = "U32"
    U16 = "U16"
    U8 = "U8"
    BOOL = "BOOL"
    Q4_0 = "Q4_0"
    Q4_1 = "Q4_1"
    Q5_0 = "Q5_0"
    Q5_1 = "Q5_1"
    Q8_0 = "Q8_0"
    Q2_K = "Q2_K"
    Q3_K = "Q3_K"
    Q4_K = "Q4_K"
    Q5_K = "Q5_K"
    Q6_K = "Q6_K"

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type; types that NumPy lacks come from ml_dtypes. A quantised type has none."""
        return _NUMPY_TYPES[self]

    @property
    def itemsize(self) -> int:
        """Bytes per element; a quantised type has no whole number of them."""
        return self.numpy.itemsize

    @property
    def block(self) -> Block | None:
        """The blocks of a quantised type; None for a type that stores each number by itself."""
        return _BLOCKS.get(self)

    def bytes_of(self, elements: int) -> int:
        """Return the bytes of so many elements; those of a quantised type fill whole blocks."""
        block = self.block
        return elements * self.itemsize if block is None else elements // block[0] * block[1]


_NUMPY_TYPES: Mapping[DType, np.dtype[Any]] = {
    DType.F64: np.dtype(np.float64),
    DType.F32: np.dtype(np.float32),
    DType.F16: np.dtype(np.float16),
    DType.BF16: np.dtype(ml_dtypes.bfloat16),
    DType.F8_E4M3: np.dtype(ml_dtypes.float8_e4m3fn),
    DType.F8_E5M2: np.dtype(ml_dtypes.float8_e5m2),
    DType.I64: np.dtype(np.int64),
    DType.I32: np.dtype(np.int32),
    DType.I16: np.dtype(np.int16),
    DType.I8: np.dtype(np.int8),
    DType.U64: np.dtype(np.uint64),
    DType.U32: np.dtype(np.uint32),
    DType.U16: np.dtype(np.uint16),
    DType.U8: np.dtype(np.uint8),
    DType.BOOL: np.dtype(np.bool_),
}

_BLOCKS: Mapping[DType, Block] = {
    DType.Q4_0: Block(32, 18),
    DType.Q4_1: Block(32, 20),
    DType.Q5_0: Block(32, 22),
    DType.Q5_1: Block(32, 24),
    DType.Q8_0: Block(32, 34),
    DType.Q2_K: Block(256, 84),
    DType.Q3_K: Block(256, 110),
    DType.Q4_K: Block(256, 144),
    DType.Q5_K: Block(256, 176),
    DType.Q6_K: Block(256, 210),
}


class Precision(StrEnum):
    """The number format a network computes in.

    INT8 is float32, but for products with weights in blocks of 4 or 8 bits: there the other factor
    is rounded to 8 bits, with a scale for every so many numbers.
    """

    F32 = "f32"
    F16 = "f16"
    BF16 = "bf16"
    INT8 = "int8"

    @property
    def dtype(self) -> DType:
        """The element type of weights stored in this precision, where they are in no blocks."""
        return DType.F32 if self is Precision.INT8 else DType[self.name]
