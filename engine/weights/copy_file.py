"""The file of a working copy: safetensors, with checksums of the whole file in its metadata."""

import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event

import numpy as np

from backends.base import Array, ComputedArray, DType, FileSlice, WeightRef
from engine.cache_folder import unfinished
from engine.checkpoints.header import LENGTH_BYTES
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.safetensors import read_index
from engine.durable import put_in_place
from engine.errors import EngineError
from engine.weights.block_checksums import DIGITS, BlockChecksums, blocks_in, sum_text, sums_of
from engine.weights.packing import bound_type
from engine.weights.sources import WeightSource

# Keys of the metadata: the network's and the checkpoint's name, for people, and the checksums: of
# the header with zeros in their place, then of each block of the rest.
NETWORK, CHECKPOINT, _SUMS = "network", "checkpoint", "sums"


def copy_header(
    weights: Mapping[str, WeightSource | WeightRef], element: DType, facts: Mapping[str, str]
) -> bytes:
    """Return a safetensors header: its length in eight bytes, then JSON padded to a multiple of 8.

    `facts` are metadata, such as the names of the network and the checkpoint. The checksums are
    zeros until `write_copy` has written the weights.
    """
    size = sum(converted_bytes(ref, element) for ref in weights.values())
    metadata = {_SUMS: _zeros(size), **facts}
    entries: dict[str, object] = {"__metadata__": metadata}
    offset = 0
    for name, ref in weights.items():
        end = offset + converted_bytes(ref, element)
        entries[name] = {
            "dtype": _stored_type(ref, element).value,
            "shape": list(ref.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(LENGTH_BYTES, "little") + text


def converted_bytes(source: WeightSource | WeightRef, element: DType) -> int:
    """Return the size of a weight in `element` type, or its own where it is packed, in bytes."""
    return math.prod(source.shape) * _stored_type(source, element).itemsize


def _stored_type(source: WeightSource | WeightRef, element: DType) -> DType:
    if isinstance(source, FileSlice | ComputedArray):
        return source.dtype
    return bound_type(source, element)


def write_copy(path: Path, header: bytes, arrays: Iterator[Array]) -> None:
    """Write a copy to a temporary file with its checksums, sync it, and rename it to `path`.

    Raises OSError.
    """
    part, sums, size = unfinished(path), BlockChecksums(), 0
    try:
        with part.open("xb") as file:
            file.write(header)
            for array in arrays:
                piece = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
                file.write(piece)
                sums.add(piece)
                size += len(piece)
            file.seek(header.index(_zeros(size).encode()))
            file.write((sum_text(zlib.crc32(header)) + sums.text()).encode())
            file.flush()
            os.fsync(file.fileno())
        put_in_place(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def has_sums(index: TensorIndex) -> bool:
    """Return True if a copy has checksums; copies of an earlier version have none."""
    size = sum(ref.nbytes for ref in index.tensors.values())
    return len(index.metadata.get(_SUMS, "")) == len(_zeros(size))


def is_sound(path: Path, unwanted: Event) -> bool | None:
    """Return True if all checksums match; None once `unwanted` is set.

    A copy that cannot be read is not sound.
    """
    try:
        index = read_index(path)
        if not has_sums(index):
            return False
        text = index.metadata[_SUMS]
        with path.open("rb") as file:
            length = file.read(LENGTH_BYTES)
            header = length + file.read(int.from_bytes(length, "little"))
        zeros = "0" * len(text)
        plain = header.replace(text.encode(), zeros.encode(), 1)
        found = sums_of(path, len(header), unwanted)
    except (OSError, EngineError):
        return False
    return None if found is None else sum_text(zlib.crc32(plain)) + found == text


def _zeros(size: int) -> str:
    """Return the zeros that stand in for the checksums of `size` bytes of weights."""
    return "0" * (DIGITS * (1 + blocks_in(size)))
