"""The number formats that weights are stored in and networks compute in."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import ml_dtypes
import numpy as np


class DType(StrEnum):
    """Element types of weights and tensors, named as in safetensors headers."""

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

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy type; types that NumPy lacks come from ml_dtypes."""
        return _NUMPY_TYPES[self]

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.numpy.itemsize


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


class Precision(StrEnum):
    """The number format a network computes in."""

    F32 = "f32"
    F16 = "f16"
    BF16 = "bf16"

    @property
    def dtype(self) -> DType:
        """The element type of weights stored in this precision."""
        return DType[self.name]
