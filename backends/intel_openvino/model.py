"""A graph as an OpenVINO model that shares the memory of its weights.

OpenVINO refuses external data outside the model's folder, so weights are read as inputs of the
graph and then replaced by constants that share the memory of the mapped file. So are matrices in
blocks of small integers: the numbers of a MatMulNBits become a constant of 4 or 8 bits, less a zero
and times a scale, which OpenVINO's processor plug-in joins with the product and never widens whole
("Weight Compression", `ConvertFullyConnectedToFullyConnectedCompressed` in its sources). OpenVINO's
own reader of MatMulNBits wants the blocks in the file.

Beside matrices with offsets apart (`offsets`), which are numbers of their own and not the file's,
the product is one of two.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper

from backends.base import Array, BackendError, TensorSpec, base_of, size_of
from backends.block_products import OPERATOR, BlockMatrix, BlockSums, SharedConstants
from backends.intel_openvino.offsets import Offsets

if TYPE_CHECKING:
    import openvino as ov

_NONE: Mapping[str, Offsets] = MappingProxyType({})


def read_with_weights(
    core: "ov.Core",
    model_bytes: bytes,
    weights: Mapping[str, Array],
    apart: Mapping[str, Offsets] = _NONE,
) -> "ov.Model":
    """Return the graph as an OpenVINO model whose constants share memory with its weights.

    Those are `weights` and the offsets that are `apart` from matrices with integers of these names.
    """
    graph = ModelProto.FromString(model_bytes)
    blocks = _Products(graph, apart).without_blocks()
    weights = dict(weights)
    for offsets in apart.values():
        weights.update(offsets.arrays)
    _turn_weights_into_inputs(graph)
    model = core.read_model(graph.SerializeToString())
    for parameter in model.get_parameters():
        name = next(iter(parameter.output(0).get_names()))
        if name in blocks:
            value = _numbers(*blocks[name], weights, parameter.get_element_type())
        elif name in weights:
            value = _constant(weights[name], parameter.get_element_type())
        else:
            continue
        for target in parameter.output(0).get_target_inputs():
            target.replace_source_output(value.output(0))
        model.remove_parameter(parameter)
    model.validate_nodes_and_infer_types()
    return model


def matrices_in_blocks(model_bytes: bytes) -> list[BlockMatrix]:
    """List the matrices in blocks, one for each product with it."""
    if OPERATOR.encode() not in model_bytes:  # most networks, whose nodes need not be read again
        return []
    nodes = ModelProto.FromString(model_bytes).graph.node
    return [BlockMatrix.of(node) for node in nodes if node.op_type == OPERATOR]


def block_length(matrices: Sequence[BlockMatrix]) -> int:
    """Return the length of the blocks that most numbers are in; 0 for no matrices."""
    numbers = Counter[int]()
    for matrix in matrices:
        numbers[matrix.block] += prod(matrix.shape)
    return max(numbers, key=numbers.__getitem__, default=0)


def fix_sizes(model: "ov.Model", inputs: tuple[TensorSpec, ...], sizes: Mapping[str, int]) -> None:
    """Fix every dynamic dimension. Raises BackendError if one has no value."""
    shapes: dict[str, list[int]] = {}
    for spec in inputs:
        missing = [n for n in spec.shape if isinstance(n, str) and base_of(n) not in sizes]
        if missing:
            raise BackendError(f"no size is given for {', '.join(missing)} of {spec.name}")
        shapes[spec.name] = [size_of(n, sizes) for n in spec.shape]
    model.reshape(shapes)


def largest_tensor(model: "ov.Model") -> int:
    """Return the bytes of the largest computed tensor; 0 if a size is not fixed."""
    sizes = [0]
    for op in model.get_ops():
        if op.get_type_name() == "Constant":
            continue
        for output in op.outputs():
            shape = output.get_partial_shape()
            if shape.is_static:
                sizes.append(prod(shape.to_shape()) * output.get_element_type().size)
    return max(sizes)


def _constant(
    array: Array, element: "ov.Type", shape: tuple[int, ...] | None = None
) -> "ov.op.Constant":
    """Return a constant that shares the array's memory, whose bits are numbers of `element` type.

    `shape` is the array's, but for numbers smaller than a byte.
    """
    import openvino as ov

    # OpenVINO's binding represents bfloat16 as 16-bit integers with a separate type.
    stored = array.view(np.uint16) if element == ov.Type.bf16 else array
    tensor = ov.Tensor(stored, list(shape or stored.shape), element)
    return ov.op.Constant(tensor, shared_memory=True)


def _numbers(
    blocks: BlockMatrix, zero: int, weights: Mapping[str, Array], element: "ov.Type"
) -> "ov.Node":
    """Return scale * (integer - zero) for each number of a matrix, in `element` type.

    `zero` is that of blocks without zeros of their own.
    """
    import openvino as ov
    from openvino import opset13 as operations

    scales = weights[blocks.scales]
    one_each, width = (*scales.shape, 1), blocks.shape[1] // scales.shape[1]
    small = ov.Type.u4 if blocks.bits == 4 else ov.Type.u8
    integers = _constant(weights[blocks.integers], small, (*scales.shape, width))
    if blocks.zeros:
        less = _constant(weights[blocks.zeros].reshape(one_each), element)
    else:
        # An integer, since the other factor is rounded beside no other zero.
        less = operations.convert(ov.op.Constant(small, ov.Shape([1]), [zero]), element)
    steps = operations.subtract(operations.convert(integers, element), less)
    numbers = operations.multiply(steps, _constant(scales.reshape(one_each), element))
    shape = operations.constant(np.array(blocks.shape, np.int64))
    return operations.reshape(numbers, shape, special_zero=False)


class _Products:
    """Turns a graph's products with matrices in blocks into products with inputs."""

    def __init__(self, model: ModelProto, apart: Mapping[str, Offsets]) -> None:
        self._graph, self._apart = model.graph, apart
        self._elements = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
        self._found: dict[str, tuple[BlockMatrix, int]] = {}
        self._sums = BlockSums(SharedConstants(model.graph))

    def without_blocks(self) -> dict[str, tuple[BlockMatrix, int]]:
        """Write the products anew; return the matrices, with zeros, by the names of the inputs."""
        graph = self._graph
        matrices = [BlockMatrix.of(node) for node in graph.node if node.op_type == OPERATOR]
        nodes = [new for node in graph.node for new in self._written(node)]
        del graph.node[:]
        graph.node.extend(nodes)
        parts = {part for names in matrices for part in names[:3]}
        kept = [tensor for tensor in graph.initializer if tensor.name not in parts]
        del graph.initializer[:]
        graph.initializer.extend(kept)
        return self._found

    def _written(self, node: NodeProto) -> list[NodeProto]:
        """Return the nodes that compute what a node does."""
        if node.op_type != OPERATOR:
            return [node]
        blocks, x, y = BlockMatrix.of(node), node.input[0], node.output[0]
        element, apart = self._elements[blocks.scales], self._apart.get(blocks.integers)
        if apart is None:
            return self._product(x, blocks, 1 << (blocks.bits - 1), element, y)
        sums, summing = self._sums.of(x, blocks)
        middle = 1 << (apart.matrix.bits - 1)
        return [
            *self._product(x, blocks._replace(zeros=""), apart.zero, element, f"{y}:whole"),
            *summing,
            *self._product(sums, apart.matrix, middle, element, f"{y}:part"),
            helper.make_node("Add", [f"{y}:whole", f"{y}:part"], [y]),
        ]

    def _product(
        self, x: str, blocks: BlockMatrix, zero: int, element: int, y: str
    ) -> list[NodeProto]:
        """Return the product with an input, and what turns that round if nothing did."""
        name, nodes = f"{blocks.integers}:numbers", list[NodeProto]()
        if name not in self._found:
            info = helper.make_tensor_value_info(name, element, blocks.shape)
            self._graph.input.append(info)
            nodes.append(helper.make_node("Transpose", [name], [f"{name}:turned"], perm=[1, 0]))
            self._found[name] = blocks, zero
        return [*nodes, helper.make_node("MatMul", [x, f"{name}:turned"], [y])]


def _turn_weights_into_inputs(model: ModelProto) -> None:
    """Turn each external initializer into an input."""
    kept: list[TensorProto] = []
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            info = helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            model.graph.input.append(info)
        else:
            kept.append(tensor)
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
