"""Binds weights to an ONNX Runtime session without copying.

ONNX Runtime refuses external data outside the model's own folder, but the location of an external
initializer need not be a file: any key served from memory works. Each file is mapped once and given
a key; with "use buffers directly" nothing is copied.
"""

import mmap
from pathlib import Path

import numpy as np
from onnx import ModelProto, TensorProto, helper

from backends.base import FileSlice, Graph

Buffer = mmap.mmap | memoryview


class WeightBuffers:
    """The memory of a session's weights, by the key that each external location names."""

    def __init__(self, graph: Graph) -> None:
        self.buffers: dict[str, Buffer] = {}
        self._keys: dict[Path, str] = {}
        model = ModelProto.FromString(graph.model)
        for tensor in model.graph.initializer:
            if tensor.data_location == TensorProto.EXTERNAL:
                self._bind(tensor, graph)
        for tensor in model.graph.initializer:
            if tensor.name in graph.in_place:
                # A weight that runs might replace is no constant, and only constants are packed.
                shape, element = list(tensor.dims), tensor.data_type
                value = helper.make_tensor_value_info(tensor.name, element, shape)
                model.graph.input.append(value)
        self.model = model.SerializeToString()

    def _bind(self, tensor: TensorProto, graph: Graph) -> None:
        ref = graph.weights[tensor.name]
        key, offset = f"array_{tensor.name}", 0
        if isinstance(ref, FileSlice):
            key, offset = self._file(ref.path), ref.offset
        else:
            self.buffers[key] = np.ascontiguousarray(ref.array).reshape(-1).view(np.uint8).data
        del tensor.external_data[:]
        for name, value in (("location", key), ("offset", offset), ("length", ref.nbytes)):
            tensor.external_data.add(key=name, value=str(value))

    def _file(self, path: Path) -> str:
        if path not in self._keys:
            self._keys[path] = f"file_{len(self._keys)}"
            with path.open("rb") as file:
                self.buffers[self._keys[path]] = mmap.mmap(
                    file.fileno(), 0, access=mmap.ACCESS_READ
                )
        return self._keys[path]
