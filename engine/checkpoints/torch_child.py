"""Lists the tensors of a PyTorch file as JSON: the program of a child process, see `torch_file`.

Standard library only, and limited in memory and time before it looks at the file.
"""

import json
import sys
from collections.abc import Iterator
from math import prod
from typing import Any, cast

from engine.checkpoints.torch_pickle import (
    PickleDamaged,
    PickleRefused,
    TensorClaim,
    read_pickle,
)
from engine.checkpoints.torch_zip import Archive, ArchivePacked, ArchiveRefused, read_archive

MEMORY_BYTES = 2 << 30
CPU_SECONDS = 20
MAX_TENSORS = 50_000
_MAX_DEPTH = 4
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
    """Answer on stdout with {"tensors": [[name, dtype, offset, shape], ...]} or with a refusal."""
    _limit()
    answer: dict[str, Any]
    try:
        with open(sys.argv[1], "rb") as file:  # noqa: PTH123 (pathlib takes as long to import)
            archive = read_archive(file)
        tensors = list(_tensors(archive))
    except PickleRefused as refused:
        answer = {"refused": str(refused)}
    except ArchiveRefused as refused:
        answer = {"foreign": str(refused)}
    except ArchivePacked as packed:
        answer = {"packed": str(packed)}
    except PickleDamaged as damaged:
        answer = {"damaged": str(damaged)}
    except MemoryError:
        answer = {"refused": "more memory than any checkpoint needs"}
    else:
        answer = {"tensors": tensors}
    sys.stdout.write(json.dumps(answer))


def _limit() -> None:
    if sys.platform == "win32":  # the parent ends what takes too long
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _tensors(archive: Archive) -> Iterator[tuple[str, str, int, tuple[int, ...]]]:
    """Name, element type, offset in the file in bytes, and shape of each tensor."""
    root = read_pickle(archive.pickle)
    if not isinstance(root, dict):
        raise PickleDamaged("it is no dictionary of tensors")
    named = cast("dict[Any, Any]", root)
    inner = named.get("state_dict")
    claims = _claims(cast("dict[Any, Any]", inner) if isinstance(inner, dict) else named)
    for count, (name, claim) in enumerate(claims):
        if count >= MAX_TENSORS:
            raise PickleRefused(f"more than {MAX_TENSORS} tensors")
        yield name, claim.dtype, _place(name, claim, archive), claim.shape


def _claims(root: dict[Any, Any]) -> Iterator[tuple[str, TensorClaim]]:
    """Every tensor in dictionaries within dictionaries, its name joined with dots."""
    pending: list[tuple[str, dict[Any, Any], int]] = [("", root, 0)]
    while pending:
        prefix, found, depth = pending.pop()
        for key, value in found.items():
            if isinstance(value, TensorClaim) and isinstance(key, str):
                yield f"{prefix}{key}", value
            elif isinstance(value, dict) and isinstance(key, str) and depth < _MAX_DEPTH:
                pending.append((f"{prefix}{key}.", cast("dict[Any, Any]", value), depth + 1))


def _place(name: str, claim: TensorClaim, archive: Archive) -> int:
    span = archive.storages.get(claim.storage.key)
    if span is None:
        raise PickleDamaged(f"the numbers of {name[:80]!a} are missing")
    if prod(claim.shape) and not _is_row_major(claim):
        raise PickleRefused(f"the tensor {name[:80]!a} stored in another order")
    begin, length = span
    itemsize = _ITEMSIZES[claim.dtype]
    if (claim.offset + prod(claim.shape)) * itemsize > length:
        raise PickleDamaged(f"{name[:80]!a} is larger than its numbers")
    return begin + claim.offset * itemsize


def _is_row_major(claim: TensorClaim) -> bool:
    expected = 1
    for size, stride in zip(reversed(claim.shape), reversed(claim.strides), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


if __name__ == "__main__":
    main()
