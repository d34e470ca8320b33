"""Weights that are no numbers are found before anything runs, wherever in the file they are."""

from pathlib import Path

import numpy as np
import pytest

from backends.base import DType
from engine.weights.derived import DerivedWeight
from engine.weights.nan_check import not_a_number
from engine.weights.sources import FileWeight, ScaledSlice
from tests.checkpoints.arrays import write_arrays
from tests.weights.files import write_sources

SOUND = {f"w{i}": np.full((i + 1, 5), 0.5) for i in range(10)}
TYPES = [DType.F64, DType.F32, DType.F16, DType.BF16, DType.F8_E4M3, DType.F8_E5M2]


@pytest.mark.parametrize("dtype", TYPES)
def test_the_weight_is_named(tmp_path: Path, dtype: DType) -> None:
    sound = write_sources(tmp_path / "a.safetensors", SOUND, dtype)
    assert not_a_number(sound) is None
    broken = SOUND | {"w7": np.full((8, 5), np.nan)}
    slices = write_sources(tmp_path / "b.safetensors", broken, dtype)
    assert not_a_number(slices) == "w7"
    assert not_a_number(sound | {"other": slices["w7"]}) == "other"


def test_one_in_a_scale_and_in_what_is_derived(tmp_path: Path) -> None:
    arrays = {"w": np.ones(3), "s": np.array(np.nan)}
    slices = write_arrays(tmp_path / "a.safetensors", arrays)
    scaled = ScaledSlice(slices["w"], slices["s"])
    assert not_a_number({"w": scaled}) == "w"
    plain = FileWeight(slices["w"])
    derived = DerivedWeight((plain, scaled), (3,), lambda parts, out: None, "first")
    assert not_a_number({"plain": plain, "derived": derived}) == "derived"


def test_infinities_are_numbers_here(tmp_path: Path) -> None:
    """Some embeddings of unused tokens hold infinities; results are checked for them later."""
    slices = write_sources(tmp_path / "a.safetensors", {"w": np.array([np.inf, -np.inf, 1])})
    assert not_a_number(slices) is None
