"""PyTorch files (.ckpt, .pt, .pth, .bin) as tensor indexes, read without PyTorch.

Their pickle is read by `torch_child` in a process of its own, with little memory and time, and only
listed, never run (`torch_pickle`). The weights are not copied: the archive stores them
uncompressed (`torch_zip`), as older files do (`torch_stream`), so they are bound by reference like
those of a safetensors file.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec

from backends.base import DType, FileSlice
from engine.api.sentences import as_it_is, sentence
from engine.api.values import ErrorCode
from engine.checkpoints.faults import corrupt, quoted
from engine.checkpoints.index import FileState, TensorIndex, sampled_digest
from engine.checkpoints.limits import (
    MAX_ANSWER_BYTES,
    MAX_DIMENSION,
    MAX_NAME_CHARS,
    MAX_RANK,
)
from engine.checkpoints.opening import Recall
from engine.errors import EngineError

TIMEOUT_S = 30
_ROOT = Path(__file__).resolve().parents[2]
# Isolated, and without installed packages: it needs none, and so starts at once.
_PROGRAM = (
    f"import sys; sys.path.insert(0, {str(_ROOT)!r}); "
    "from engine.checkpoints.torch_child import main; main()"
)

# Python's start asks Windows for random numbers, whose libraries are found by this variable.
_NEEDED = ("SYSTEMROOT",)
# The facts beside the tensors, whose characters may be escaped in six bytes each.
_MOST_TEXT_BYTES = 8192

_Dimension = Annotated[int, msgspec.Meta(ge=0, lt=MAX_DIMENSION)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME_CHARS)]


class _Tensor(msgspec.Struct, array_like=True, frozen=True):
    name: _Name
    dtype: DType
    offset: Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
    shape: Annotated[tuple[_Dimension, ...], msgspec.Meta(max_length=MAX_RANK)]
    channels_last: bool = False

    @property
    def listed(self) -> tuple[object, ...]:
        """The description of the tensor as it is part of a file's digest."""
        facts = self.name, self.dtype, self.offset, self.shape
        return (*facts, True) if self.channels_last else facts


class _Answer(msgspec.Struct, frozen=True):
    tensors: tuple[_Tensor, ...] = ()
    # Facts beside the tensors by their keys.
    texts: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    # At most one of these is set: the name that the pickle asks for, the reason why the archive is
    # not PyTorch's, the name of a checkpoint packed in the archive, or its damage.
    refused: str = ""
    foreign: str = ""
    packed: str = ""
    damaged: str = ""

    @property
    def is_list(self) -> bool:
        """True if the answer lists the tensors instead of a reason for refusing them."""
        return not (self.refused or self.foreign or self.packed or self.damaged)


def index_of(path: Path, recall: Recall, file: BinaryIO, facts: os.stat_result) -> TensorIndex:
    """Return the tensors of a file that is open. Raises EngineError and OSError."""
    answer = _ask(path)
    if not answer.is_list:
        raise _fault(path, answer)
    tensors = {tensor.name: _slice(path, tensor, facts.st_size) for tensor in answer.tensors}
    listed = msgspec.json.encode([tensor.listed for tensor in answer.tensors])
    state = FileState.of(path, facts, listed)
    digest = recall(state) or sampled_digest(file, listed, facts.st_size)
    return TensorIndex(path, tensors, answer.texts, digest, state)


def listing_command(path: Path) -> list[str]:
    """Return the command line of the child process that lists the tensors of a file."""
    return [sys.executable, "-I", "-S", "-c", _PROGRAM, os.fspath(path.absolute())]


def _environment() -> dict[str, str]:
    """Return the variables without which Windows cannot start Python, and no others."""
    return {name: os.environ[name] for name in _NEEDED if name in os.environ}


def _ask(path: Path) -> _Answer:
    try:
        done = subprocess.run(
            listing_command(path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=False,
            env=_environment(),
        )
        if done.returncode or len(done.stdout) > MAX_ANSWER_BYTES + _MOST_TEXT_BYTES:
            raise corrupt(path, sentence("the program that lists its tensors was stopped by it"))
        return msgspec.json.decode(done.stdout, type=_Answer)
    except subprocess.TimeoutExpired:
        raise corrupt(path, sentence("listing its tensors takes longer than any model's")) from None
    except msgspec.DecodeError as error:
        raise corrupt(path, sentence("its tensors cannot be listed"), str(error)) from error


def _fault(path: Path, answer: _Answer) -> EngineError:
    if answer.damaged:
        return corrupt(path, as_it_is(answer.damaged[:200]))
    what = sentence(
        "{path} was not opened: it asks for {name}.", path=path.name, name=quoted(answer.refused)
    )
    hint = sentence("Files of this kind are programs. Get the .safetensors version.")
    if answer.packed:
        what = sentence(
            "{path} is a zip archive that holds {name}.", path=path.name, name=quoted(answer.packed)
        )
        hint = sentence("Unpack it, and choose the model that is in it.")
    elif answer.foreign:
        what = sentence(
            "{path} is a zip archive, but no checkpoint of PyTorch's: {reason}.",
            path=path.name,
            reason=answer.foreign[:200],
        )
        hint = sentence("Choose a model, or get the .safetensors version of this one.")
    return EngineError(ErrorCode.CHECKPOINT_UNREADABLE, what, hint)


def _slice(path: Path, tensor: _Tensor, size: int) -> FileSlice:
    if not tensor.name.isprintable():
        raise corrupt(
            path, sentence("tensor name {quoted} is not plain text", quoted=quoted(tensor.name))
        )
    found = FileSlice(path, tensor.offset, tensor.dtype, tensor.shape, tensor.channels_last)
    if found.offset + found.nbytes > size:
        raise corrupt(
            path,
            sentence("tensor {quoted} lies beyond the end of the file", quoted=quoted(tensor.name)),
        )
    return found
