"""Verifies that a graph runs on its provider: no silent fall-back to the processor.

ONNX Runtime gives every node that a provider does not take to the next one, finally to the
processor, without a message. On request it records the assignment.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING

from onnx import ModelProto, NodeProto, TensorProto, helper

from backends.base import BackendError, Graph
from backends.onnx_runtime.provider import CPU

if TYPE_CHECKING:
    import onnxruntime as ort

RECORD = "session.record_ep_graph_assignment_info"

_FLOATS = frozenset(
    {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE}
)
# Operators that read a tensor's shape, but not its numbers.
_SHAPES = frozenset({"Shape", "Size"})
# Operators that convert or look up the graph's inputs, which are on the host: CoreML leaves them
# there, and nothing is copied to the device and back.
_AT_THE_EDGE = frozenset({"Cast", "Gather"})
# Nodes that ONNX Runtime adds itself, under unknown names, count as shape arithmetic if they are
# one of these, else as computing.
_SHAPE_ARITHMETIC = _SHAPES | {"Concat", "Gather", "Slice", "Squeeze", "Unsqueeze"}
_COMPARISONS = frozenset(
    {"And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "Or"}
)


def require_placement(session: "ort.InferenceSession", graph: Graph, provider_name: str) -> None:
    """Raise BackendError if another provider computes floating-point numbers of the graph.

    The session was made with `RECORD` set to "1". Names of providers are compared without case,
    because Windows ML spells them differently.
    """
    model = ModelProto.FromString(graph.model)
    types = element_types(model)
    given = {value.name for value in (*model.graph.input, *model.graph.initializer)}
    nodes = {node.name: node for node in model.graph.node}
    total = 0
    elsewhere: Counter[str] = Counter()
    others: set[str] = set()
    for provider, name, kind in _assigned(session):
        total += 1
        if provider.lower() == provider_name.lower():
            continue
        node = nodes.get(name)
        computes = _computes(node, types, given) if node else kind not in _SHAPE_ARITHMETIC
        if computes:
            elsewhere[kind] += 1
            others.add(provider)
    if elsewhere:
        where = "on the processor" if others == {CPU} else f"with {', '.join(sorted(others))}"
        kinds = ", ".join(kind for kind, _ in elsewhere.most_common())
        raise BackendError(
            f"{elsewhere.total()} of {total} nodes of the {graph.name} would not run with "
            f"{provider_name} but {where}: {kinds}"
        )


def element_types(model: ModelProto) -> dict[str, int]:
    """Return ONNX's type number of each value in our graphs."""
    types = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    types |= {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    for node in model.graph.node:
        element = _result(node, types)
        types |= dict.fromkeys(node.output, element)
    return types


def _result(node: NodeProto, types: Mapping[str, int]) -> int:
    """Return the element type of a node's output, usually the type of its first input."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type in _SHAPES:
        return TensorProto.INT64
    if node.op_type in _COMPARISONS:
        return TensorProto.BOOL
    if node.op_type == "Cast":
        return attributes["to"]
    if node.op_type == "ConstantOfShape":
        value = attributes.get("value")
        return value.data_type if value else TensorProto.FLOAT
    return types[node.input[1 if node.op_type == "Where" else 0]]


def _computes(node: NodeProto, types: Mapping[str, int], given: Container[str]) -> bool:
    """True if a node reads or writes floating-point numbers, except at the graph's edge."""
    if at_the_edge(node, given):
        return False
    values = node.output if node.op_type in _SHAPES else (*node.input, *node.output)
    return any(types[name] in _FLOATS for name in values if name)


def at_the_edge(node: NodeProto, given: Container[str]) -> bool:
    """True if a node only converts or looks up the graph's inputs."""
    return node.op_type in _AT_THE_EDGE and all(name in given for name in node.input)


def _assigned(session: "ort.InferenceSession") -> Iterator[tuple[str, str, str]]:
    """Yield provider, name and operator of each node of the session."""
    for part in session.get_provider_graph_assignment_info():
        for node in part.get_nodes():
            yield part.ep_name, node.name, node.op_type
