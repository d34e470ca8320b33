"""A check of each weight's beginning for NaN, before a network of gigabytes is loaded and run.

Failed training or merging usually leaves whole tensors of NaN. A single NaN is found in the
network's results (`engine.result_checks`).
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import numpy as np

from backends.base import FileSlice
from engine.weights.dequantization import dequantized
from engine.weights.sources import WeightSource

SAMPLE_BYTES = 4096


def not_a_number(weights: Mapping[str, WeightSource]) -> str | None:
    """Return the name of a weight with NaN in its first `SAMPLE_BYTES`; None if there is none.

    Raises OSError if a file cannot be read.
    """
    parts = [(part, name) for name, weight in weights.items() for part in weight.parts()]
    parts.sort(key=lambda found: (found[0].path, found[0].offset))
    files: dict[Path, BinaryIO] = {}
    with ExitStack() as stack:
        for part, name in parts:
            if part.path not in files:
                files[part.path] = stack.enter_context(part.path.open("rb", buffering=0))
            if _begins_with_nan(files[part.path], part):
                return name
    return None


def _begins_with_nan(file: BinaryIO, part: FileSlice) -> bool:
    file.seek(part.offset)
    raw = file.read(min(SAMPLE_BYTES, part.nbytes))
    if part.dtype.block is not None:
        whole = len(raw) - len(raw) % part.dtype.block.nbytes
        blocks = np.frombuffer(raw[:whole], np.uint8)
        return bool(np.isnan(dequantized(blocks, part.dtype)).any())
    whole = len(raw) - len(raw) % part.dtype.itemsize
    return bool(np.isnan(np.frombuffer(raw[:whole], part.dtype.numpy).astype(np.float32)).any())
