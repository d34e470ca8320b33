"""Single files of weights: each is read by the reader for how it begins, whatever it is called."""

from collections.abc import Callable
from pathlib import Path

from engine.checkpoints import safetensors
from engine.checkpoints.index import FileState, TensorIndex
from engine.checkpoints.torch_file import read_torch_index

_ARCHIVE = b"PK\x03\x04"


def read_index(
    path: Path, recall: Callable[[FileState], str | None] = lambda _: None
) -> TensorIndex:
    """The tensors of a safetensors or PyTorch file. Raises EngineError for anything unsound.

    `recall` may give the digest that a file in this state is known to have, which saves reading
    places all over it.
    """
    if _begins_with_archive(path):
        return read_torch_index(path, recall)
    return safetensors.read_index(path, recall)


def _begins_with_archive(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_ARCHIVE)) == _ARCHIVE
    except (OSError, ValueError):  # the reader will say what is wrong
        return False
