"""The numbers of a graph's results that are held at once, found without running it.

A result is held from the node that makes it to the last that takes it, or to the run's end if it
leaves the run. What follows from weights and sizes alone is no result of a run.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper

from backends.base import Graph, HeldResults, size_of
from engine.graphs.result_shapes import ResultShapes

# Nodes whose result is their input, seen otherwise.
_VIEWS = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
# Nodes that write over an input that nothing else needs. GELU and softmax do not, as measured.
_IN_PLACE = frozenset(
    "Abs Add BiasAdd Clip Div Erf GroupNorm HardSigmoid LeakyRelu Max Mul Neg PRelu Pow "  # noqa: SIM905
    "Relu Sigmoid Softplus Sqrt Sub Tanh".split()
)
_ATTENTION = frozenset({"Attention", "MultiHeadAttention"})
# Nodes between the product of queries and keys and the softmax.
_OF_SCORES = frozenset({"Add", "MatMul", "Mul"})


def held_results(graph: Graph, sizes: Mapping[str, int]) -> HeldResults:
    """Count the results of a run of a graph, with dimensions of these sizes.

    Raises KeyError for a dimension without a size, and ValueError for an operator without a rule.
    """
    found = ModelProto.FromString(graph.model).graph
    # Images grow by whole numbers.
    scales = {one for node in found.node if node.op_type == "Resize" for one in node.input[2:3]}
    shapes = ResultShapes(
        {one.name: tuple(size_of(n, sizes) for n in one.shape) for one in graph.inputs}
        | {one.name: tuple(one.dims) for one in found.initializer},
        {
            one.name: numpy_helper.to_array(one).astype(np.int64)
            for one in found.initializer
            if one.data_type == TensorProto.INT64 or one.name in scales
        },
    )
    fixed, leaving = {one.name for one in found.initializer}, [one.name for one in graph.outputs]
    run = _Run(shapes, found.node, fixed, leaving)
    return HeldResults(run.at_once(), run.by_heads(), run.grouped(), run.leaving())


@dataclass(frozen=True, slots=True)
class _Step:
    """A node that computes with a run's inputs: the values it takes, without views, in order.

    `made` are the numbers of its results by name.
    """

    kind: str
    taken: tuple[str, ...]
    made: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Life:
    """The places of the first and last node that hold a buffer, and its numbers."""

    first: int
    last: int
    size: int


class _Run:
    """The steps of a run, in the order of the graph."""

    def __init__(
        self,
        shapes: ResultShapes,
        nodes: Iterable[NodeProto],
        fixed: set[str],
        leaving: Sequence[str],
    ) -> None:
        self._shapes, self._leaving = shapes, leaving
        self._steps: list[_Step] = []
        # The value that a view is of.
        wholes: dict[str, str] = {}
        for node in nodes:
            shapes.add(node)
            taken, made = tuple(node.input), [one for one in node.output if one]
            if all(not one or one in fixed or shapes.is_calculated(one) for one in taken):
                fixed.update(made)
            elif not shapes.is_calculated(made[0]):
                taken = tuple(wholes.get(one, one) for one in taken if one)
                if node.op_type in _VIEWS:
                    wholes[made[0]] = taken[0]
                else:
                    sizes = {one: self._size(one) for one in made}
                    self._steps.append(_Step(node.op_type, taken, sizes))
        self._left = {wholes.get(one, one) for one in leaving}

    def _size(self, value: str) -> int:
        return math.prod(self._shapes[value])

    def by_heads(self) -> int:
        """Return the most numbers that a node of fused attention takes."""
        taken = (step.taken for step in self._steps if step.kind in _ATTENTION)
        return max((sum(map(self._size, one)) for one in taken), default=0)

    def leaving(self) -> int:
        """Return the numbers of the results that leave the run."""
        return sum(map(self._size, self._leaving))

    def at_once(self) -> int:
        """Return the most numbers held as steps follow one another, writing over inputs."""
        last, held = self._last(self._steps), dict[str, int]()
        most = now = 0
        for place, step in enumerate(self._steps):
            dying = {one for one in step.taken if one in held and last[one] == place}
            if step.kind in _IN_PLACE:
                size = next(iter(step.made.values()))
                over = next((one for one in step.taken if one in dying and held[one] == size), "")
                dying.discard(over)
                now -= held.pop(over, 0)
            held |= step.made
            now += sum(step.made.values())
            most = max(most, now)
            dying |= {one for one in step.made if one not in last}
            now -= sum(held.pop(one) for one in dying)
        return most

    def grouped(self) -> int:
        """Return the numbers of buffers that serve results whose lives do not meet.

        Steps run as each first input needs them. A result gets the first buffer whose last one is
        no longer held, and each buffer is as large as the largest of its results. Attention turns
        its inputs and its result by heads, and holds no scores.
        """
        buffers: list[_Life] = []
        for one in sorted(self._lives(), key=lambda life: life.first):
            free = (n for n, before in enumerate(buffers) if before.last < one.first)
            place = next(free, len(buffers))
            size = max(one.size, buffers[place].size) if place < len(buffers) else one.size
            buffers[place : place + 1] = [_Life(one.first, one.last, size)]
        return sum(one.size for one in buffers)

    def _lives(self) -> Iterator[_Life]:
        steps, scores = self._by_first_inputs(), self._scores()
        last = self._last(steps)
        for place, step in enumerate(steps):
            if step.kind in _ATTENTION:
                turned = [*map(self._size, step.taken), *step.made.values()]
                yield from (_Life(place, place, size) for size in turned)
            for name, size in step.made.items():
                if name not in scores:
                    yield _Life(place, last.get(name, place), size)

    def _scores(self) -> set[str]:
        """Return the names of results that are scores of attention in single nodes."""
        makers = {name: step for step in self._steps for name in step.made}
        found: set[str] = set()
        for softmax in (step for step in self._steps if step.kind == "Softmax"):
            ((name, size),) = softmax.made.items()
            while name:
                found.add(name)
                taken = makers[name].taken if makers[name].kind != "MatMul" else ()
                alike = (one for one in taken if one in makers and self._size(one) == size)
                name = next((one for one in alike if makers[one].kind in _OF_SCORES), "")
        return found

    def _by_first_inputs(self) -> list[_Step]:
        """Return the steps in the order of a search from the results, first inputs first."""
        makers = {name: n for n, step in enumerate(self._steps) for name in step.made}
        taken = {one for step in self._steps for one in step.taken}
        ends = [n for n, step in enumerate(self._steps) if taken.isdisjoint(step.made)]
        waiting, seen, order = [(n, False) for n in ends], set[int](), list[_Step]()
        while waiting:
            number, is_ready = waiting.pop()
            step = self._steps[number]
            if is_ready:
                order.append(step)
            elif number not in seen:
                seen.add(number)
                waiting.append((number, True))
                needed = {makers[one] for one in step.taken if one in makers}
                waiting += ((one, False) for one in sorted(needed - seen, reverse=True))
        return order

    def _last(self, steps: Sequence[_Step]) -> dict[str, int]:
        """Return the place of the last step that takes each value; after all for those that leave.

        A result that nothing takes is absent.
        """
        taken = {value: place for place, step in enumerate(steps) for value in step.taken}
        return taken | dict.fromkeys(self._left, len(steps))
