"""Proof that a graph runs where it is said to: no silent fall-back to the processor.

ONNX Runtime gives every node that a provider does not take to the next one, at last to the
processor, and says nothing. It does record the assignment where it is asked to.
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
# They read a tensor's shape and none of its numbers.
_SHAPES = frozenset({"Shape", "Size"})
# Applied to inputs of the graph these convert or look up on the host, where inputs come from:
# CoreML leaves them there, and nothing crosses to the device and back.
_AT_THE_EDGE = frozenset({"Cast", "Gather"})
# What ONNX Runtime writes itself, names we do not know, is taken for shape arithmetic if it is one
# of these and for computing if not.
_SHAPE_ARITHMETIC = _SHAPES | {"Concat", "Gather", "Slice", "Squeeze", "Unsqueeze"}
_COMPARISONS = frozenset(
    {"And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "Or"}
)


def require_placement(session: "ort.InferenceSession", graph: Graph, provider_name: str) -> None:
    """Raises BackendError where another provider computes floating-point numbers of the graph.

    The session was made with `RECORD` set to "1". Names of providers are compared without case:
    Windows ML spells them in its own way.
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
    """ONNX's number for the type of each value that our graphs have."""
    types = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    types |= {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    for node in model.graph.node:
        element = _result(node, types)
        types |= dict.fromkeys(node.output, element)
    return types


def _result(node: NodeProto, types: Mapping[str, int]) -> int:
    """The element type of what a node puts out: mostly its first input's."""
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
    """Whether floating-point numbers go into a node, or come out of it, past the graph's edge."""
    if at_the_edge(node, given):
        return False
    values = node.output if node.op_type in _SHAPES else (*node.input, *node.output)
    return any(types[name] in _FLOATS for name in values if name)


def at_the_edge(node: NodeProto, given: Container[str]) -> bool:
    """Whether a node only converts or looks up what the graph is given."""
    return node.op_type in _AT_THE_EDGE and all(name in given for name in node.input)


def _assigned(session: "ort.InferenceSession") -> Iterator[tuple[str, str, str]]:
    """Provider, name and operator of each node of the session."""
    for part in session.get_provider_graph_assignment_info():
        for node in part.get_nodes():
            yield part.ep_name, node.name, node.op_type
