"""A hard limit on the memory of torch's processor device, as a card has.

Counts the memory of all tensors that operators compute with or make, until it is freed. What is
only copied or looked at in another shape may be on the host.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_COPIES = ("aten::copy_", "aten::_to_copy")


class LimitedMemory(TorchDispatchMode):
    """A device with `limit` bytes of memory: torch runs out of it beyond them.

    `held` are the bytes in use now, `peak` the most at any time.
    """

    def __init__(self, limit: int = 1 << 62) -> None:
        super().__init__()
        self.limit, self.held, self.peak = limit, 0, 0
        self._known: dict[int, Any] = {}

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        result = function(*arguments, **(named or {}))
        for tensor in _tensors(_on_device(function._schema, arguments, result)):
            self._count(tensor.untyped_storage())
        if self.held > self.limit:
            raise torch.OutOfMemoryError(f"out of memory: {self.held} of {self.limit} bytes")
        return result

    def _count(self, storage: Any) -> None:
        place = storage.data_ptr()
        if not place or place in self._known:
            return
        nbytes = storage.nbytes()

        def freed(_: object) -> None:
            del self._known[place]
            self.held -= nbytes

        self._known[place] = weakref.ref(storage, freed)
        self.held += nbytes
        self.peak = max(self.peak, self.held)


def _on_device(schema: Any, arguments: Any, result: Any) -> tuple[Any, ...]:
    """The tensors of a call that are on the device."""
    if schema.name in ("aten::copy_", "aten::_to_copy"):
        return (result,)
    views = any(
        returned.alias_info and not returned.alias_info.is_write for returned in schema.returns
    )
    return () if views else (arguments, result)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
