"""Lists the tensors of a PyTorch file as JSON: the program of a child process, see `torch_file`.

Standard library only. Its own bounds keep it below 256 MB and two seconds for any file
(`tests.checkpoints.hostile_torch` has the worst); the system's limits, set before it opens the
file, hold even if its own are wrong.
"""

import io
import json
import sys
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, BinaryIO, cast

from engine.checkpoints.limits import MAX_ANSWER_BYTES, MAX_NAME_CHARS, MAX_TENSORS
from engine.checkpoints.torch_instructions import PickleDamaged, PickleRefused, Unread
from engine.checkpoints.torch_pickle import MAX_INSTRUCTIONS, TensorClaim, read_pickle
from engine.checkpoints.torch_stream import LONGEST_MAGIC, magic_of, read_stream
from engine.checkpoints.torch_zip import (
    Archive,
    ArchivePacked,
    ArchiveRefused,
    Member,
    read_archive,
)

# The most address space; Python itself takes a quarter.
MEMORY_BYTES = 512 << 20
CPU_SECONDS = 10
# The most networks in a list; a longer list does not hold weights.
_MAX_SEVERAL = 64
_MAX_DEPTH = 4
_BUFFER_BYTES = 1 << 16
# The facts of an embedding file (A1111 `Embedding.save`), and the most of each that is told.
_TEXTS = ("name", "step", "sd_checkpoint", "sd_checkpoint_name")
_MAX_TEXT_CHARS = 200
_MAX_NUMBER = 1 << 62
# The axes of a convolution's weight.
_KERNEL = 4
_ITEMSIZES = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
}


def main() -> None:
    """Print {"tensors": [[name, dtype, offset, shape], ...], "texts": {...}}, or a refusal.

    See `list_tensors`.
    """
    _limit()
    answer: dict[str, Any]
    try:
        with open(sys.argv[1], "rb") as file:  # noqa: PTH123 (pathlib takes as long to import)
            root, archive = _read(file)
            tensors = list_tensors(root, archive)
    except PickleRefused as refused:
        answer = {"refused": str(refused)}
    except ArchiveRefused as refused:
        answer = {"foreign": str(refused)}
    except ArchivePacked as packed:
        answer = {"packed": str(packed)}
    except PickleDamaged as damaged:
        answer = {"damaged": str(damaged)}
    except MemoryError:
        answer = {"refused": "more memory than any model needs"}
    else:
        sys.stdout.write(f'{{"tensors": [{tensors}], "texts": {json.dumps(list_texts(root))}}}')
        return
    sys.stdout.write(json.dumps(answer))


def _read(file: BinaryIO) -> tuple[object, Archive]:
    """Return the object in a file of either form, and the places of its numbers."""
    magic = magic_of(file.read(LONGEST_MAGIC))
    if magic is not None:
        file.seek(len(magic))
        return read_stream(file, _ITEMSIZES)
    archive = read_archive(file)
    pickled = io.BufferedReader(Member(file, archive.pickle), _BUFFER_BYTES)
    return read_pickle(cast("BinaryIO", pickled)), archive


def _limit() -> None:
    if sys.platform == "win32":  # the parent ends what takes too long
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def list_texts(root: object) -> dict[str, str]:
    """Return the facts beside the tensors, such as an embedding's name and training steps."""
    if not isinstance(root, dict):
        return {}
    named = cast("dict[Any, Any]", root)
    found = ((key, named.get(key)) for key in _TEXTS)
    return {
        key: str(value)[:_MAX_TEXT_CHARS]
        for key, value in found
        if type(value) is str or (type(value) is int and abs(value) < _MAX_NUMBER)
    }


