"""The numbers that stored weights stand for: all of fp8, and those times a scale."""

from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import msgspec
import numpy as np
import pytest

from backends.base import Array, ComputedArray, DType, FileSlice
from engine.graphs.operators.attention import packed_per_head
from engine.graphs.operators.images import channels_last, summed_for_doubling
from engine.weights.binding import bind
from engine.weights.derived import Derive, DerivedWeight
from engine.weights.int8_rows import Int8Rows
from engine.weights.sources import FileWeight, ScaledSlice
from tests.checkpoints.arrays import write_arrays

F32, F16, BF16 = DType.F32, DType.F16, DType.BF16
FLOAT8 = {
    DType.F8_E4M3: np.dtype(ml_dtypes.float8_e4m3fn),
    DType.F8_E5M2: np.dtype(ml_dtypes.float8_e5m2),
}
EVERY = np.arange(256, dtype=np.uint8)
fp8 = pytest.mark.parametrize("stored", FLOAT8)
elements = pytest.mark.parametrize("element", [F32, F16, BF16])


def a_slice(path: Path, array: Array, dtype: DType) -> FileSlice:
    return write_arrays(path, {"w": array}, dtype)["w"]


def a_weight(path: Path, array: Array, dtype: DType) -> FileWeight:
    return FileWeight(a_slice(path, array, dtype))


def scaled(folder: Path, array: Array, dtype: DType, scale: float, of: DType = F32) -> ScaledSlice:
    number = a_slice(folder / "scale.safetensors", np.array(scale), of)
    return ScaledSlice(a_slice(folder / "w.safetensors", array, dtype), number)


def bits(array: Array) -> Array:
    return array.view(f"u{array.itemsize}")


def test_fp8_has_the_numbers_of_its_definition(tmp_path: Path) -> None:
    """OFP8 (Micikevicius et al. 2022): E4M3 spends its last pattern on NaN and has no infinity."""
    every = {
        dtype: a_weight(tmp_path / "w", EVERY.view(kind), dtype).read()
        for dtype, kind in FLOAT8.items()
    }
    e4m3, e5m2 = every[DType.F8_E4M3], every[DType.F8_E5M2]
    assert np.isnan(e4m3).sum() == 2
    assert not np.isinf(e4m3).any()
    assert (np.nanmax(e4m3), e4m3[1], e4m3[0x38]) == (448, 2.0**-9, 1)
    assert np.isnan(e5m2).sum() == 6
    assert np.isinf(e5m2).sum() == 2
    assert (np.max(e5m2[np.isfinite(e5m2)]), e5m2[1], e5m2[0x3C]) == (57344, 2.0**-16, 1)


@fp8
@elements
def test_fp8_is_converted_as_ml_dtypes_converts_it(
    tmp_path: Path, stored: DType, element: DType
) -> None:
    given = EVERY.view(FLOAT8[stored])
    found = a_weight(tmp_path / "w", given, stored).read_as(element)
    assert found.dtype == element.numpy
    np.testing.assert_array_equal(bits(found), bits(given.astype(element.numpy)))


@fp8
@elements
def test_a_scale_multiplies_in_float32_and_the_product_is_rounded_once(
    tmp_path: Path, stored: DType, element: DType
) -> None:
    given = EVERY.view(FLOAT8[stored])
    with np.errstate(over="ignore"):
        product = given.astype(np.float32) * np.float32(0.0123)
        expected = product.astype(element.numpy)
    weight = scaled(tmp_path, given, stored, 0.0123)
    np.testing.assert_array_equal(bits(weight.read_as(element)), bits(expected))
    np.testing.assert_array_equal(bits(weight.read()), bits(product))


def test_other_types_may_be_scaled_too(tmp_path: Path) -> None:
    weight = scaled(tmp_path, np.arange(6.0).reshape(2, 3), F16, 0.5, of=BF16)
    np.testing.assert_array_equal(weight.read_as(F16), np.arange(6.0).reshape(2, 3) / 2)
    np.testing.assert_array_equal(weight.rows(1, 2).read(), [[1.5, 2.0, 2.5]])
    np.testing.assert_array_equal(weight.reshaped((6,)).read(), np.arange(6.0) / 2)


