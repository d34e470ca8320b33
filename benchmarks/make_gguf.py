"""Makes full-size GGUF files of random weights in Q4_0, as converters write them."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from backends.base import Array, DType
from benchmarks import make_sdxl
from engine.weights.dequantization import dequantized
from tests.checkpoints.gguf_files import blocks, fact, header, number_of, padded, tensor
from tests.families.listings import Listing

_DTYPE, _SEED = DType.Q4_0, 0
# Blocks are drawn once and reused from other offsets: 17 billion numbers would take minutes.
_DRAWN_ROWS = 1 << 14
_COLUMNS = 4096
_DRAWN_NUMBERS = 1 << 22


def write(path: Path, names: Listing, architecture: str, left: str = "$^") -> None:
    """Write matrices in blocks and vectors in float32, under a temporary name at first.

    Matrices whose names match `left` are written in float16, as converters leave them.
    """
    listed: list[bytes] = []
    offset = 0
    types = {name: _type_of(name, shape, left) for name, shape in names.items()}
    for name, shape in names.items():
        dtype = types[name]
        listed.append(tensor(name, shape, number_of(dtype), offset))
        offset += _padded_size(_size(dtype, math.prod(shape)))
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(padded(header([fact("general.architecture", architecture)], listed)))
        _write_data(file, names, types)
    part.replace(path)


def _write_data(file: BinaryIO, names: Listing, types: Mapping[str, DType]) -> None:
    random = np.random.default_rng(_SEED)
    raw = blocks(_DTYPE, (_DRAWN_ROWS, _COLUMNS), _SEED, scale=1.0).raw
    drawn = np.frombuffer(raw, np.uint8).reshape(-1, _block_bytes())
    spread = float(dequantized(drawn[:4096].reshape(-1), _DTYPE).std())
    for name, shape in names.items():
        deviation = 1 / math.sqrt(shape[-1]) if "embd" not in name else 1.0
        if types[name] is DType.F16:
            few = (deviation * random.standard_normal(_DRAWN_NUMBERS, np.float32)).astype(
                np.float16
            )
            for piece in make_sdxl.pieces(random, few, math.prod(shape)):
                file.write(piece.tobytes())
            file.write(bytes(-2 * math.prod(shape) % 32))
        elif types[name] is _DTYPE:
            _write_blocks(file, random, _scaled(drawn, deviation / spread), math.prod(shape))
        else:
            numbers = 0.1 * random.standard_normal(shape, np.float32)
            is_scale = name.endswith(("scale", "norm.weight"))
            file.write(padded((numbers + is_scale).astype(np.float32).tobytes()))


def _scaled(drawn: Array, factor: float) -> Array:
    """Blocks whose scales, of float16, are multiplied."""
    blocks_ = drawn.copy()
    halves = blocks_[:, :2].copy().view(np.float16)
    blocks_[:, :2] = (halves * np.float16(factor)).view(np.uint8)
    return blocks_


def _write_blocks(file: BinaryIO, random: np.random.Generator, drawn: Array, elements: int) -> None:
    for piece in make_sdxl.pieces(random, drawn, elements // 32):
        file.write(piece.tobytes())
    file.write(bytes(-(elements // 32 * _block_bytes()) % 32))


def _type_of(name: str, shape: tuple[int, ...], left: str) -> DType:
    """Return Q4_0 for matrices of whole blocks; converters leave vectors and biases."""
    if len(shape) != 2 or shape[0] == 1 or shape[1] % 32 or shape[1] <= 64:
        return DType.F32
    return DType.F16 if re.search(left, name) else _DTYPE


def _size(dtype: DType, elements: int) -> int:
    return dtype.bytes_of(elements)


def _padded_size(size: int) -> int:
    return size + -size % 32


def _block_bytes() -> int:
    assert _DTYPE.block is not None
    return _DTYPE.block.nbytes
