"""A file as `torch.save` writes it, made without torch."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tests.guard.weights import Array

_STORAGES = {np.dtype(np.float32): "FloatStorage", np.dtype(np.float16): "HalfStorage"}


def write_torch_zip(path: Path, arrays: Mapping[str, Array]) -> Path:
    """A state dict of these float32 and float16 arrays."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(_member("archive/data.pkl"), pickled_state(arrays))
        for number, array in enumerate(arrays.values()):
            archive.writestr(_member(f"archive/data/{number}"), _as_in_memory(array))
        archive.writestr(_member("archive/version"), b"3\n")
    return path


def pickled_state(arrays: Mapping[str, Array]) -> bytes:
    """The pickle of a state dict, whose storages are numbered in order."""
    entries = (
        _text(name) + _tensor(str(number), array)
        for number, (name, array) in enumerate(arrays.items())
    )
    return b"\x80\x02}(" + b"".join(entries) + b"u."


def channels_last(array: Array) -> Array:
    """A kernel with its numbers in torch's `channels_last` order; another array as it is."""
    if array.ndim != 4:
        return array
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


def _as_in_memory(array: Array) -> bytes:
    """The numbers of an array in the order of their places, whatever its axes are."""
    return array.transpose(
        np.argsort([-stride for stride in array.strides], kind="stable")
    ).tobytes()


def _member(name: str) -> zipfile.ZipInfo:
    """The same whenever it is written."""
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def _tensor(key: str, array: Array) -> bytes:
    """A call of `_rebuild_tensor_v2`: storage, offset, shape, strides, gradient, hooks."""
    strides = tuple(stride // array.itemsize for stride in array.strides)
    storage = (
        b"("
        + _text("storage")
        + _global("torch", _STORAGES[array.dtype])
        + _text(key)
        + _text("cpu")
        + _number(array.size)
        + b"tQ"
    )
    return (
        _global("torch._utils", "_rebuild_tensor_v2")
        + b"("
        + storage
        + _number(0)
        + _numbers(array.shape)
        + _numbers(strides)
        + b"\x89"
        + _global("collections", "OrderedDict")
        + b")R"
        + b"tR"
    )


def _global(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def _text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + len(raw).to_bytes(4, "little") + raw


def _number(value: int) -> bytes:
    return b"J" + value.to_bytes(4, "little")


def _numbers(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(map(_number, values)) + b"t"
