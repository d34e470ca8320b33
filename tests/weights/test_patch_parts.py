"""Patches of some rows of a weight, and some rows of a patch."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, FileSlice
from engine.weights.patch_parts import placed, rows_of
from engine.weights.patched import FullDifference, LowRankDifference, PatchedWeight, Transform
from engine.weights.sources import Description, Place
from tests.weights.files import write_sources

# A fused projection of three layers, each of 4 rows.
SHAPE, ROWS, COLUMNS = (12, 5), 4, 5
RANDOM = np.random.default_rng(0)
BASE = RANDOM.standard_normal(SHAPE).astype(np.float32)
UP = RANDOM.standard_normal((ROWS, 2)).astype(np.float32)
DOWN = RANDOM.standard_normal((2, COLUMNS)).astype(np.float32)
FULL = RANDOM.standard_normal(SHAPE).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Reversed(Transform):
    """The rows in reverse order, of weights of 4 rows."""

    def fits(self, shape: tuple[int, ...]) -> bool:
        return shape[0] == ROWS

    def apply(self, weight: Array) -> Array:
        return weight[::-1]

    def parts(self) -> tuple[FileSlice, ...]:
        return ()

    def describe(self, place: Place) -> Description:
        return ["reversed"]


def low_rank(folder: Path) -> LowRankDifference:
    parts = write_sources(folder / "lora.safetensors", {"up": UP, "down": DOWN})
    return LowRankDifference(parts["up"], parts["down"], 0.5)


def base(folder: Path) -> PatchedWeight:
    return PatchedWeight(write_sources(folder / "w.safetensors", {"w": BASE})["w"], ())


@pytest.mark.parametrize("start", [0, 4, 8])
def test_a_difference_of_some_rows_leaves_the_others(tmp_path: Path, start: int) -> None:
    patch = placed(low_rank(tmp_path), start, start + ROWS, SHAPE)
    expected = BASE.copy()
    expected[start : start + ROWS] += 0.5 * (UP @ DOWN)
    weight = PatchedWeight(base(tmp_path).unpatched, (patch,))
    np.testing.assert_allclose(weight.read(), expected, rtol=1e-6, atol=1e-6)
    part = weight.rows(3, 6)
    np.testing.assert_allclose(part.read(), expected[3:6], rtol=1e-6, atol=1e-6)


def test_patches_of_different_rows_are_combined(tmp_path: Path) -> None:
    """A file may have layers q, k and v for one weight."""
    one = low_rank(tmp_path)
    patches = tuple(placed(one, start, start + ROWS, SHAPE) for start in (0, 4, 8))
    found = PatchedWeight(base(tmp_path).unpatched, patches).read()
    expected = BASE + 0.5 * np.tile(UP @ DOWN, (3, 1))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_a_transform_of_some_rows_leaves_the_others(tmp_path: Path) -> None:
    patch = placed(Reversed(), 4, 8, SHAPE)
    found = PatchedWeight(base(tmp_path).unpatched, (patch,)).read()
    expected = BASE.copy()
    expected[4:8] = BASE[4:8][::-1]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("start", [0, 4, 8])
def test_rows_of_a_difference_are_a_difference_of_a_smaller_weight(
    tmp_path: Path, start: int
) -> None:
    """A file may have one layer for q, k and v, where a network has three weights."""
    full = write_sources(tmp_path / "full.safetensors", {"d": FULL})["d"]
    patch = rows_of(FullDifference(full, 2.0), start, start + ROWS, SHAPE)
    part = base(tmp_path).unpatched.rows(start, start + ROWS)
    expected = (BASE + 2 * FULL)[start : start + ROWS]
    np.testing.assert_allclose(PatchedWeight(part, (patch,)).read(), expected, rtol=1e-6)


def test_rows_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    one = low_rank(tmp_path)
    for start, stop, shape in ((0, 5, SHAPE), (9, 13, SHAPE), (0, 4, (12, 6))):
        with pytest.raises(ValueError, match="fit"):
            placed(one, start, stop, shape)
    with pytest.raises(ValueError, match="rows"):
        rows_of(one, 0, 4, SHAPE)
    with pytest.raises(ValueError, match="rows"):
        rows_of(Reversed(), 0, 2, (4, 5))


def test_places_are_described(tmp_path: Path) -> None:
    one = low_rank(tmp_path)
    full = FullDifference(write_sources(tmp_path / "full.safetensors", {"d": FULL})["d"], 1.0)
    patches = [
        *(placed(one, start, start + ROWS, SHAPE) for start in (0, 4)),
        *(placed(Reversed(), start, start + ROWS, SHAPE) for start in (0, 4)),
        *(rows_of(full, start, start + ROWS, SHAPE) for start in (0, 4)),
    ]
    described = {str(one.describe(lambda part: [part.offset])) for one in patches}
    assert len(described) == len(patches)
    assert patches[0].parts() == one.parts()