def list_tensors(root: object, archive: Archive) -> str:
    """Return name, element type, offset in the file and shape of each tensor, as JSON.

    After those of a kernel with its channels last comes True.
    """
    # Some embeddings are lists of dictionaries; a tuple is no file that a tool writes.
    named = None if isinstance(root, tuple) else _entries(root)
    if named is None:
        raise PickleDamaged("it is no dictionary of tensors")
    inner = named.get("state_dict")
    tensors: list[str] = []
    left = MAX_ANSWER_BYTES
    for name, claim in _Claims(cast("dict[Any, Any]", inner) if isinstance(inner, dict) else named):
        if len(tensors) >= MAX_TENSORS:
            raise PickleRefused(f"more than {MAX_TENSORS} tensors")
        place, last = _place(name, claim, archive), _is_channels_last(claim)
        tensor = json.dumps((name, claim.dtype, place, claim.shape, *[last] * last))
        tensors.append(tensor)
        left -= len(tensor) + 1
        if left < 0:
            raise PickleRefused(f"more than {MAX_ANSWER_BYTES >> 20} MB of names of tensors")
    return ",".join(tensors)


class _Claims:
    """All tensors in dictionaries and in lists within them, by their keys joined with dots.

    A dictionary may occur in many places, and each of them counts: a pickle without repetitions has
    no more entries than instructions.
    """

    def __init__(self, root: dict[Any, Any]) -> None:
        self._root = root
        self._left = MAX_INSTRUCTIONS

    def __iter__(self) -> Iterator[tuple[str, TensorClaim]]:
        return self._within(self._root, ())

    def _within(
        self, found: dict[Any, Any], above: tuple[str | Unread, ...]
    ) -> Iterator[tuple[str, TensorClaim]]:
        self._left -= len(found) + 1
        if self._left < 0:
            raise PickleRefused(f"more than {MAX_INSTRUCTIONS} entries")
        for key, value in found.items():
            if isinstance(value, TensorClaim) and (name := _named(key)) is not None:
                yield _joined((*above, name)), value
        if len(above) < _MAX_DEPTH:
            # In reverse order: digests of files were made in this order.
            for key, value in reversed(found.items()):
                inner = _entries(value)
                if inner is not None and (name := _named(key)) is not None:
                    yield from self._within(inner, (*above, name))


def _named(key: object) -> str | Unread | None:
    """Return a key as part of a name, else None; a hypernetwork's keys are integers (widths)."""
    return str(key) if type(key) is int else key if isinstance(key, (str, Unread)) else None


def _entries(value: object) -> dict[Any, Any] | None:
    if isinstance(value, dict):
        return cast("dict[Any, Any]", value)
    if isinstance(value, (list, tuple)):
        several = cast("list[Any]", value)
        return dict(enumerate(several)) if len(several) <= _MAX_SEVERAL else None
    return None


def _joined(keys: tuple[str | Unread, ...]) -> str:
    known = [key for key in keys if isinstance(key, str)]
    if len(known) < len(keys) or sum(map(len, known)) + len(known) > MAX_NAME_CHARS + 1:
        raise PickleRefused(f"a tensor's name of more than {MAX_NAME_CHARS} characters")
    return ".".join(known)


def _place(name: str, claim: TensorClaim, archive: Archive) -> int:
    span = archive.storages.get(claim.storage.key)
    if span is None:
        raise PickleDamaged(f"the numbers of {name[:80]!a} are missing")
    if prod(claim.shape) and not (_is_row_major(claim) or _is_channels_last(claim)):
        raise PickleRefused(f"the tensor {name[:80]!a} stored in another order")
    begin, length = span
    itemsize = _ITEMSIZES[claim.dtype]
    if (claim.offset + prod(claim.shape)) * itemsize > length:
        raise PickleDamaged(f"{name[:80]!a} is larger than its numbers")
    return begin + claim.offset * itemsize


def _is_row_major(claim: TensorClaim) -> bool:
    return _follow(claim.shape, claim.strides)


def _is_channels_last(claim: TensorClaim) -> bool:
    """Return True for a kernel as torch's `channels_last` has it, and not in rows as well."""
    if len(claim.shape) != _KERNEL or not prod(claim.shape) or _is_row_major(claim):
        return False
    return _follow(*(([*of[:1], *of[2:], of[1]]) for of in (claim.shape, claim.strides)))


def _follow(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Return True if numbers with these steps follow one another."""
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


if __name__ == "__main__":
    main()
