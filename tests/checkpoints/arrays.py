"""Writing safetensors files for tests with numbers in them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from backends.base import Array, DType, FileSlice
from engine.checkpoints.safetensors import read_index
from tests.checkpoints.files import header


def write_arrays(
    path: Path,
    arrays: Mapping[str, Array],
    dtype: DType | Mapping[str, DType] = DType.F32,
    *,
    odd: bool = False,
    metadata: Mapping[str, str] | None = None,
) -> dict[str, FileSlice]:
    """Write `arrays` as `dtype`, or each as its own, and return where each one is.

    `odd` puts all at odd offsets.
    """
    raw, _ = header({name: array.shape for name, array in arrays.items()}, dtype, metadata)
    raw += b" " * odd
    with path.open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        for name, array in arrays.items():
            stored = dtype if isinstance(dtype, DType) else dtype[name]
            file.write(np.ascontiguousarray(array, stored.numpy).reshape(-1).view(np.uint8).data)
    slices = dict(read_index(path).tensors)
    assert not odd or all(ref.offset % 2 for ref in slices.values())
    return slices
