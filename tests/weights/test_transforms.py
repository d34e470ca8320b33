"""Transforms compute a weight from the whole of what the patches before them made."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType, FileSlice
from engine.weights.patched import FullDifference, PatchedWeight, Transform
from engine.weights.sources import Description, Place
from engine.weights.weight_set import WeightSet
from tests.weights.files import write_sources

SHAPE = 6, 4
RANDOM = np.random.default_rng(0)
BASE = RANDOM.standard_normal(SHAPE).astype(np.float32)
FULL = RANDOM.standard_normal(SHAPE).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Sums(Transform):
    """Each number plus a multiple of the sum of its column, so that no part does without others."""

    factor: float
    read: tuple[FileSlice, ...] = ()

    def fits(self, shape: tuple[int, ...]) -> bool:
        return shape == SHAPE

    def apply(self, weight: Array) -> Array:
        weight += self.factor * weight.sum(0)
        return weight

    def parts(self) -> tuple[FileSlice, ...]:
        return self.read

    def describe(self, place: Place) -> Description:
        return ["sums", self.factor]


def patched(folder: Path) -> PatchedWeight:
    parts = write_sources(folder / "w.safetensors", {"base": BASE, "full": FULL})
    full = FullDifference(parts["full"], 0.5)
    return PatchedWeight(parts["base"], (full, Sums(2.0), full), 0)


def expected() -> Array:
    total = BASE.astype(np.float64) + 0.5 * FULL
    return total + 2.0 * total.sum(0) + 0.5 * FULL


def test_patches_act_in_turn(tmp_path: Path) -> None:
    weight = patched(tmp_path)
    np.testing.assert_allclose(weight.read(), expected(), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(weight.base.read(), BASE)
    once = weight.read().astype(np.float16)
    np.testing.assert_array_equal(weight.read_as(DType.F16), once)


@pytest.mark.parametrize(("start", "stop"), [(0, 6), (2, 5), (5, 6)])
def test_rows_are_those_of_the_whole_transformed(tmp_path: Path, start: int, stop: int) -> None:
    whole = patched(tmp_path)
    part = whole.rows(start, stop)
    np.testing.assert_array_equal(part.read(), whole.read()[start:stop])
    np.testing.assert_array_equal(part.base.read(), BASE[start:stop])
    np.testing.assert_array_equal(part.rows(0, 1).read()[0], whole.read()[start])
    other = part.reshaped((part.elements, 1))
    np.testing.assert_array_equal(other.read().reshape(part.shape), part.read())
    other = whole.reshaped((3, 8)).rows(1, 2)
    np.testing.assert_array_equal(other.read(), whole.read().reshape(3, 8)[1:2])


def test_a_part_that_is_transformed_depends_on_the_whole_weight(tmp_path: Path) -> None:
    whole = patched(tmp_path)
    first = whole.unpatched.rows(0, 2)
    assert whole.rows(0, 2).parts() == whole.parts()

    def described(weight: PatchedWeight) -> Description:
        return weight.describe(lambda part: [part.offset, list(part.shape)])

    alone = PatchedWeight(first, whole.patches)
    assert described(whole.rows(0, 2)) != described(alone)


def test_a_transform_and_its_order_are_in_the_digest(tmp_path: Path) -> None:
    parts = write_sources(tmp_path / "w.safetensors", {"base": BASE, "full": FULL})
    plain = WeightSet("content", {"base": parts["base"]})
    full = FullDifference(parts["full"], 0.5)
    chains = (full, Sums(2.0)), (Sums(2.0), full), (Sums(2.5), full), (full,), ()
    digests = {plain.patched("patch", {"base": chain}).digest() for chain in chains}
    assert len(digests) == len(chains)


def test_a_transform_of_another_shape_is_refused(tmp_path: Path) -> None:
    parts = write_sources(tmp_path / "w.safetensors", {"base": BASE, "other": BASE.T})
    weights = WeightSet("content", parts)
    assert weights.patched("patch", {"base": [Sums(1.0)]})
    with pytest.raises(ValueError, match="other"):
        weights.patched("patch", {"other": [Sums(1.0)]})
