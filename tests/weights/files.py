"""Weights in files, as sources."""

from collections.abc import Mapping
from pathlib import Path

from backends.base import Array, DType
from engine.weights.sources import WeightSource, as_sources
from tests.checkpoints.arrays import write_arrays


def write_sources(
    path: Path,
    arrays: Mapping[str, Array],
    dtype: DType | Mapping[str, DType] = DType.F32,
    *,
    odd: bool = False,
) -> dict[str, WeightSource]:
    """`tests.checkpoints.arrays.write_arrays`, each slice as a source."""
    return as_sources(write_arrays(path, arrays, dtype, odd=odd))
