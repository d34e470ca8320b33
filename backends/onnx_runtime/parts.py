"""A network in parts: sessions that are made side by side, each on a thread, and run in turn.

ONNX Runtime packs the weights of a session on one thread while it makes it. The numbers are those
of one session, bit for bit.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise

import msgspec
from onnx import ModelProto, NodeProto, TensorProto, helper

from backends.base import (
    Array,
    DeviceValue,
    DType,
    Feed,
    Feeds,
    Graph,
    TensorSpec,
    all_feeds,
    host_values,
)
from backends.block_products import OPERATOR, BlockMatrix
from backends.onnx_runtime.session import OnnxRuntimeSession

# So many threads are bound by the memory that they read and write, and not by processors.
MOST_PARTS = 4
# The least packed bytes of a part: packing them takes half a second, the part some 0.05.
PART_BYTES = 1 << 28
# A part may have so much more or less than its share where fewer values are handed on then.
_SLACK = 1 / 8
# The types of values that are handed on: numbers, and shapes.
_TYPES: Mapping[int, DType] = {TensorProto.FLOAT: DType.F32, TensorProto.INT64: DType.I64}
_NEVER = 1 << 30


class SessionInParts:
    """A `backends.base.Session` of the parts of a graph, which `load` makes on a thread each.

    Raises what `load` does, when all threads have ended.
    """

    def __init__(
        self, graph: Graph, parts: Sequence[Graph], load: Callable[[Graph], OnnxRuntimeSession]
    ) -> None:
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self.outputs: tuple[TensorSpec, ...] = graph.outputs
        self._pinned: dict[str, Array] = {}
        self._sessions = _loaded(parts, load)

    def run(self, feeds: Feeds) -> dict[str, Array]:
        """Run the parts in turn. Raises BackendError, or RunCancelled after `cancel`."""
        given = all_feeds(self.inputs, self._pinned, feeds)
        made: dict[str, Array] = {}
        left = Counter(spec.name for spec in self.outputs)
        left.update(spec.name for session in self._sessions for spec in session.inputs)
        for session in self._sessions:
            names = [spec.name for spec in session.inputs]
            values: dict[str, Feed] = {n: made[n] if n in made else given[n] for n in names}
            made |= session.run(values)
            left.subtract(names)
            made = {name: array for name, array in made.items() if left[name]}
        return made

    def run_on_device(self, feeds: Feeds) -> dict[str, DeviceValue]:
        """Run once; the results are in main memory, without a copy."""
        return host_values(self.outputs, self.run(feeds))

    def pin(self, name: str, array: Array) -> None:
        """Keep an input for all further runs."""
        self._pinned[name] = array

    def cancel(self) -> None:
        """Make the run in progress, and every later one, end with RunCancelled."""
        for session in self._sessions:
            session.cancel()

    def close(self) -> None:
        """Free the sessions and the weights they read."""
        for session in self._sessions:
            session.close()
        self._sessions.clear()
        self._pinned.clear()


def cut(graph: Graph, cores: int | None = None) -> tuple[Graph, ...]:
    """Return the parts of a graph that are worth a thread each: itself where there are no others.

    A part takes the graph's inputs that it uses, and what the parts before it hand on.
    """
    model = ModelProto.FromString(graph.model)
    packed = [_packed_bytes(node, graph) for node in model.graph.node]
    count = min(cores or os.cpu_count() or 1, MOST_PARTS, sum(packed) // PART_BYTES)
    if count < 2 or graph.is_foreign:  # Nodes of others may have graphs within.
        return (graph,)
    types = _element_types(model)
    places = _places(model, packed, types, count)
    # Convolutions take values in a layout of their own, and sums with it into their rounding.
    if not places or any(node.op_type == "Conv" for node in model.graph.node[places[0] :]):
        return (graph,)
    spans = pairwise([0, *places, len(packed)])
    return tuple(_part(graph, model, types, *span) for span in spans)


def _packed_bytes(node: NodeProto, graph: Graph) -> int:
    """Return the bytes of the integers that are packed for a node."""
    if node.op_type != OPERATOR:
        return 0
    integers = BlockMatrix.of(node).integers
    return 0 if integers in graph.in_place else graph.weights[integers].nbytes


def _element_types(model: ModelProto) -> dict[str, int]:
    """Return ONNX's number for the element type of each value, by the operators that we emit."""
    types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    types |= {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    for node in model.graph.node:
        match node.op_type:
            case "Cast":
                element = next(
                    attribute.i for attribute in node.attribute if attribute.name == "to"
                )
            case "Shape":
                element = TensorProto.INT64
            case "DequantizeLinear":  # of its scales
                element = types[node.input[1]]
            case _:
                element = types[node.input[0]]
        types |= dict.fromkeys(node.output, element)
    return types


def _places(
    model: ModelProto, packed: Sequence[int], types: Mapping[str, int], count: int
) -> list[int]:
    """Return the numbers of the nodes that begin a part, without the first; none if one is bad."""
    handed_on = _handed_on(model, types)
    before = list(accumulate(packed, initial=0))
    share = before[-1] / count
    places: list[int] = []
    for part in range(1, count):
        off = [abs(done - part * share) for done in before]
        inner = range(places[-1] + 1 if places else 1, len(packed))
        room = max(_SLACK * share, min((off[n] for n in inner), default=0))
        near = [n for n in inner if off[n] <= room]
        best = min(near, key=lambda n: (handed_on[n], off[n]), default=None)
        if best is None or handed_on[best] >= _NEVER:
            return []
        places.append(best)
    return places


def _handed_on(model: ModelProto, types: Mapping[str, int]) -> list[int]:
    """Return how many values would be handed on to a part that begins with each node.

    One of a type that is not handed on counts as `_NEVER`.
    """
    nodes = model.graph.node
    made = {name: n for n, node in enumerate(nodes) for name in node.output if name}
    last = {name: n for n, node in enumerate(nodes) for name in node.input if name in made}
    changes = [0] * (len(nodes) + 1)
    for name, used in last.items():
        weight = 1 if types[name] in _TYPES else _NEVER
        changes[made[name] + 1] += weight
        changes[used + 1] -= weight
    return list(accumulate(changes))


def _part(
    graph: Graph, model: ModelProto, types: Mapping[str, int], first: int, stop: int
) -> Graph:
    """Return the part with the nodes from `first` up to `stop`."""
    nodes, whole = model.graph.node[first:stop], model.graph
    made = _names(node.output for node in nodes)
    used = _names(node.input for node in nodes)
    later = _names(node.input for node in whole.node[stop:])
    weights = [tensor for tensor in whole.initializer if tensor.name in used]
    given = {value.name: value for value in whole.input if value.name in used}
    results = {value.name: value for value in whole.output if value.name in made}
    known = {*made, *given, *(tensor.name for tensor in weights)}
    taken = [name for name in used if name not in known]
    handed = [name for name in made if name in later and name not in results]
    info = {n: helper.make_tensor_value_info(n, types[n], None) for n in (*taken, *handed)}
    written = helper.make_graph(
        nodes,
        whole.name,
        [*given.values(), *(info[name] for name in taken)],
        [*results.values(), *(info[name] for name in handed)],
        weights,
    )
    opsets, version = model.opset_import, model.ir_version
    part = helper.make_model(written, opset_imports=opsets, ir_version=version)
    inputs = [spec for spec in graph.inputs if spec.name in given]
    outputs = [spec for spec in graph.outputs if spec.name in results]
    return msgspec.structs.replace(
        graph,
        model=part.SerializeToString(),
        weights={name: ref for name, ref in graph.weights.items() if name in used},
        inputs=(*inputs, *_specs(taken, types)),
        outputs=(*outputs, *_specs(handed, types)),
        in_place=graph.in_place.intersection(used),
    )


def _names(lists: Iterable[Iterable[str]]) -> dict[str, None]:
    """Return all names in their order, each once; "" stands for an input that is left out."""
    return {name: None for names in lists for name in names if name}


def _specs(names: Sequence[str], types: Mapping[str, int]) -> list[TensorSpec]:
    """Return the specifications of values that are handed on; nobody asks for their shapes."""
    return [TensorSpec(name, _TYPES[types[name]], ()) for name in names]


def _loaded(
    parts: Sequence[Graph], load: Callable[[Graph], OnnxRuntimeSession]
) -> list[OnnxRuntimeSession]:
    with ThreadPoolExecutor(len(parts), "parts of a network") as pool:
        futures = [pool.submit(load, part) for part in parts]
    errors = [future.exception() for future in futures]
    error = next(filter(None, errors), None)
    if error is None:
        return [future.result() for future in futures]
    for future, failed in zip(futures, errors, strict=True):
        if failed is None:
            future.result().close()
    raise error
