"""Makes safetensors files of random float16 weights, and of them a full-size SDXL: 6.9 GB.

SDXL's keys and shapes are those of the published `sd_xl_base_1.0.safetensors`; weights are scaled
like a layer's initialisation: outputs stay as large as inputs, so that nothing overflows or
vanishes.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backends.base import DType
from tests.checkpoints.files import header
from tests.families import listings

_SEED = 0
# Numbers are drawn once and reused from other offsets: 2.6 billion would take minutes.
_DRAWN = 1 << 24


def make(path: Path) -> None:
    """Write SDXL's checkpoint."""
    write(path, listings.sdxl())


def write(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Write weights of these names and shapes under a temporary name, then rename it to `path`."""
    text, _ = header(shapes, DType.F16)
    random = np.random.default_rng(_SEED)
    drawn = random.standard_normal(_DRAWN, np.float32)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes.items():
            for numbers in pieces(random, drawn, math.prod(shape)):
                file.write(_weights(name, shape, numbers).tobytes())
    part.replace(path)


def pieces(random: np.random.Generator, drawn: NDArray[Any], count: int) -> Iterator[NDArray[Any]]:
    """Yield `count` rows of what was drawn, from other offsets each time."""
    while count:
        size = min(count, len(drawn))
        start = int(random.integers(0, len(drawn) - size + 1))
        yield drawn[start : start + size]
        count -= size


def _weights(
    name: str, shape: tuple[int, ...], numbers: NDArray[np.float32]
) -> NDArray[np.float16]:
    is_embedding = "embedding" in name
    if len(shape) > 1 and not is_embedding:
        return (numbers / math.sqrt(math.prod(shape[1:]))).astype(np.float16)
    # Scales of normalisations are about one; all other vectors about zero.
    scales = len(shape) == 1 and name.endswith("weight")
    return (0.02 * numbers + scales).astype(np.float16)
