"""A look at the beginning of each weight, before a network of gigabytes is loaded and run.

Training and merging go wrong by whole tensors: those are NaN from end to end. A NaN by itself is
found in what the networks give, which is checked (`engine.result_checks`).
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import numpy as np

from backends.base import FileSlice
from engine.weights.sources import WeightSource

SAMPLE_BYTES = 4096


def not_a_number(weights: Mapping[str, WeightSource]) -> str | None:
    """The name of a weight that begins with what is no number; None where none does.

    Raises OSError where a file cannot be read.
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
    whole = len(raw) - len(raw) % part.dtype.itemsize
    return bool(np.isnan(np.frombuffer(raw[:whole], part.dtype.numpy).astype(np.float32)).any())