def test_a_scaled_weight_is_never_bound_as_it_is(tmp_path: Path) -> None:
    weight = scaled(tmp_path, np.ones(4), F16, 3.0)
    assert FileWeight(weight.stored).slice_as(F16) is weight.stored
    assert weight.slice_as(F16) is None
    bound = bind({"w": weight}, F16)["w"]
    assert isinstance(bound, ComputedArray)
    np.testing.assert_array_equal(bound.array, np.full(4, 3.0))


def test_all_that_a_weight_is_made_of(tmp_path: Path) -> None:
    weight = scaled(tmp_path, np.ones(4), F16, 3.0)
    plain = FileWeight(weight.stored)
    derived = DerivedWeight((weight, plain), (4,), lambda parts, out: None, "nothing")
    assert derived.parts() == (weight.stored, weight.scale, weight.stored)


@pytest.mark.parametrize("element", [F32, F16, BF16])
@pytest.mark.parametrize(
    ("derive", "shape", "derived"),
    [
        (packed_per_head(2), (4, 3), (12, 3)),
        (channels_last, (4, 3, 3, 3), (4, 3, 3, 3)),
        (summed_for_doubling, (4, 2, 3, 3), (2, 4, 4, 4)),
    ],
    ids=["packed", "channels_last", "summed"],
)
def test_weights_of_any_types_are_derived_from(
    tmp_path: Path, element: DType, derive: Derive, shape: tuple[int, ...], derived: tuple[int, ...]
) -> None:
    """Mixed in one file, as q in bf16, k in fp8 and v in scaled fp8 may be."""
    numbers_of = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 8
    kinds = (BF16, DType.F8_E4M3, DType.F8_E5M2)
    parts = [a_weight(tmp_path / f"{kind}", numbers_of, kind) for kind in kinds]
    plain = [a_weight(tmp_path / "plain", numbers_of, F32)] * 3
    count = 3 if derived[0] == 12 else 1

    def computed(sources: Sequence[FileWeight]) -> Array:
        weight = DerivedWeight(tuple(sources), derived, derive, "derived")
        bound = bind({"w": weight}, element)["w"]
        assert isinstance(bound, ComputedArray)
        return bound.array.astype(np.float32)

    expected = computed(plain[:count])
    for start in range(3 - count + 1):
        np.testing.assert_array_equal(computed(parts[start : start + count]), expected)


@pytest.mark.parametrize("shape", [(6, 1), (6,), (1, 6)])
def test_rows_of_int8_have_their_own_scales(shape: tuple[int, ...], tmp_path: Path) -> None:
    integers = np.arange(-24, 24, dtype=np.int8).reshape(6, 8)
    scales = np.array([1, 2, 4, 8, 16, 32], np.float32)
    stored = a_slice(tmp_path / "w.safetensors", integers, DType.I8)
    beside = a_slice(tmp_path / "s.safetensors", scales.reshape(shape), F32)
    whole, numbers = Int8Rows(stored, beside), integers * scales[:, None]
    assert (whole.read() == numbers).all()
    part = whole.rows(2, 5)
    assert (part.read() == numbers[2:5]).all()
    assert (part.rows(1, 2).read() == numbers[3:4]).all()


@elements
@pytest.mark.parametrize("stored", [F32, F16, BF16, *FLOAT8])
def test_a_kernel_with_its_channels_last_is_read_in_rows(
    stored: DType, element: DType, tmp_path: Path
) -> None:
    array = np.arange(5 * 3 * 2 * 4, dtype=np.float32).reshape(5, 3, 2, 4) % 8
    kept = a_slice(tmp_path / "w.safetensors", array.transpose(0, 2, 3, 1), stored)
    kernel = msgspec.structs.replace(kept, shape=array.shape, channels_last=True)
    weight = FileWeight(kernel)
    assert (weight.read_as(element) == array.astype(element.numpy)).all()
    assert (weight.read() == array).all()
    part = weight.rows(1, 4)
    assert (part.read_as(element) == array[1:4].astype(element.numpy)).all()
    # A backend would read it in rows.
    assert weight.slice_as(stored) is None
    assert weight.needs_conversion(stored)
    (bound,) = bind({"w": weight}, element).values()
    assert isinstance(bound, ComputedArray)
    with pytest.raises(AssertionError, match="another order"):
        weight.reshaped((5, 24))
