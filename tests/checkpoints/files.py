"""Writing safetensors files for tests: from names and shapes, sparse, so that size is free."""

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path

from backends.base import DType


def header(
    shapes: Mapping[str, tuple[int, ...]],
    dtype: DType | Mapping[str, DType] = DType.F16,
    metadata: Mapping[str, str] | None = None,
) -> tuple[bytes, int]:
    """The header's JSON, padded as the reference writer pads it, and the bytes of data it wants.

    `dtype` is that of all tensors, or names that of each one.
    """
    entries: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    offset = 0
    for name, shape in shapes.items():
        stored = dtype if isinstance(dtype, DType) else dtype[name]
        size = prod(shape) * stored.itemsize
        entries[name] = {
            "dtype": stored.value,
            "shape": list(shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    raw = json.dumps(entries).encode()
    return raw + b" " * (-len(raw) % 8), offset


# A tensor that tells a whole checkpoint by its name.
CHECKPOINT = {"model.diffusion_model.out.0.weight": (1,)}


def write_sparse(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]],
    dtype: DType | Mapping[str, DType] = DType.F16,
    metadata: Mapping[str, str] | None = None,
) -> Path:
    """A file of the right length whose weights are a hole in it."""
    raw, size = header(shapes, dtype, metadata)
    return write_raw(path, raw, size)


def write_raw(path: Path, raw: bytes, size: int = 0) -> Path:
    """A file with this header, right or wrong, and `size` bytes of zeros behind it."""
    with path.open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        file.truncate(8 + len(raw) + size)
    return path
