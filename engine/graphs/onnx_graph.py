"""The graph of an ONNX file, node by node as it is there."""

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, helper

from backends.base import DType, TensorSpec
from engine.checkpoints.onnx.model import FLOAT, HALF, AttributeValue, Node, OnnxModel, StoredTensor
from engine.graphs.builder import NodeWriter

# Attributes whose number is that of an element type.
_TYPES = frozenset({"to", "dtype"})


def onnx_graph(g: NodeWriter, model: OnnxModel) -> None:
    """Emit a file's graph in float32, of the file's set of operators.

    Halves become float32, in which every device computes at least as exactly.
    """
    g.opset, g.is_foreign = model.opset, True
    for spec in model.inputs:
        g.input(spec.name, _computed(spec.dtype), spec.shape)
    for name, tensor in model.tensors.items():
        if tensor.place is not None:
            g.weight(name, tensor.shape)
        else:
            g.foreign_constant(_constant(name, tensor))
    for node in model.nodes:
        g.foreign_node(_node(node))
    for spec in model.outputs:
        g.foreign_output(TensorSpec(spec.name, _computed(spec.dtype), spec.shape))


def _computed(element: DType) -> DType:
    return DType.F32 if element is DType.F16 else element


def _node(node: Node) -> NodeProto:
    proto = NodeProto(op_type=node.operator, input=node.inputs, output=node.outputs)
    for name, value in node.attributes.items():
        kind = AttributeProto.INTS if value == () else None
        proto.attribute.append(helper.make_attribute(name, _attribute(name, value), None, kind))
    return proto


def _attribute(name: str, value: AttributeValue) -> object:
    if isinstance(value, StoredTensor):
        return _constant(name, value)
    return FLOAT if name in _TYPES and value == HALF else value


def _constant(name: str, tensor: StoredTensor) -> TensorProto:
    content, kind = tensor.content or b"", tensor.kind
    if kind == HALF:
        halves = np.frombuffer(content, DType.F16.numpy)
        content, kind = halves.astype(np.float32).tobytes(), FLOAT
    return helper.make_tensor(name, kind, tensor.shape, content, raw=True)
