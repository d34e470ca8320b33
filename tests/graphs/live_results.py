"""The bytes of a graph's results that are needed at once, found without running it.

A result is held from the node that makes it to the last that takes it. A node that computes number
by number writes over an input that nothing else needs, as runtimes do.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, TypeProto, defs, helper, numpy_helper
from onnx.shape_inference import infer_node_outputs

from backends.base import DType

# Nodes that write over an input, or whose result is the input seen otherwise.
_IN_PLACE = frozenset(
    "Abs Add Clip Div Erf Flatten Gelu HardSigmoid Identity LeakyRelu Mul Neg PRelu "  # noqa: SIM905
    "Pow Relu Reshape Sigmoid Softmax Sqrt Squeeze Sub Tanh Unsqueeze".split()
)
_OF_SIZES = {"Add": np.add, "Div": np.floor_divide, "Mul": np.multiply, "Sub": np.subtract}
_FLOAT32 = DType.F32.itemsize


@dataclass(frozen=True, slots=True)
class LiveResults:
    """Bytes of results in float32: the most at once, and of those that no run changes.

    `ahead` are results that follow from weights and sizes alone and that a node takes together with
    what follows from the input; they are counted in `at_once` as well, while they are needed.
    """

    at_once: int
    ahead: int


def live_results(model: bytes, sizes: Mapping[str, int]) -> LiveResults:
    """Return the bytes of a serialised ONNX model's results, with dimensions of these sizes.

    Its nodes are of ONNX's own domain. Raises KeyError for a dimension without a size.
    """
    return _Shapes(ModelProto.FromString(model), sizes).live()


class _Shapes:
    """The shape of each value of a model, and those that no input changes."""

    def __init__(self, model: ModelProto, sizes: Mapping[str, int]) -> None:
        graph = model.graph
        self._nodes, self._opset = list(graph.node), model.opset_import[0]
        self._outputs = {output.name for output in graph.output}
        self._known = {
            initializer.name: initializer
            for initializer in graph.initializer
            if not initializer.external_data
        }
        self._types = {
            initializer.name: helper.make_tensor_type_proto(initializer.data_type, initializer.dims)
            for initializer in graph.initializer
        }
        self._unchanged = set(self._types)
        for value_info in graph.input:
            kind = value_info.type.tensor_type
            shape = [size.dim_value or sizes[size.dim_param] for size in kind.shape.dim]
            self._types[value_info.name] = helper.make_tensor_type_proto(kind.elem_type, shape)
        for node in self._nodes:
            self._infer(node)

    def live(self) -> LiveResults:
        """Go through the nodes with what is held."""
        last = {value: place for place, node in enumerate(self._nodes) for value in node.input}
        held, most = dict[str, int](), 0
        for place, node in enumerate(self._nodes):
            over = [value for value in dict.fromkeys(node.input) if last[value] == place]
            dying = [value for value in over if value in held]
            results = {
                result: self._bytes(result)
                for result in node.output
                if result and result not in self._known
            }
            if node.op_type in _IN_PLACE and results:
                size = next(iter(results.values()))
                taken = next((value for value in dying if held[value] == size), None)
                held.pop(taken or "", None)
            held |= results
            most = max(most, sum(held.values()))
            for value in (*dying, *(result for result in results if result not in last)):
                if value not in self._outputs:
                    held.pop(value, None)
        return LiveResults(most, sum(self._bytes(value) for value in self._ahead()))

    def _ahead(self) -> set[str]:
        taken = {
            value
            for node in self._nodes
            if node.output[0] not in self._unchanged
            for value in node.input
        }
        made = {value for node in self._nodes for value in node.output}
        return {value for value in taken & made & self._unchanged if value not in self._known}

    def _bytes(self, value: str) -> int:
        return math.prod(self._shape(value)) * _FLOAT32

    def _shape(self, value: str) -> list[int]:
        return [size.dim_value for size in self._types[value].tensor_type.shape.dim]

    def _infer(self, node: NodeProto) -> None:
        given = [value for value in node.input if value]
        sizes = self._sizes(node, given)
        if sizes is not None:
            (made,) = node.output
            self._known[made] = numpy_helper.from_array(sizes)
            self._types[made] = helper.make_tensor_type_proto(TensorProto.INT64, sizes.shape)
        else:
            self._types |= self._inferred(node, given)
        if sizes is not None or all(value in self._unchanged for value in given):
            self._unchanged.update(node.output)

    def _inferred(self, node: NodeProto, given: Sequence[str]) -> dict[str, TypeProto]:
        schema = defs.get_schema(node.op_type, self._opset.version, node.domain)
        known = {value: self._known[value] for value in given if value in self._known}
        types = {value: self._types[value] for value in given}
        return infer_node_outputs(schema, node, types, known, opset_imports=[self._opset])

    def _sizes(self, node: NodeProto, given: Sequence[str]) -> "np.ndarray[Any, Any] | None":
        """Return what a node computes of sizes; None for one that computes of anything else."""
        if node.op_type == "Shape":
            ends = {attribute.name: attribute.i for attribute in node.attribute}
            return np.asarray(self._shape(given[0])[ends.get("start", 0) : ends.get("end")], int)
        arrays = [numpy_helper.to_array(self._known[name]) for name in given if name in self._known]
        if len(arrays) < len(given) or any(array.dtype != np.int64 for array in arrays):
            return None
        if node.op_type == "Concat":
            return np.concatenate(arrays)
        return _OF_SIZES[node.op_type](*arrays) if node.op_type in _OF_SIZES else None
