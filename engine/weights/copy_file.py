"""The file of a working copy: safetensors, whose metadata holds checksums of all the rest."""

import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event

import numpy as np

from backends.base import Array, DType, WeightRef
from engine.cache_folder import unfinished
from engine.checkpoints.header import LENGTH_BYTES
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.safetensors import read_index
from engine.durable import put_in_place
from engine.errors import EngineError
from engine.weights.block_sums import DIGITS, BlockSums, blocks_in, sum_text, sums_of
from engine.weights.sources import WeightSource

# In the metadata: what it was made of, for people, and the sums: of the header with zeros in their
# place, then of each block of what follows.
NETWORK, CHECKPOINT, _SUMS = "network", "checkpoint", "sums"


def copy_header(
    weights: Mapping[str, WeightSource | WeightRef], element: DType, made_of: tuple[str, str]
) -> bytes:
    """A safetensors header: its length in eight bytes, then JSON padded to a multiple of eight.

    `made_of` names the network and the checkpoint. The sums are zeros until the rest is written.
    """
    size = sum(converted_bytes(ref, element) for ref in weights.values())
    metadata = {_SUMS: _zeros(size), **dict(zip((NETWORK, CHECKPOINT), made_of, strict=True))}
    entries: dict[str, object] = {"__metadata__": metadata}
    offset = 0
    for name, ref in weights.items():
        end = offset + converted_bytes(ref, element)
        entries[name] = {
            "dtype": element.value,
            "shape": list(ref.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(LENGTH_BYTES, "little") + text


def converted_bytes(source: WeightSource | WeightRef, element: DType) -> int:
    """The size of a weight in `element` type, in bytes."""
    return math.prod(source.shape) * element.itemsize


def write_copy(path: Path, header: bytes, arrays: Iterator[Array]) -> None:
    """Write the file beside, sync it, and put it in its place whole. Raises OSError."""
    part, sums, size = unfinished(path), BlockSums(), 0
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
    """Return True if every byte is as it was written; None once the answer is `unwanted`.

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
    """The zeros that stand in for the checksums of `size` bytes of weights."""
    return "0" * (DIGITS * (1 + blocks_in(size)))
