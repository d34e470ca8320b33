"""LoRA files for tests, by their keys: names and shapes, their numbers a hole."""

from collections.abc import Mapping
from pathlib import Path

from backends.base import DType
from engine.checkpoints.files import read_index
from engine.lora.file import LoraFile, read_lora
from tests.checkpoints.files import write_sparse

Shapes = Mapping[str, tuple[int, ...]]


def lora_file(
    path: Path,
    keys: Shapes,
    metadata: Mapping[str, str] | None = None,
    dtype: DType = DType.F16,
) -> LoraFile:
    """Write a file with these keys, and read it."""
    return read_lora(read_index(write_sparse(path, dict(keys), dtype, metadata or {})))


def low_rank(layer: str, out: int, into: int, rank: int = 4) -> dict[str, tuple[int, ...]]:
    """Kohya's keys of a linear layer."""
    return {
        f"{layer}.lora_up.weight": (out, rank),
        f"{layer}.lora_down.weight": (rank, into),
        f"{layer}.alpha": (),
    }
