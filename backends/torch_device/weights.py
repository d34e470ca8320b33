"""Weights as tensors: mapped from their file on the processor, moved to any other device."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false
# (torch is absent from the environment that is type-checked)

import mmap
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch

from backends.base import (
    Array,
    Cancellation,
    DType,
    FileSlice,
    Progress,
    RunCancelled,
    WeightRef,
)

TYPES: Mapping[DType, torch.dtype] = {
    DType.F32: torch.float32,
    DType.F16: torch.float16,
    DType.BF16: torch.bfloat16,
    DType.I64: torch.int64,
    DType.U8: torch.uint8,
}


def load_weights(
    weights: Mapping[str, WeightRef],
    move: Callable[[str, torch.Tensor], torch.Tensor],
    progress: Progress,
    cancel: Cancellation,
) -> dict[str, torch.Tensor]:
    """Return every weight after `move`, which gets its name and may return its argument.

    Read in the order of the file. Raises RunCancelled, and OSError or ValueError if a file is gone
    or too short.
    """
    files: dict[Path, mmap.mmap] = {}
    total = sum(ref.nbytes for ref in weights.values()) or 1
    loaded: dict[str, torch.Tensor] = {}
    done = 0
    for name, ref in sorted(weights.items(), key=lambda item: _place(item[1])):
        if cancel.is_set():
            raise RunCancelled
        if isinstance(ref, FileSlice):
            if ref.path not in files:
                files[ref.path] = _mapped(ref.path)
            tensor = _over_pages(ref, files[ref.path])
        else:
            tensor = over_array(ref.array, ref.dtype)
        loaded[name] = move(name, tensor)
        done += ref.nbytes
        progress(done / total)
    return loaded


def over_array(array: Array, dtype: DType) -> torch.Tensor:
    """Return a tensor that shares an array's memory if possible; it is never written to."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if not flat.flags.writeable:
        flat = flat.copy()
    # Through bytes: torch does not know NumPy's bfloat16.
    return torch.from_numpy(flat).view(TYPES[dtype]).reshape(array.shape)


def _place(ref: WeightRef) -> tuple[str, int]:
    return (str(ref.path), ref.offset) if isinstance(ref, FileSlice) else ("", 0)


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        # Copy-on-write, because torch has no read-only tensors; nothing is ever written.
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def _over_pages(ref: FileSlice, file: mmap.mmap) -> torch.Tensor:
    dtype = TYPES[ref.dtype]
    if ref.offset % ref.dtype.itemsize:
        # torch's kernels may rely on alignment: these few are copied.
        raw = torch.frombuffer(file, dtype=torch.uint8, count=ref.nbytes, offset=ref.offset)
        return raw.clone().view(dtype).reshape(ref.shape)
    tensor = torch.frombuffer(file, dtype=dtype, count=ref.elements, offset=ref.offset)
    return tensor.reshape(ref.shape)
