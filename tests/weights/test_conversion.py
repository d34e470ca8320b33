"""Converted numbers are exactly NumPy's."""

import numpy as np
import pytest

from backends.base import Array, DType
from engine.weights.conversion import convert, converted

EVERY_HALF = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
FINITE_HALVES = EVERY_HALF[np.isfinite(EVERY_HALF)]
_TYPES = (DType.F16, DType.BF16, DType.F32)


def _bits(numbers: Array) -> Array:
    return numbers.view(np.dtype(f"u{numbers.dtype.itemsize}"))


def _assert_as_numpy(numbers: Array, element: DType) -> None:
    with np.errstate(over="ignore"):
        found, expected = converted(numbers, element), numbers.astype(element.numpy)
    np.testing.assert_array_equal(_bits(found), _bits(expected))


@pytest.mark.parametrize("element", _TYPES)
def test_every_finite_float16_is_converted_exactly(element: DType) -> None:
    _assert_as_numpy(FINITE_HALVES, element)


@pytest.mark.parametrize("element", _TYPES)
@pytest.mark.parametrize("dtype", _TYPES)
def test_infinity_and_nan_stay_what_they_are(dtype: DType, element: DType) -> None:
    numbers = np.array([1, np.inf, -np.inf, np.nan, 0, -0.0], dtype.numpy)
    found = converted(numbers, element).astype(np.float64)
    np.testing.assert_array_equal(found, numbers.astype(np.float64))


@pytest.mark.parametrize("below", [0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF])
def test_float32_between_two_float16_is_rounded_to_nearest(below: int) -> None:
    """Subnormal numbers, ties and what overflows are among them."""
    halves = FINITE_HALVES.astype(np.float32)
    _assert_as_numpy((halves.view(np.uint32) + np.uint32(below)).view(np.float32), DType.F16)


def test_float32_of_any_bits_is_rounded_to_nearest() -> None:
    random = np.random.default_rng(5)
    numbers = random.integers(0, 1 << 32, 1 << 18, dtype=np.uint32).view(np.float32)
    _assert_as_numpy(numbers[~np.isnan(numbers)], DType.F16)


@pytest.mark.parametrize("dtype", [DType.F32, DType.BF16, DType.F64, DType.I32])
def test_other_types_are_converted(dtype: DType) -> None:
    stored = np.array([0, -2, 3, 1], dtype.numpy)
    found = np.empty(stored.shape, np.float32)
    convert(stored, found)
    np.testing.assert_array_equal(found, [0, -2, 3, 1])


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (3, 5), (70_000, 2)])
def test_a_shape_stays(shape: tuple[int, ...]) -> None:
    numbers = np.full(shape, 0.1, np.float16)
    found = converted(numbers, DType.F32)
    assert found.shape == shape
    assert found.size == 0 or found.min() == found.max() == np.float32(np.float16(0.1))


def test_columns_are_converted_as_rows_are() -> None:
    numbers = np.arange(12, dtype=np.float16).reshape(3, 4)
    np.testing.assert_array_equal(converted(numbers.T, DType.F32), numbers.T.astype(np.float32))
