"""Writes an ONNX graph node by node. Weights enter by name, shape and type only."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike
from onnx import NodeProto, TensorProto, ValueInfoProto, helper

from backends.base import (
    Array,
    DType,
    FileSlice,
    Graph,
    OperatorSet,
    Precision,
    TensorSpec,
    WeightRef,
)
from engine.api.sentences import sentence
from engine.api.values import ErrorCode
from engine.errors import EngineError
from engine.weights.derived import Derive, DerivedWeight
from engine.weights.packing import Field, PackedWeight, Packing, bound_bytes, bound_type
from engine.weights.side_branches import SideBranches
from engine.weights.sources import WeightSource, as_source
from engine.weights.stored import PackableWeight

# A value flowing through the graph, by its ONNX name.
Value = str
Attribute = int | float | str | Sequence[int]

ONNX_TYPES: Mapping[DType, int] = {
    DType.F32: TensorProto.FLOAT,
    DType.F16: TensorProto.FLOAT16,
    DType.BF16: TensorProto.BFLOAT16,
    DType.I64: TensorProto.INT64,
    DType.U8: TensorProto.UINT8,
}
# Understood by every version of ONNX that has the opsets used here.
_IR_VERSION = 10


class NodeWriter:
    """Collects nodes, constants and the weights they use, and assembles them into a `Graph`.

    `element` is the type of activations and weights in the graph; `precision` is the type that the
    backend is asked to compute in, which may be lower (OpenVINO computes a float32 graph in
    bfloat16). `branches` run beside some layers.
    """

    def __init__(
        self,
        name: str,
        weights: Mapping[str, FileSlice | WeightSource],
        operators: OperatorSet,
        element: DType,
        precision: Precision,
        branches: SideBranches | None = None,
    ) -> None:
        self.name = name
        self.operators = operators
        self.element = element
        self.precision = precision
        # The set of operators that the nodes are of, and whether a file has them.
        self.opset, self.is_foreign = operators.opset, False
        # Many runs of one size follow each other (`Graph.one_size`).
        self.one_size = False
        self.branches = branches
        # The layers whose branches are written.
        self.branched: set[str] = set()
        self._available = weights
        self._used: dict[str, WeightSource] = {}
        self._taken: set[str] = set()
        self._nodes: list[NodeProto] = []
        self._constants: dict[tuple[DType, tuple[int, ...], bytes], TensorProto] = {}
        self._foreign: list[TensorProto] = []
        self._inputs: list[TensorSpec] = []
        self._outputs: list[TensorSpec] = []

    def input(
        self, name: str, dtype: DType, shape: tuple[int | str, ...], *, optional: bool = False
    ) -> Value:
        """Declare an input of the graph; a string in `shape` is a dynamic dimension.

        An `optional` one is zeros where a run has none.
        """
        self._inputs.append(TensorSpec(name, dtype, shape, optional))
        return name

    def input_once(
        self, name: str, dtype: DType, shape: tuple[int | str, ...], *, optional: bool = False
    ) -> Value:
        """Declare an input of the graph, unless it is declared already."""
        declared = any(spec.name == name for spec in self._inputs)
        return name if declared else self.input(name, dtype, shape, optional=optional)

    def output(self, value: Value, name: str, dtype: DType, shape: tuple[int | str, ...]) -> None:
        """Declare an output of the graph, cast from the graph's element type to `dtype`."""
        if dtype is self.element:
            self._emit("Identity", (value,), (name,))
        else:
            self._emit("Cast", (value,), (name,), to=ONNX_TYPES[dtype])
        self._outputs.append(TensorSpec(name, dtype, shape))

    def op(self, kind: str, *inputs: Value, domain: str = "", **attributes: Attribute) -> Value:
        """Emit a node with one output."""
        name = f"{kind}_{len(self._nodes)}"
        self._emit(kind, inputs, (name,), domain, **attributes)
        return name

    def outputs(
        self,
        kind: str,
        *inputs: Value,
        places: Sequence[int],
        domain: str = "",
        **attributes: Attribute,
    ) -> tuple[Value, ...]:
        """Emit a node with several outputs; return those at `places`, the others are omitted."""
        name = f"{kind}_{len(self._nodes)}"
        written = [f"{name}.{i}" if i in places else "" for i in range(max(places) + 1)]
        self._emit(kind, inputs, written, domain, **attributes)
        return tuple(written[i] for i in places)

    def _emit(
        self,
        kind: str,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        domain: str = "",
        **attributes: Attribute,
    ) -> None:
        node = NodeProto(op_type=kind, name=outputs[0], domain=domain, input=inputs, output=outputs)
        node.attribute.extend(helper.make_attribute(key, a) for key, a in attributes.items())
        self._nodes.append(node)

    def cast(self, x: Value, dtype: DType) -> Value:
        """Emit a cast to another element type."""
        return self.op("Cast", x, to=ONNX_TYPES[dtype])

    def cast_to_element(self, x: Value) -> Value:
        """Cast a float32 value to the graph's element type."""
        return x if self.element is DType.F32 else self.cast(x, self.element)

    def integers(self, values: Sequence[int]) -> Value:
        """Return an int64 constant, such as a shape or axes."""
        array = np.asarray(values, np.int64)
        return self._constant(array, DType.I64)

    def constant(self, values: ArrayLike, dtype: DType | None = None) -> Value:
        """Return a floating-point constant, by default in the graph's element type."""
        array = np.asarray(values, np.float32)
        return self._constant(array, dtype or self.element)

    def _constant(self, array: Array, dtype: DType) -> Value:
        key = (dtype, array.shape, array.tobytes())
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            stored = array.astype(dtype.numpy)
            # Raw bytes: OpenVINO misreads bfloat16 from the typed field.
            self._constants[key] = helper.make_tensor(
                name, ONNX_TYPES[dtype], array.shape, stored.tobytes(), raw=True
            )
        return self._constants[key].name

    def foreign_node(self, node: NodeProto) -> None:
        """Add a node of a file, with the names that it has there."""
        self._nodes.append(node)

    def foreign_constant(self, tensor: TensorProto) -> Value:
        """Add a constant of a file, under the name that it has there."""
        self._foreign.append(tensor)
        return tensor.name

    def foreign_output(self, spec: TensorSpec) -> None:
        """Declare a value of a file's graph as an output, under its name."""
        self._outputs.append(spec)

    def weight(self, name: str, shape: tuple[int, ...]) -> Value:
        """Use a weight of the checkpoint. Raises EngineError(CHECKPOINT_MISMATCH)."""
        self._used[name] = self.source(name, shape)
        return name

    def weight_rows(self, name: str, shape: tuple[int, ...], start: int, stop: int) -> Value:
        """Use a slice of a weight along its first axis; the weight is not copied."""
        part = f"{name}[{start}:{stop}]"
        self._used[part] = self.source(name, shape).rows(start, stop)
        return part

    def weight_as(
        self, name: str, shape: tuple[int, ...], other: tuple[int, ...], label: str
    ) -> Value:
        """Use a weight in another shape with the same numbers in the same order, without a copy."""
        view = f"{name}:{label}"
        self._used[view] = self.source(name, shape).reshaped(other)
        return view

    def packed_weight(
        self, weight: PackableWeight, packing: Packing, name: str
    ) -> tuple[Value, ...]:
        """Use a weight in blocks as the inputs of MatMulNBits: integers, scales, perhaps zeros."""
        fields = [Field.INTEGERS, Field.SCALES, *([Field.ZEROS] if packing.has_zeros else [])]
        for field in fields:
            self._used[f"{name}:{field}"] = PackedWeight(weight, packing, field, self.element)
        return tuple(f"{name}:{field}" for field in fields)

    def derived_weight(
        self,
        names: Sequence[str],
        shape: tuple[int, ...],
        derived_shape: tuple[int, ...],
        derive: Derive,
        label: str,
    ) -> Value:
        """Use a weight of `derived_shape` that `derive` computes from weights of `shape`.

        `label` distinguishes the result from every other one derived from the first weight.
        """
        parts = [(name, shape) for name in names]
        return self.computed_weight(parts, derived_shape, derive, label)

    def computed_weight(
        self,
        parts: Sequence[tuple[str, tuple[int, ...]]],
        shape: tuple[int, ...],
        derive: Derive,
        label: str,
    ) -> Value:
        """Use a weight of `shape` that `derive` computes from weights of several shapes.

        `parts` has their names and shapes; `label` is as in `derived_weight`.
        """
        derived = f"{parts[0][0]}:{label}"
        sources = tuple(self.source(*part) for part in parts)
        self._used[derived] = DerivedWeight(sources, shape, derive, label)
        return derived

    def source(self, name: str, shape: tuple[int, ...]) -> WeightSource:
        """Look up a weight of the checkpoint.

        Raises EngineError(CHECKPOINT_MISMATCH) where it is missing or has another shape.
        """
        ref = self._available.get(name)
        if ref is None or ref.shape != shape:
            found = "is missing" if ref is None else f"has shape {list(ref.shape)}"
            raise EngineError(
                ErrorCode.CHECKPOINT_MISMATCH,
                sentence(
                    "The {self} weight {name} {found}; {list} is needed.",
                    self=self.name,
                    name=name,
                    found=found,
                    list=list(shape),
                ),
                sentence("The file is incomplete or of another architecture: download it again."),
            )
        self._taken.add(name)
        return as_source(ref)

    def unused(self) -> tuple[str, ...]:
        """Return the names of weights that were available but used by no node."""
        return tuple(name for name in self._available if name not in self._taken)

    def build(self, bound: Mapping[str, WeightRef]) -> Graph:
        """Assemble the graph; `bound` holds each used weight in the element type."""
        nodes, wanted = self._needed()
        used = self.used
        weights = [self._external_tensor(name) for name in used]
        constants = [tensor for tensor in self._constants.values() if tensor.name in wanted]
        graph = helper.make_graph(
            nodes,
            self.name,
            [_value_info(spec) for spec in self._inputs],
            [_value_info(spec) for spec in self._outputs],
            [*constants, *self._foreign, *weights],
        )
        opsets = [
            helper.make_opsetid("", self.opset),
            helper.make_opsetid("com.microsoft", 1),
        ]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="safelight"
        )
        return Graph(
            name=self.name,
            model=model.SerializeToString(deterministic=True),
            weights=bound,
            inputs=tuple(self._inputs),
            outputs=tuple(self._outputs),
            precision=self.precision,
            is_foreign=self.is_foreign,
            one_size=self.one_size,
            weight_sizes={n: bound_bytes(source, self.element) for n, source in used.items()},
        )

    @property
    def used(self) -> dict[str, WeightSource]:
        """The weights that the graph uses, by the names that they have in it."""
        wanted = self._needed()[1]
        return {name: source for name, source in self._used.items() if name in wanted}

    def _needed(self) -> tuple[list[NodeProto], Collection[str]]:
        """Return the nodes of which something leaves the graph, and all names that they take.

        ONNX Runtime runs the others, too, and holds what they take to the end of the run. Those of
        a foreign graph stay: they may be taken in graphs within nodes.
        """
        if self.is_foreign:
            return self._nodes, {*self._used, *(c.name for c in self._constants.values())}
        wanted, needed = {spec.name for spec in self._outputs}, list[NodeProto]()
        for node in reversed(self._nodes):
            if not wanted.isdisjoint(node.output):
                needed.append(node)
                wanted.update(node.input)
        return needed[::-1], wanted

    def _external_tensor(self, name: str) -> TensorProto:
        """Return an initializer with external data; its location is its own name (`Graph`)."""
        tensor = TensorProto(
            name=name,
            data_type=ONNX_TYPES[bound_type(self._used[name], self.element)],
            dims=self._used[name].shape,
            data_location=TensorProto.EXTERNAL,
        )
        tensor.external_data.add(key="location", value=name)
        return tensor


def _value_info(spec: TensorSpec) -> ValueInfoProto:
    return helper.make_tensor_value_info(spec.name, ONNX_TYPES[spec.dtype], list(spec.shape))
