"""Single files of weights: the reader is chosen by a file's first bytes, not by its name."""

import os
from pathlib import Path
from typing import BinaryIO

from engine.checkpoints import safetensors, torch_file
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.opening import Recall, nothing_known, read_steadily
from engine.checkpoints.torch_stream import MAGIC

# An archive's beginning, and that of PyTorch files of before 2020.
_BEGINNINGS = (b"PK\x03\x04", MAGIC)


def read_index(path: Path, recall: Recall = nothing_known) -> TensorIndex:
    """Return the tensors of a safetensors or PyTorch file. Raises EngineError if it is unsound."""

    def read(file: BinaryIO, facts: os.stat_result) -> TensorIndex:
        reader = torch_file if _begins_as_torchs(file) else safetensors
        file.seek(0)
        return reader.index_of(path, recall, file, facts)

    return read_steadily(path, read)


def is_archive(path: Path) -> bool:
    """Tell whether a file is PyTorch's, by its beginning: an archive, or older. Raises OSError."""
    with path.open("rb") as file:
        return _begins_as_torchs(file)


def _begins_as_torchs(file: BinaryIO) -> bool:
    return file.read(max(map(len, _BEGINNINGS))).startswith(_BEGINNINGS)
