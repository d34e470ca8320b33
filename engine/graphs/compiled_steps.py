"""The nodes of a graph as OpenVINO's processor plug-in runs them, as far as its buffers tell.

Its rules were read in its sources (2026: graph_optimizer.cpp, the transformations of its nodes) and
in the compiled networks of all families. Those of this page follow from a node alone, or from the
nodes before it; `joined_steps` has the others.

- A node like an earlier one, of the same inputs, is that one. Slices of a value at fixed places are
  one node. x * sigmoid(x) is a node of x.
- Convolutions take and make numbers with channels last. So do what computes number by number of
  such results alone, and what puts one beside others. All else has channels first, so that numbers
  are copied between the two.
- Attention takes keys that are scaled and turned. Its result is turned where the runtime rounds;
  then layer norms without weights multiply by one, too.
- Inputs of a type that the runtime does not compute in are converted when they are first taken.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise

import msgspec
from onnx import NodeProto

from backends.base import PackedAttention
from backends.block_products import OPERATOR, has_offsets
from engine.graphs.result_shapes import ResultShapes

# Nodes whose result is their input, seen otherwise or in another type.
_VIEWS = frozenset({"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
BY_NUMBER = frozenset(
    "Abs Add BiasAdd Clip Div Erf Gelu HardSigmoid LeakyRelu Max Mul Neg PRelu Pow Relu "  # noqa: SIM905
    "Sigmoid Softplus Sqrt Sub Tanh".split()
)
ATTENTION = frozenset({"Attention", "MultiHeadAttention"})
_CONVOLUTIONS = frozenset({"Conv", "ConvTranspose"})
# A layer norm's inputs without weights.
_UNWEIGHTED = 2
_HEADS = frozenset({"kv_num_heads", "num_heads"})
# A head's width is packed as a multiple of these: of its keys, and of its values.
_PACKED_WIDTHS = (16, 64)
# Kinds of steps that are no kinds of nodes.
COPY, CHANNELS_FIRST, SLICES, SEEN = "Copy", "Channels first", "Slices", "Seen"


class Run(msgspec.Struct, frozen=True):
    """The names that tell a run's nodes apart, and what the runtime does with all of them.

    `constants` are weights; `of_one_size` are inputs that have the same size in all runs,
    `converted` those of a type that the runtime does not compute in. `leaving` are the results of
    the run. `rounds`: results are not in float32. `offsets_apart`: products with blocks that have
    offsets are two, whose results are added.
    """

    constants: Set[str]
    of_one_size: Set[str]
    converted: Set[str]
    leaving: Sequence[str]
    rounds: bool
    offsets_apart: bool = False


class Step(msgspec.Struct, frozen=True):
    """A node: the values of the run that it takes, without views, and the numbers that it makes.

    `waits`: its result's size follows from numbers of the run. `of_one_size`: that is the same in
    all runs. `packs` is what attention packs of its keys and values.
    """

    kind: str
    taken: tuple[str, ...]
    made: Mapping[str, int]
    waits: bool = False
    of_one_size: bool = False
    packs: PackedAttention | None = None


class CompiledSteps(msgspec.Struct, frozen=True):
    """The steps of a graph in the order of its nodes, the values that leave, sizes and shapes."""

    steps: Sequence[Step]
    leaving: Sequence[str]
    sizes: Mapping[str, int]
    shapes: ResultShapes


def compiled_steps(shapes: ResultShapes, nodes: Iterable[NodeProto], run: Run) -> CompiledSteps:
    """Return the steps of a graph, of which `shapes` has all results."""
    compiler = _Compiler(shapes, run)
    every = list(nodes)
    for node, after in pairwise([*every, NodeProto()]):
        compiler.add(node, after)
    leaving = [compiler.value(name) for name in run.leaving]
    return CompiledSteps(compiler.steps, leaving, compiler.sizes, shapes)


def numbers_made(node: NodeProto, shapes: ResultShapes, run: Run) -> dict[str, int]:
    """Return the numbers of a node's results in a run, by name.

    A product with blocks that have offsets is two where these are apart, whose results are added.
    """
    sizes = {name: shapes.numbers(name) for name in node.output if name}
    if run.offsets_apart and has_offsets(node):
        first = node.output[0]
        sizes[f"{first}:part"] = sizes[first]
    return sizes


class _Compiler:
    def __init__(self, shapes: ResultShapes, run: Run) -> None:
        self.steps: list[Step] = []
        self.sizes: dict[str, int] = {}
        self._shapes, self._run = shapes, run
        self._constants, self._of_one_size = set(run.constants), set(run.of_one_size)
        # The value that a view is of, and the place of the step that slices a value.
        self._wholes: dict[str, str] = {}
        self._slices: dict[str, int] = {}
        # The name of what has a value's numbers with channels last.
        self._last: dict[str, str] = {}
        # The first result of each kind of node with its inputs and attributes, by itself and by
        # those that it stands for.
        self._known: dict[tuple[str | bytes, ...], str] = {}
        self._same: dict[str, str] = {}

    def add(self, node: NodeProto, after: NodeProto) -> None:
        """Add what a node becomes, if it computes with a run's values; `after` is the next one."""
        taken, made = [name for name in node.input if name], [name for name in node.output if name]
        if self._constants.issuperset(taken):
            self._constants.update(made)
        if made[0] in self._constants or self._shapes.is_calculated(made[0]):
            return
        if _is_gate(node, after):
            self._wholes[made[0]] = self._whole(taken[0])
        elif not self._repeats(node, made[0]):
            self._compile(node, taken)

    def _compile(self, node: NodeProto, taken: Sequence[str]) -> None:
        waits = any(map(self._is_calculated, taken))
        names = list(dict.fromkeys(self._whole(name) for name in taken if self._is_value(name)))
        sizes = numbers_made(node, self._shapes, self._run)
        kind, made = node.op_type, node.output[0]
        if self._has_channels_last(kind, names):
            lasts = tuple(map(self._with_channels_last, names))
            self._append(kind, lasts, {f"{made}:last": sizes[made]}, waits=waits)
            self._last[made] = f"{made}:last"
        elif kind in ATTENTION:
            self._attend(node, sizes)
        elif kind in _VIEWS and names:
            self._wholes[made] = whole = self.value(names[0])
            if waits:
                self._append(SEEN, (whole,), {}, waits=True)
        elif kind == "Slice" and names and not waits:
            self._slice(self.value(names[0]), sizes)
        elif kind == "LayerNormalization" and (self._run.rounds or len(taken) > _UNWEIGHTED):
            self._in_parts(kind, "Mul", (self.value(names[0]),), made, 1)
        elif kind == OPERATOR and len(sizes) > 1:
            self._in_parts(kind, "Add", tuple(map(self.value, names)), made, 2)
        else:
            self._append(kind, tuple(map(self.value, names)), sizes, waits=waits)

    def _in_parts(
        self, kind: str, last: str, taken: tuple[str, ...], made: str, parts: int
    ) -> None:
        """Append so many steps of a kind, and what makes a value of their results."""
        names = tuple(f"{made}:{part}" for part in range(parts))
        numbers = self._shapes.numbers(made)
        for name in names:
            self._append(kind, taken, {name: numbers})
        self._append(last, names, {made: numbers})

    def _is_calculated(self, name: str) -> bool:
        return name not in self._constants and self._shapes.is_calculated(name)

    def _is_value(self, name: str) -> bool:
        return name not in self._constants and not self._shapes.is_calculated(name)

    def _whole(self, name: str) -> str:
        return self._wholes.get(name, name)

    def _repeats(self, node: NodeProto, made: str) -> bool:
        """Let the result of an earlier node stand for this one's, if they are alike; True then."""
        inputs = (self._same.get(name, name) for name in node.input)
        attributes = (attribute.SerializeToString() for attribute in node.attribute)
        first = self._known.setdefault((node.op_type, *inputs, *attributes), made)
        if first != made:
            self._same[made] = first
            self._wholes[made] = self._whole(first)
        return first != made

    def _append(
        self,
        kind: str,
        taken: tuple[str, ...],
        made: Mapping[str, int],
        *,
        waits: bool = False,
        packs: PackedAttention | None = None,
    ) -> None:
        fixed = not waits and self._of_one_size.issuperset(taken or made)
        self.steps.append(Step(kind, taken, made, waits, fixed, packs))
        self.sizes |= made
        self._of_one_size.update(made if fixed else ())

    def value(self, name: str) -> str:
        """Return the whole of a value with channels first, which is made now if it was not yet."""
        whole = self._whole(name)
        if whole not in self.sizes:
            numbers = {whole: self._shapes.numbers(whole)}
            if whole in self._last:
                self._append(CHANNELS_FIRST, (self._last[whole],), numbers)
            elif whole in self._run.converted:
                self._append(COPY, (), numbers)
            self.sizes |= numbers
        return whole

    def _has_channels_last(self, kind: str, names: Sequence[str]) -> bool:
        found = [name in self._last for name in names]
        by_number = kind in BY_NUMBER and all(found)
        return kind in _CONVOLUTIONS or (any(found) and (by_number or kind == "Concat"))

    def _with_channels_last(self, name: str) -> str:
        if name not in self._last:
            whole = self.value(name)
            self._last[whole] = f"{whole}:last"
            self._append(COPY, (whole,), {f"{whole}:last": self.sizes[whole]})
        return self._last[name]

    def _slice(self, value: str, sizes: Mapping[str, int]) -> None:
        place = self._slices.setdefault(value, len(self.steps))
        if place == len(self.steps):
            self._append(SLICES, (value,), sizes)
            return
        step = self.steps[place]
        self.steps[place] = msgspec.structs.replace(step, made={**step.made, **sizes})
        self.sizes |= sizes
        self._of_one_size.update(sizes if step.of_one_size else ())

    def _attend(self, node: NodeProto, sizes: Mapping[str, int]) -> None:
        made, rounds = node.output[0], self._run.rounds
        queries, keys, *rest = (
            self.value(name) if self._is_value(name) else "" for name in node.input if name
        )
        if keys:
            scaled, turned, numbers = f"{made}:scaled", f"{made}:turned", self.sizes[keys]
            self._append("Mul", (keys,), {scaled: numbers})
            self._append(COPY, (scaled,), {turned: numbers})
            keys = turned
        batch, length, width = self._shapes[node.input[1]]
        heads = next(attribute.i for attribute in node.attribute if attribute.name in _HEADS)
        packs = packed_attention(batch * heads, length, width // heads)
        taken = tuple(name for name in (queries, keys, *rest) if name)
        by_heads = {f"{made}:heads": sizes[made]}
        self._append("Attention", taken, by_heads if rounds else sizes, packs=packs)
        if rounds:
            self._append(COPY, tuple(by_heads), sizes)


def packed_attention(heads: int, length: int, width: int) -> PackedAttention:
    """Return what is packed of keys and values of so many heads of all pictures of a run."""
    numbers = length * sum(width + -width % multiple for multiple in _PACKED_WIDTHS)
    return PackedAttention(heads * numbers, numbers)


def _is_gate(node: NodeProto, after: NodeProto) -> bool:
    """True for a sigmoid that the next node multiplies with the sigmoid's own input."""
    both = {*node.input, *node.output}
    return (node.op_type, after.op_type) == ("Sigmoid", "Mul") and set(after.input) == both
