"""Differences are added in float32 and the sum is rounded once, in any part and shape."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, ComputedArray, DType
from engine.weights.binding import bind
from engine.weights.derived import DerivedWeight
from engine.weights.patched import FullDifference, LowRankDifference, PatchedWeight
from engine.weights.sources import FileWeight, ScaledSlice, WeightSource
from tests.checkpoints.arrays import write_arrays
from tests.weights.files import write_sources

F32, F16, BF16 = DType.F32, DType.F16, DType.BF16
OUT, IN, RANK, STRENGTH = 24, 20, 4, 0.7
RANDOM = np.random.default_rng(0)
BASE = RANDOM.standard_normal((OUT, IN)).astype(np.float32)
UP = RANDOM.standard_normal((OUT, RANK)).astype(np.float32)
DOWN = RANDOM.standard_normal((RANK, IN)).astype(np.float32)
FULL = RANDOM.standard_normal((OUT, IN)).astype(np.float32)
elements = pytest.mark.parametrize("element", [F32, F16, BF16])


def patched(folder: Path, stored: DType = F32) -> PatchedWeight:
    """A low-rank and a full difference, of float16, of a weight that is stored in some type."""
    base = write_sources(folder / "base.safetensors", {"w": BASE}, stored)["w"]
    arrays = {"up": UP, "down": DOWN, "full": FULL}
    parts = write_sources(folder / "patch.safetensors", arrays, F16)
    low_rank = LowRankDifference(parts["up"], parts["down"], STRENGTH)
    return PatchedWeight(base, (low_rank, FullDifference(parts["full"], -0.25)))


def expected(stored: DType) -> Array:
    """The sum in float64, of the numbers as they are stored."""

    def as_stored(array: Array, dtype: DType) -> Array:
        return array.astype(dtype.numpy).astype(np.float64)

    product = as_stored(UP, F16) @ as_stored(DOWN, F16)
    return as_stored(BASE, stored) + STRENGTH * product - 0.25 * as_stored(FULL, F16)


@pytest.mark.parametrize("stored", [F32, F16, BF16, DType.F8_E4M3])
def test_the_sum_is_that_of_float32(tmp_path: Path, stored: DType) -> None:
    found = patched(tmp_path, stored).read()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected(stored), rtol=2e-6, atol=2e-6)


@elements
@pytest.mark.parametrize("stored", [F32, F16, BF16])
def test_the_sum_is_rounded_once(tmp_path: Path, stored: DType, element: DType) -> None:
    weight = patched(tmp_path, stored)
    once = weight.read().astype(element.numpy)
    np.testing.assert_array_equal(weight.read_as(element), once)
    if element is F32:
        return
    # Rounding the weight before the sum and the sum after it gives other numbers.
    differences = weight.read() - weight.unpatched.read_as(F32)
    coarse = weight.unpatched.read_as(BF16).astype(np.float32) + differences
    assert stored is BF16 or not np.array_equal(coarse.astype(element.numpy), once)


def test_the_weight_without_patches_is_as_it_was(tmp_path: Path) -> None:
    weight = patched(tmp_path)
    weight.read()
    np.testing.assert_array_equal(weight.base.read(), BASE)
    assert weight.base is weight.unpatched


@pytest.mark.parametrize(("start", "stop"), [(0, OUT), (0, 1), (7, 19), (OUT - 1, OUT)])
def test_rows_are_those_of_the_whole(tmp_path: Path, start: int, stop: int) -> None:
    weight = patched(tmp_path)
    part = weight.rows(start, stop)
    assert (part.shape, part.elements) == ((stop - start, IN), (stop - start) * IN)
    np.testing.assert_allclose(part.read(), weight.read()[start:stop], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(part.base.read(), BASE[start:stop])
    second = part.rows(0, 1)
    np.testing.assert_allclose(second.read()[0], weight.read()[start], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", [(OUT, IN, 1, 1), (OUT * IN,), (6, 4, IN), (32, 15)])
def test_other_shapes_have_the_same_numbers(tmp_path: Path, shape: tuple[int, ...]) -> None:
    weight = patched(tmp_path)
    other = weight.reshaped(shape)
    assert other.shape == shape
    np.testing.assert_array_equal(other.read(), weight.read().reshape(shape))
    # Rows that begin within a row of the low-rank product.
    part = other.rows(1, 3)
    np.testing.assert_allclose(part.read(), weight.read().reshape(shape)[1:3], rtol=1e-6, atol=1e-6)


def test_kernels_are_multiplied_as_convolutions_are(tmp_path: Path) -> None:
    """`up` of 1x1 after `down` of 3x3 is one kernel of 3x3."""
    base, up = np.zeros((6, 5, 3, 3)), RANDOM.integers(-4, 4, (6, 2, 1, 1))
    down = RANDOM.integers(-4, 4, (2, 5, 3, 3))
    files = {"w": base, "up": up, "down": down}
    parts = write_sources(tmp_path / "w.safetensors", files)
    weight = PatchedWeight(parts["w"], (LowRankDifference(parts["up"], parts["down"], 0.5),))
    kernel = 0.5 * np.einsum("or,rikl->oikl", up[:, :, 0, 0], down)
    np.testing.assert_array_equal(weight.read(), kernel)


def test_a_patched_weight_is_computed_and_others_are_bound_by_reference(tmp_path: Path) -> None:
    weight = patched(tmp_path, F16)
    bound = bind({"patched": weight, "plain": weight.base}, F16)
    assert isinstance(bound["patched"], ComputedArray)
    np.testing.assert_array_equal(bound["patched"].array, weight.read().astype(np.float16))
    assert bound["plain"] is weight.base.slice_as(F16)


def test_a_scaled_weight_is_patched_after_it_is_scaled(tmp_path: Path) -> None:
    arrays = {"w": np.full((2, 3), 2.0), "s": np.array(3.0), "d": np.ones((2, 3))}
    types = {"w": DType.F8_E4M3, "s": F32, "d": F32}
    slices = write_arrays(tmp_path / "w.safetensors", arrays, types)
    scaled = ScaledSlice(slices["w"], slices["s"])
    weight = PatchedWeight(scaled, (FullDifference(FileWeight(slices["d"]), 0.5),))
    np.testing.assert_array_equal(weight.read_as(F16), np.full((2, 3), 6.5))
    assert weight.parts() == (slices["w"], slices["s"], slices["d"])
    assert weight.dtype is DType.F8_E4M3
    assert weight.needs_conversion(DType.F8_E4M3)


def turned(weights: Sequence[Array], out: Array) -> None:
    out[...] = np.concatenate(weights).T


def test_a_weight_is_derived_from_patched_numbers(tmp_path: Path) -> None:
    """Attention heads are packed from projections of which a LoRA may patch one."""
    weight = patched(tmp_path)
    plain: WeightSource = weight.base
    derived = DerivedWeight((plain, weight), (IN, 2 * OUT), turned, "turned")
    whole = np.concatenate([BASE, weight.read()]).T
    np.testing.assert_array_equal(derived.read(), whole)
    base = derived.base
    np.testing.assert_array_equal(base.read(), np.concatenate([BASE, BASE]).T)
    assert base.base is base
    np.testing.assert_array_equal(derived.rows(3, 5).read(), whole[3:5])
    np.testing.assert_array_equal(derived.reshaped((2 * OUT, IN)).read().reshape(-1), whole.flat)
    assert derived.slice_as(F32) is None
    assert not derived.needs_conversion(F32)
    assert derived.needs_conversion(F16)


def test_factors_of_different_ranks_are_refused(tmp_path: Path) -> None:
    arrays = {"up": np.ones((3, 2)), "down": np.ones((4, 3))}
    parts = write_sources(tmp_path / "w.safetensors", arrays)
    with pytest.raises(ValueError, match="ranks"):
        LowRankDifference(parts["up"], parts["down"], 1.0)
