"""Float16 that becomes float32 in place is exactly NumPy's."""

import numpy as np
import pytest

from backends.base import DType
from engine.weights.widening import widen

EVERY_HALF = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def test_every_finite_float16_is_widened_exactly() -> None:
    finite = EVERY_HALF[np.isfinite(EVERY_HALF)]
    found = np.empty(finite.shape, np.float32)
    widen(finite, found)
    np.testing.assert_array_equal(found.view(np.uint32), finite.astype(np.float32).view(np.uint32))


def test_infinity_and_nan_stay_what_they_are() -> None:
    found = np.empty(EVERY_HALF.shape, np.float32)
    widen(EVERY_HALF, found)
    np.testing.assert_array_equal(found, EVERY_HALF.astype(np.float32))


@pytest.mark.parametrize("dtype", [DType.F32, DType.BF16, DType.F64, DType.I32])
def test_other_types_are_converted(dtype: DType) -> None:
    stored = np.array([0, -2, 3, 1], dtype.numpy)
    found = np.empty(stored.shape, np.float32)
    widen(stored, found)
    np.testing.assert_array_equal(found, [0, -2, 3, 1])


def test_no_number_is_widened_to_none() -> None:
    found = np.empty(0, np.float32)
    widen(np.empty(0, np.float16), found)
    assert not found.size
