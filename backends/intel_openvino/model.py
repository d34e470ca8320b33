"""A graph as an OpenVINO model that shares the memory of its weights.

OpenVINO refuses external data outside the model's folder, so weights are read as inputs of the
graph and then replaced by constants that share the memory of the mapped file. So are matrices in
blocks of small integers: the numbers of a MatMulNBits become a constant of 4 or 8 bits, less a zero
and times a scale, which OpenVINO's processor plug-in joins with the product and never widens whole
("Weight Compression", `ConvertFullyConnectedToFullyConnectedCompressed` in its sources). OpenVINO's
own reader of MatMulNBits wants the blocks in the file.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper

from backends.base import Array, BackendError, TensorSpec, base_of, size_of
from backends.block_products import OPERATOR, BlockMatrix

if TYPE_CHECKING:
    import openvino as ov


def read_with_weights(
    core: "ov.Core", model_bytes: bytes, weights: Mapping[str, Array]
) -> "ov.Model":
    """Return the graph as an OpenVINO model whose constants share memory with `weights`."""
    graph = ModelProto.FromString(model_bytes)
    blocks = _without_blocks(graph)
    _turn_weights_into_inputs(graph)
    model = core.read_model(graph.SerializeToString())
    for parameter in model.get_parameters():
        name = next(iter(parameter.output(0).get_names()))
        if name in blocks:
            value = _numbers(blocks[name], weights, parameter.get_element_type())
        elif name in weights:
            value = _constant(weights[name], parameter.get_element_type())
        else:
            continue
        for target in parameter.output(0).get_target_inputs():
            target.replace_source_output(value.output(0))
        model.remove_parameter(parameter)
    model.validate_nodes_and_infer_types()
    return model


def block_length(model_bytes: bytes) -> int:
    """Return the length of the blocks that most weights in blocks have; 0 if none are in blocks."""
    if OPERATOR.encode() not in model_bytes:  # most networks, whose nodes need not be read again
        return 0
    numbers = Counter[int]()
    for node in ModelProto.FromString(model_bytes).graph.node:
        if node.op_type == OPERATOR:
            matrix = BlockMatrix.of(node)
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


def _numbers(blocks: BlockMatrix, weights: Mapping[str, Array], element: "ov.Type") -> "ov.Node":
    """Return scale * (integer - zero) for each number of a matrix, in `element` type."""
    import openvino as ov
    from openvino import opset13 as operations

    scales = weights[blocks.scales]
    one_each, width = (*scales.shape, 1), blocks.shape[1] // scales.shape[1]
    small = ov.Type.u4 if blocks.bits == 4 else ov.Type.u8
    integers = _constant(weights[blocks.integers], small, (*scales.shape, width))
    if blocks.zeros:
        zero = _constant(weights[blocks.zeros].reshape(one_each), element)
    else:
        # An integer, since the other factor is rounded beside no other zero.
        middle = ov.op.Constant(small, ov.Shape([1]), [1 << (blocks.bits - 1)])
        zero = operations.convert(middle, element)
    steps = operations.subtract(operations.convert(integers, element), zero)
    numbers = operations.multiply(steps, _constant(scales.reshape(one_each), element))
    shape = operations.constant(np.array(blocks.shape, np.int64))
    return operations.reshape(numbers, shape, special_zero=False)


def _without_blocks(model: ModelProto) -> dict[str, BlockMatrix]:
    """Turn products with matrices in blocks into products with inputs; return these by name."""
    graph, found = model.graph, dict[str, BlockMatrix]()
    elements = {tensor.name: tensor.data_type for tensor in graph.initializer}
    nodes: list[NodeProto] = []
    for node in graph.node:
        if node.op_type != OPERATOR:
            nodes.append(node)
            continue
        blocks, name = BlockMatrix.of(node), f"{node.input[1]}:numbers"
        if name not in found:
            element = elements[blocks.scales]
            graph.input.append(helper.make_tensor_value_info(name, element, blocks.shape))
            nodes.append(helper.make_node("Transpose", [name], [f"{name}:turned"], perm=[1, 0]))
        found[name] = blocks
        nodes.append(helper.make_node("MatMul", [node.input[0], f"{name}:turned"], node.output))
    del graph.node[:]
    graph.node.extend(nodes)
    parts = {part for names in found.values() for part in names[:3]}
    kept = [tensor for tensor in graph.initializer if tensor.name not in parts]
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return found


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
