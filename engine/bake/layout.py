"""The layout of a base's file, which the new file keeps: keys, types, shapes and their order.

A PyTorch file has no such layout: its tensors follow each other by the size of their numbers, so
that each begins at a multiple of it, and its keys stay.
"""

from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

import msgspec

from backends.base import FileSlice
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.checkpoints.diffusers_folder import ReadIndex
from engine.checkpoints.faults import require_rows, unreadable
from engine.checkpoints.files import is_archive, is_gguf
from engine.checkpoints.header import LENGTH_BYTES, METADATA
from engine.checkpoints.index import FileState
from engine.checkpoints.safetensors import read_metadata
from engine.errors import EngineError


class BaseFile(msgspec.Struct, frozen=True):
    """A file of a base: its tensors in the header's order, and its author's metadata in full.

    `by_place` are the tensors in the order of their bytes in the new file.
    """

    path: Path
    tensors: Mapping[str, FileSlice]
    by_place: tuple[str, ...]
    metadata: Mapping[str, str]
    state: FileState

    @property
    def data_bytes(self) -> int:
        """The number of bytes of all tensors."""
        return sum(tensor.nbytes for tensor in self.tensors.values())

    def header(self, metadata: Mapping[str, str]) -> bytes:
        """Return a safetensors header: its length in eight bytes, then JSON, padded to eight."""
        ends = accumulate(self.tensors[key].nbytes for key in self.by_place)
        places = dict(zip(self.by_place, ends, strict=True))
        entries: dict[str, object] = {METADATA: metadata}
        for key, tensor in self.tensors.items():
            end = places[key]
            entries[key] = {
                "dtype": tensor.dtype.value,
                "shape": tensor.shape,
                "data_offsets": (end - tensor.nbytes, end),
            }
        text = msgspec.json.encode(entries)
        text += b" " * (-len(text) % 8)
        return len(text).to_bytes(LENGTH_BYTES, "little") + text


def read_base(path: Path, read: ReadIndex) -> BaseFile:
    """Read the layout of a file of weights.

    Raises EngineError, with NOT_AVAILABLE for a GGUF file: changed numbers fit no blocks.
    """
    index = read(path)
    assert index.state is not None, "a single file has a state"
    tensors = index.tensors
    require_rows(path, tensors)
    try:
        if is_gguf(path):
            raise _in_blocks(path)
        archive = is_archive(path)
        metadata = {} if archive else read_metadata(path)
    except OSError as error:
        raise unreadable(path, error) from error
    if archive:
        order = sorted(tensors, key=lambda key: -tensors[key].dtype.itemsize)
    else:
        order = sorted(tensors, key=lambda key: (tensors[key].offset, tensors[key].nbytes))
    return BaseFile(path, tensors, tuple(order), metadata, index.state)


def _in_blocks(path: Path) -> EngineError:
    return EngineError(
        ErrorCode.NOT_AVAILABLE,
        sentence("{path} is a GGUF file, which LoRAs cannot be written into.", path=path.name),
        sentence("Use the same model as a .safetensors file, or the LoRA beside the model."),
    )
