"""Single files of weights: the reader is chosen by a file's first bytes, not by its name."""

import os
from pathlib import Path
from typing import BinaryIO

from engine.checkpoints import gguf, safetensors, torch_file
from engine.checkpoints.gguf_header import MAGIC as GGUF_MAGIC
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.opening import Recall, nothing_known, read_steadily
from engine.checkpoints.torch_stream import MAGICS
from engine.regular_file import open_regular

# An archive's beginning, and that of PyTorch files of before 2020.
_BEGINNINGS = (b"PK\x03\x04", *MAGICS)
_LONGEST = max(map(len, (*_BEGINNINGS, GGUF_MAGIC)))


def read_index(path: Path, recall: Recall = nothing_known) -> TensorIndex:
    """Return the tensors of a safetensors, GGUF or PyTorch file.

    Raises EngineError if it is unsound.
    """

    def read(file: BinaryIO, facts: os.stat_result) -> TensorIndex:
        beginning = file.read(_LONGEST)
        is_gguf = beginning.startswith(GGUF_MAGIC)
        others = torch_file if beginning.startswith(_BEGINNINGS) else safetensors
        reader = gguf if is_gguf else others
        file.seek(0)
        return reader.index_of(path, recall, file, facts)

    return read_steadily(path, read)


def is_archive(path: Path) -> bool:
    """Tell whether a file is PyTorch's, by its beginning: an archive, or older. Raises OSError."""
    with open_regular(path) as file:
        return file.read(_LONGEST).startswith(_BEGINNINGS)


def is_gguf(path: Path) -> bool:
    """Tell whether a file is a GGUF file, by its beginning. Raises OSError."""
    with open_regular(path) as file:
        return file.read(_LONGEST).startswith(GGUF_MAGIC)
