"""A graph's weights as arrays over their files, for runtimes that take memory."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from backends.base import Array, FileSlice, WeightRef


def mapped_weights(weights: Mapping[str, WeightRef]) -> dict[str, Array]:
    """Return each weight in its type and shape: mapped from its file, or the array itself.

    Raises OSError or ValueError if a file is gone or cut short.
    """
    files: dict[Path, Array] = {}
    arrays: dict[str, Array] = {}
    for name, ref in weights.items():
        if isinstance(ref, FileSlice):
            if ref.path not in files:
                # Copy-on-write, because OpenVINO requires writable arrays; nothing is ever written.
                files[ref.path] = np.memmap(ref.path, np.uint8, "c")
            stored = files[ref.path][ref.offset : ref.offset + ref.nbytes]
            if len(stored) < ref.nbytes:
                raise ValueError(f"the file of weights {ref.path.name} was cut short")
            arrays[name] = stored.view(ref.dtype.numpy).reshape(ref.shape)
        else:
            arrays[name] = np.ascontiguousarray(ref.array)
    return arrays
