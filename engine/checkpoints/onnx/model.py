"""A graph from an ONNX file, as data: nodes, constants, and weights that stay in the file."""

from collections.abc import Mapping

import msgspec

from backends.base import FileSlice, TensorSpec
from backends.elements import DType


class StoredTensor(msgspec.Struct, frozen=True):
    """A tensor of a file: the number of its type in ONNX, its shape, and its numbers.

    `content` is little-endian and row-major; None where the numbers stay at `place` in the file.
    """

    kind: int
    shape: tuple[int, ...]
    content: bytes | None = None
    place: FileSlice | None = None


AttributeValue = float | int | str | tuple[int, ...] | tuple[float, ...] | StoredTensor


class Node(msgspec.Struct, frozen=True):
    """An operator of ONNX's own domain; empty names stand for values that are left out."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, AttributeValue]


class OnnxModel(msgspec.Struct, frozen=True):
    """A graph whose every node is allowed and reads what was computed before it.

    `digest` distinguishes files by content, `opset` is the set of operators. `weights` are the
    tensors of floating-point numbers that stay in the file.
    """

    name: str
    digest: str
    opset: int
    nodes: tuple[Node, ...]
    tensors: Mapping[str, StoredTensor]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]

    @property
    def weights(self) -> dict[str, FileSlice]:
        """The tensors that stay in the file, by name."""
        return {
            name: tensor.place for name, tensor in self.tensors.items() if tensor.place is not None
        }


# Types of ONNX by their numbers (`TensorProto.DataType`).
ELEMENTS: Mapping[int, DType] = {
    1: DType.F32,
    2: DType.U8,
    3: DType.I8,
    4: DType.U16,
    5: DType.I16,
    6: DType.I32,
    7: DType.I64,
    9: DType.BOOL,
    10: DType.F16,
    11: DType.F64,
    12: DType.U32,
    13: DType.U64,
}
FLOAT, HALF = 1, 10
