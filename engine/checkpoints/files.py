"""Single files of weights: the reader is chosen by a file's first bytes, not by its name."""

import os
from pathlib import Path
from typing import BinaryIO

from engine.checkpoints import safetensors, torch_file
from engine.checkpoints.index import TensorIndex
from engine.checkpoints.opening import Recall, nothing_known, read_steadily

_ARCHIVE = b"PK\x03\x04"


def read_index(path: Path, recall: Recall = nothing_known) -> TensorIndex:
    """Return the tensors of a safetensors or PyTorch file. Raises EngineError if it is unsound."""

    def read(file: BinaryIO, facts: os.stat_result) -> TensorIndex:
        reader = torch_file if _begins_archive(file) else safetensors
        file.seek(0)
        return reader.index_of(path, recall, file, facts)

    return read_steadily(path, read)


def is_archive(path: Path) -> bool:
    """Tell whether a file is an archive, as PyTorch's are, by its beginning. Raises OSError."""
    with path.open("rb") as file:
        return _begins_archive(file)


def _begins_archive(file: BinaryIO) -> bool:
    return file.read(len(_ARCHIVE)) == _ARCHIVE
