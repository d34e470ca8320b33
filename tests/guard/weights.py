"""Random weights that are the same numbers everywhere, and safetensors files of them.

Nothing here uses the engine: what the guard reads must not change with what it guards.
"""

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any
from zlib import crc32

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tests.families.listings import Listing

Array = NDArray[Any]
Arrays = dict[str, Array]

_TYPES = {
    np.dtype(np.float32): "F32",
    np.dtype(np.float16): "F16",
    np.dtype(np.uint8): "U8",
    np.dtype(ml_dtypes.bfloat16): "BF16",
    np.dtype(ml_dtypes.float8_e4m3fn): "F8_E4M3",
    np.dtype(ml_dtypes.float8_e5m2): "F8_E5M2",
}


def drawn(listing: Listing, seed: int) -> Arrays:
    """Float32 weights as a network is initialised: activations stay near unit size.

    Each depends on its name, its shape and the seed alone.
    """
    return {name: _drawn(name, shape, seed) for name, shape in sorted(listing.items())}


def _drawn(name: str, shape: tuple[int, ...], seed: int) -> Array:
    uniform = _uniform(prod(shape), crc32(name.encode()) + seed).reshape(shape)
    if len(shape) > 1 and "embedding" not in name:
        return uniform / np.float32(np.sqrt(prod(shape[1:])))
    if len(shape) == 1:
        is_norm_scale = name.endswith("weight")
        return np.float32(0.1) * uniform + np.float32(is_norm_scale)
    return uniform


def _uniform(count: int, seed: int) -> NDArray[np.float32]:
    """Numbers of unit variance.

    NumPy promises a bit generator's output; its distributions may change with its version, and
    the normal one with the processor.
    """
    raw = np.random.PCG64(seed).random_raw(-(-count // 4)).astype("<u8").view("<u2")[:count]
    centred = raw.astype(np.float32) - np.float32(32767.5)
    return centred * np.float32(np.sqrt(12) / 65536)


def write_safetensors(
    path: Path, arrays: Mapping[str, Array], metadata: Mapping[str, str] | None = None
) -> Path:
    """Write the arrays, each in its own type."""
    entries: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    offset = 0
    for name, array in arrays.items():
        end = offset + array.nbytes
        entries[name] = {
            "dtype": _TYPES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for array in arrays.values():
            file.write(array.tobytes())
    return path
