"""The buffers of a runtime that gives results whose lives do not meet the same one.

That is OpenVINO's processor plug-in, for networks of any size. Its rules were read in its sources
(2026.4: graph.cpp, edge.cpp, memory_control.cpp, nodes/eltwise.cpp) and in the compiled networks of
all families, and their sizes compared with the blocks that it allocates:

- Nodes run as each first input needs them.
- What computes number by number is joined with such a node before it, or writes over its first
  input, where nothing else takes what it takes. x * sigmoid(x) is one node.
- Slices of a value at fixed places are made at once.
- Convolutions take and make numbers with channels last; all else has them first, so that both are
  copied. So are the keys of attention, and its result, which is turned by heads.
- Scores of attention in single nodes vanish, and inputs are converted when they are first taken.
- The size of some results follows from numbers of the run, such as a shape. The plug-in computes
  sizes and grows buffers from one of them to the next; so a result that is held across one of them
  is held to the one after.
- A result gets the first buffer whose last one is no longer held. Buffers are not cut.
"""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from onnx import NodeProto

from backends.block_products import has_offsets
from engine.graphs.result_shapes import ResultShapes

# Nodes whose result is their input, seen otherwise or in another type.
_VIEWS = frozenset({"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
_BY_NUMBER = frozenset(
    "Abs Add BiasAdd Clip Div Erf Gelu HardSigmoid LeakyRelu Max Mul Neg PRelu Pow Relu "  # noqa: SIM905
    "Sigmoid Softplus Sqrt Sub Tanh".split()
)
ATTENTION = frozenset({"Attention", "MultiHeadAttention"})
_CHANNELS_LAST = frozenset({"Conv", "ConvTranspose"})
# Nodes between the product of queries and keys and the softmax.
_OF_SCORES = frozenset({"Add", "MatMul", "Mul"})
# Parts of a node's turn: inputs are copied, the result is computed, the result is copied.
_COPIED, _COMPUTED, _TURNED, _PARTS = 0, 1, 2, 4


@dataclass(frozen=True, slots=True)
class _Step:
    """A node: the values of the run that it takes, without views, and the numbers that it makes.

    `waits`: its result's size follows from numbers of the run.
    """

    kind: str
    taken: tuple[str, ...]
    made: Mapping[str, int]
    waits: bool = False


@dataclass(slots=True)
class _Life:
    """The first and last part of a turn in which a buffer is held, and its numbers."""

    first: int
    last: int
    size: int


def shared_buffers(
    shapes: ResultShapes,
    nodes: Iterable[NodeProto],
    constants: Iterable[str],
    left: Sequence[str],
    *,
    offsets_apart: bool = False,
) -> tuple[int, int]:
    """Return the numbers of all buffers, each as large as the largest of its results.

    And the most numbers of keys and values of one attention, which are packed beside them. `shapes`
    has all results' shapes; `constants` are weights, and `left` leave the run. `offsets_apart`:
    products with blocks that have offsets are two, whose results are added.
    """
    graph = _Graph(shapes, set(constants), offsets_apart)
    for node in nodes:
        graph.add(node)
    return graph.buffers(left)


def numbers_made(node: NodeProto, shapes: ResultShapes, *, offsets_apart: bool) -> dict[str, int]:
    """Return the numbers of a node's results by name; with `offsets_apart` those of its part, too.

    A product with blocks that have offsets is then two, whose results are added.
    """
    sizes = {name: math.prod(shapes[name]) for name in node.output if name}
    if offsets_apart and has_offsets(node):
        first = node.output[0]
        sizes[f"{first}:part"] = sizes[first]
    return sizes


@dataclass(slots=True)
class _Graph:
    shapes: ResultShapes
    constants: set[str]
    offsets_apart: bool
    steps: list[_Step] = field(default_factory=list[_Step])
    # The value that a view is of, and the place of the step that slices a value.
    wholes: dict[str, str] = field(default_factory=dict[str, str])
    slices: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, node: NodeProto) -> None:
        """Add a node as a step, if it computes with a run's values."""
        taken, made = [name for name in node.input if name], [name for name in node.output if name]
        if self.constants.issuperset(taken):
            self.constants.update(made)
        if made[0] in self.constants or self.shapes.is_calculated(made[0]):
            return
        calculated = set(filter(self.shapes.is_calculated, taken)) - self.constants
        values = [
            self.wholes.get(name, name)
            for name in taken
            if name not in self.constants and name not in calculated
        ]
        sizes = numbers_made(node, self.shapes, offsets_apart=self.offsets_apart)
        if node.op_type in _VIEWS and values:
            self.wholes[made[0]] = values[0]
            if calculated:
                self.steps.append(_Step("", tuple(values[:1]), {}, waits=True))
        elif node.op_type == "Slice" and not calculated and values:
            self._slice(values[0], sizes)
        elif not self._closes_swish(node.op_type, values, sizes):
            self.steps.append(_Step(node.op_type, tuple(values), sizes, bool(calculated)))

    def _slice(self, value: str, sizes: Mapping[str, int]) -> None:
        place = self.slices.setdefault(value, len(self.steps))
        if place == len(self.steps):
            self.steps.append(_Step("Split", (value,), sizes))
        else:
            step = self.steps[place]
            self.steps[place] = replace(step, made={**step.made, **sizes})

    def _closes_swish(self, kind: str, values: Sequence[str], sizes: Mapping[str, int]) -> bool:
        """Join a product with the sigmoid of its own input, if it is one; True where it is."""
        before = self.steps[-1] if self.steps else None
        if before is None or (before.kind, kind) != ("Sigmoid", "Mul"):
            return False
        joined = {*before.taken, *before.made} == set(values)
        if joined:
            self.steps[-1] = _Step(kind, before.taken, sizes)
        return joined

    def buffers(self, left: Sequence[str]) -> tuple[int, int]:
        """Return the numbers of the buffers of a run that `left` leave, and those packed."""
        leaving = [self.wholes.get(name, name) for name in left]
        order = _by_first_inputs(self.steps, leaving)
        scores, packed = _scores(self.steps)
        run = _Run(self.shapes, order, leaving, scores)
        buffers: list[_Life] = []
        for life in sorted(run.lives(), key=attrgetter("first", "last")):
            held = next((one for one in buffers if one.last < life.first), None)
            if held is None:
                buffers.append(replace(life))
            else:
                held.last, held.size = life.last, max(held.size, life.size)
        return sum(buffer.size for buffer in buffers), packed


def _by_first_inputs(steps: Sequence[_Step], leaving: Sequence[str]) -> list[_Step]:
    """Return the steps in the order of a search from what leaves the run, first inputs first.

    Steps without a result follow what they take.
    """
    makers = {name: n for n, step in enumerate(steps) for name in step.made}
    seers = defaultdict[str, list[_Step]](list)
    for step in steps:
        if not step.made:
            seers[step.taken[0]].append(step)
    ends = [makers[name] for name in leaving if name in makers]
    waiting, seen, order = [(n, False) for n in reversed(ends)], set[int](), list[_Step]()
    while waiting:
        number, is_ready = waiting.pop()
        step = steps[number]
        if is_ready:
            order += [step, *(seer for name in step.made for seer in seers[name])]
        elif number not in seen:
            seen.add(number)
            waiting.append((number, True))
            needed = dict.fromkeys(makers[name] for name in step.taken if name in makers)
            waiting += ((one, False) for one in reversed(needed) if one not in seen)
    return order


def _scores(steps: Sequence[_Step]) -> tuple[set[str], int]:
    """Return the results that are scores of attention in single nodes.

    And the most numbers of keys and values of attention, in one node or several.
    """
    makers = {name: step for step in steps for name in step.made}
    sizes = {name: size for step in steps for name, size in step.made.items()}
    found, packed = set[str](), [0]
    packed += [
        sum(sizes.get(name, 0) for name in step.taken[1:3])
        for step in steps
        if step.kind in ATTENTION
    ]
    for softmax in (step for step in steps if step.kind == "Softmax"):
        ((name, size),) = softmax.made.items()
        sides = [step.taken[1] for step in steps if name in step.taken and len(step.taken) > 1]
        while name:
            found.add(name)
            if makers[name].kind == "MatMul":
                sides += makers[name].taken[1:]
                break
            alike = [one for one in makers[name].taken if sizes.get(one) == size]
            name = next((one for one in alike if makers[one].kind in _OF_SCORES), "")
        packed.append(sum(sizes.get(side, 0) for side in sides))
    return found, max(packed)


class _Run:
    """The lives of the buffers of steps that follow one another."""

    def __init__(
        self,
        shapes: ResultShapes,
        steps: Sequence[_Step],
        leaving: Sequence[str],
        scores: set[str],
    ) -> None:
        self._shapes, self._steps = shapes, steps
        self._scores = scores
        self._takers = Counter(name for step in steps if step.made for name in set(step.taken))
        self._takers.update(leaving)
        self._kinds = {name: step.kind for step in steps for name in step.made}
        # The life of the buffer that a value lies in.
        self._held: dict[str, _Life] = {}
        self._copies: list[_Life] = []
        self._end = len(steps) * _PARTS

    def lives(self) -> Iterator[_Life]:
        """Return the lives of all buffers."""
        waits = [n * _PARTS + _COMPUTED for n, step in enumerate(self._steps) if step.waits]
        for place, step in enumerate(self._steps):
            self._run(place * _PARTS, step)
        for life in (*{id(life): life for life in self._held.values()}.values(), *self._copies):
            after = bisect_left(waits, life.last)
            if bisect_left(waits, life.first) < after:
                life.last = waits[after] if after < len(waits) else self._end
            yield life

    def _run(self, turn: int, step: _Step) -> None:
        for name in step.taken:
            if name not in self._held and name not in self._kinds:
                self._held[name] = _Life(turn, turn, self._size(name))
            if name in self._held:
                self._held[name].last = turn + _COMPUTED
        first = turn + (_TURNED if self._turns(turn, step) else _COMPUTED)
        over = self._overwritten(step)
        for name, size in step.made.items():
            if over:
                self._held[name] = self._held[over]
            elif name not in self._scores:
                self._held[name] = _Life(first, first, size)

    def _turns(self, turn: int, step: _Step) -> bool:
        """Hold the copies of what a step turns, if it turns its result; return True if it does."""
        if step.kind in ATTENTION:
            turned = step.taken[1]
        elif step.kind in _CHANNELS_LAST:
            turned = step.taken[0]
        else:
            return False
        self._copies.append(_Life(turn + _COPIED, turn + _COMPUTED, self._size(turned)))
        made = sum(step.made.values())
        self._copies.append(_Life(turn + _COMPUTED, turn + _TURNED, made))
        return True

    def _overwritten(self, step: _Step) -> str:
        """Return the value whose buffer a step's result gets; "" for one of its own."""
        if step.kind not in _BY_NUMBER:
            return ""
        (size,) = step.made.values()
        free = [
            name
            for name in step.taken
            if self._takers[name] == 1 and name in self._held and self._size(name) == size
        ]
        joined = next((name for name in free if self._kinds.get(name) in _BY_NUMBER), "")
        if joined or not free or free[0] != step.taken[0]:
            return joined
        return free[0] if all(self._takers[name] == 1 for name in step.taken) else ""

    def _size(self, name: str) -> int:
        return math.prod(self._shapes[name])
