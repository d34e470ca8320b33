"""The numbers of a graph's results that are held at once, found without running it.

A result is held from the node that makes it to the last that takes it, or to the run's end if it
leaves the run. What follows from weights and sizes alone is no result of a run.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, numpy_helper

from backends.base import DType, Graph, HeldResults, size_of
from engine.graphs.arena import arena_bytes
from engine.graphs.arena_calls import arena_calls
from engine.graphs.compiled_steps import ATTENTION, Run, numbers_made
from engine.graphs.result_shapes import ResultShapes
from engine.graphs.shared_buffers import shared_buffers

# Nodes whose result is their input, seen otherwise.
_VIEWS = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
# Nodes that write over an input that nothing else needs. GELU and softmax do not, as measured.
_IN_PLACE = frozenset(
    "Abs Add BiasAdd Clip Div Erf GroupNorm HardSigmoid LeakyRelu Max Mul Neg PRelu Pow "  # noqa: SIM905
    "Relu Sigmoid Softplus Sqrt Sub Tanh".split()
)


def held_results(
    graph: Graph,
    sizes: Mapping[str, int],
    *,
    offsets_apart: bool = False,
    groups: bool = True,
    simulates: bool = False,
) -> HeldResults:
    """Count the results of a run of a graph, with dimensions of these sizes.

    `offsets_apart`: products with blocks that have offsets are two, whose results are added.
    `groups` False leaves out, for its time, what only runtimes that share buffers need; `simulates`
    adds the bytes of ONNX Runtime's arena.
    Raises KeyError for a dimension without a size, and ValueError for an operator without a rule.
    """
    found = ModelProto.FromString(graph.model).graph
    shapes = result_shapes(graph, found, sizes)
    names = run_names(graph, found, offsets_apart=offsets_apart)
    run = _Run(shapes, found.node, names)
    entering = sum(shapes.numbers(spec.name) for spec in graph.inputs if not spec.optional)
    held = HeldResults(run.at_once(), run.by_heads(), leaving=run.leaving(), entering=entering)
    if simulates:
        arena = arena_bytes(*arena_calls(shapes, found.node, names))
        held = msgspec.structs.replace(held, arena_bytes=arena.most, arena_left=arena.kept.bytes)
    if not groups:
        return held
    grouped, packed = shared_buffers(shapes, found.node, names)
    return msgspec.structs.replace(held, grouped=grouped, packed=packed)


def result_shapes(graph: Graph, found: GraphProto, sizes: Mapping[str, int]) -> ResultShapes:
    """Return the shapes of all results of a graph as ONNX has it. Raises as `held_results` does."""
    # Images grow by whole numbers.
    scales = {name for node in found.node if node.op_type == "Resize" for name in node.input[2:3]}
    shapes = ResultShapes(
        {spec.name: tuple(size_of(n, sizes) for n in spec.shape) for spec in graph.inputs}
        | {tensor.name: tuple(tensor.dims) for tensor in found.initializer},
        {
            tensor.name: numpy_helper.to_array(tensor).astype(np.int64)
            for tensor in found.initializer
            if tensor.data_type == TensorProto.INT64 or tensor.name in scales
        },
    )
    for node in found.node:
        shapes.add(node)
    return shapes


def run_names(graph: Graph, found: GraphProto, *, offsets_apart: bool = False) -> Run:
    """Return what tells the values of a run apart; `offsets_apart` is that of `held_results`."""
    rounds = graph.precision.dtype is not DType.F32
    return Run(
        constants={tensor.name for tensor in found.initializer},
        of_one_size={
            spec.name for spec in graph.inputs if not any(isinstance(n, str) for n in spec.shape)
        },
        converted={spec.name for spec in graph.inputs if rounds or spec.dtype is DType.I64},
        leaving=[output.name for output in graph.outputs],
        rounds=rounds,
        offsets_apart=offsets_apart,
    )


class _Step(msgspec.Struct, frozen=True):
    """A node that computes with a run's inputs: the values it takes, without views, in order.

    `made` are the numbers of its results by name.
    """

    kind: str
    taken: tuple[str, ...]
    made: Mapping[str, int]


class _Run:
    """The steps of a run, in the order of the graph."""

    def __init__(self, shapes: ResultShapes, nodes: Iterable[NodeProto], names: Run) -> None:
        self._shapes, self._leaving = shapes, names.leaving
        self._steps: list[_Step] = []
        fixed = set(names.constants)
        # The value that a view is of.
        wholes: dict[str, str] = {}
        for node in nodes:
            taken, made = tuple(node.input), [name for name in node.output if name]
            if all(not name or name in fixed or shapes.is_calculated(name) for name in taken):
                fixed.update(made)
            elif not shapes.is_calculated(made[0]):
                taken = tuple(wholes.get(name, name) for name in taken if name)
                if node.op_type in _VIEWS:
                    wholes[made[0]] = taken[0]
                else:
                    sizes = numbers_made(node, shapes, names)
                    self._steps.append(_Step(node.op_type, taken, sizes))
        self._left = {wholes.get(name, name) for name in names.leaving}

    def _size(self, value: str) -> int:
        return self._shapes.numbers(value)

    def by_heads(self) -> int:
        """Return the most numbers that a node of fused attention takes."""
        taken = (step.taken for step in self._steps if step.kind in ATTENTION)
        return max((sum(map(self._size, names)) for names in taken), default=0)

    def leaving(self) -> int:
        """Return the numbers of the results that leave the run."""
        return sum(map(self._size, self._leaving))

    def at_once(self) -> int:
        """Return the most numbers held as steps follow one another, writing over inputs."""
        last, held = self._last(self._steps), dict[str, int]()
        most = now = 0
        for place, step in enumerate(self._steps):
            dying = {name for name in step.taken if name in held and last[name] == place}
            if step.kind in _IN_PLACE:
                size = next(iter(step.made.values()))
                over = next(
                    (name for name in step.taken if name in dying and held[name] == size), ""
                )
                dying.discard(over)
                now -= held.pop(over, 0)
            held |= step.made
            now += sum(step.made.values())
            most = max(most, now)
            dying |= {name for name in step.made if name not in last}
            now -= sum(held.pop(name) for name in dying)
        return most

    def _last(self, steps: Sequence[_Step]) -> dict[str, int]:
        """Return the place of the last step that takes each value; after all for those that leave.

        A result that nothing takes is absent.
        """
        taken = {value: place for place, step in enumerate(steps) for value in step.taken}
        return taken | dict.fromkeys(self._left, len(steps))
