"""The nodes of a graph as ONNX Runtime's optimizers leave them for its processor.

As far as its arena tells: a node is what it takes and makes, and its place among those that could
run next. The rules were read in its sources (1.31: graph_viewer.cc, the optimizers) and compared
with optimised graphs of all families.

- Nodes run as a search from what leaves the run needs them, later inputs first. Of nodes that
  compute the same the first one is kept.
- A root mean square norm, slices of one value at fixed places, a bias with GELU and x * sigmoid(x)
  are one node each. A scale, or a turned matrix, is part of the product beside it. Such nodes come
  after all others, one kind after the other.
- Convolutions take and make channels in blocks: what enters and leaves them is copied. Two results
  in blocks are added in blocks.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from onnx import NodeProto

from backends.block_products import OPERATOR, BlockMatrix
from engine.graphs.compiled_steps import Run
from engine.graphs.result_shapes import ResultShapes

_NORM = ("Pow", "ReduceMean", "Add", "Sqrt", "Div", "Mul", "Mul")
_PRODUCTS = frozenset({"FusedMatMul", "MatMul"})
_NUMBER, _INTEGER = 4, 8
# The channels of a block (AVX2); convolutions of fewer take them as they come.
_BLOCK = 8
# Integers of so many bits become a matrix in float32 in each run.
_WIDENED = 8


class FusedNode(msgspec.Struct):
    """A node of the optimised graph: its kind, the values it takes and makes, and its place.

    `made` begins with what it makes beside its results. `proto` is the node that it was made of.
    """

    kind: str
    taken: list[str]
    made: list[str]
    order: int
    proto: NodeProto = msgspec.field(default_factory=NodeProto)


class _Index(msgspec.Struct):
    """The nodes that make and that take each value, and the values that leave the run."""

    makers: Mapping[str, FusedNode]
    takers: Mapping[str, Sequence[FusedNode]]
    leaving: frozenset[str]

    @classmethod
    def of(cls, nodes: Iterable[FusedNode], leaving: frozenset[str]) -> "_Index":
        makers, takers = dict[str, FusedNode](), defaultdict[str, list[FusedNode]](list)
        for node in nodes:
            makers |= dict.fromkeys(node.made, node)
            for name in node.taken:
                takers[name].append(node)
        return cls(makers, takers, leaving)

    def next(self, node: FusedNode, *kinds: str) -> FusedNode | None:
        """Return the only node that takes a node's result, if it is of these kinds."""
        name = node.made[-1]
        found = self.takers.get(name, ())
        is_only = len(found) == 1 and name not in self.leaving
        return found[0] if is_only and found[0].kind in kinds else None


_Fusion = Callable[[FusedNode, _Index], Sequence[FusedNode]]


class FusedGraph:
    """A graph's optimised nodes and the bytes of their results; `shapes` has all its results'."""

    def __init__(self, shapes: ResultShapes, nodes: Iterable[NodeProto], run: Run) -> None:
        self.leaving, self.sizes = frozenset(run.leaving), dict[str, int]()
        self.shapes, self._constants = shapes, set(run.constants)
        computed = self._computed(nodes)
        self._count = len(computed) + 1
        fused = self._fused(self._distinct(computed))
        self.nodes = self._ordered(self._in_blocks(fused))

    def _computed(self, nodes: Iterable[NodeProto]) -> list[FusedNode]:
        """Return the nodes that compute with the run's values."""
        kept: list[FusedNode] = []
        for order, node in enumerate(nodes):
            made = [name for name in node.output if name]
            if self._constants.issuperset(name for name in node.input if name):
                self._constants.update(made)
                continue
            element = _INTEGER if self.shapes.is_calculated(made[0]) else _NUMBER
            beside = self._beside(node)
            self.sizes |= beside | {name: self.shapes.numbers(name) * element for name in made}
            kept.append(FusedNode(node.op_type, list(node.input), [*beside, *made], order, node))
        return kept

    def _beside(self, node: NodeProto) -> dict[str, int]:
        """Return the bytes of what a product with blocks makes beside its result, by name."""
        if node.op_type != OPERATOR:
            return {}
        blocks, result = BlockMatrix.of(node), node.output[0]
        if blocks.bits == _WIDENED:
            return {f"{result}:matrix": math.prod(blocks.shape) * _NUMBER}
        parts = [f"{result}:whole", f"{result}:part"] if blocks.zeros else []
        return dict.fromkeys(parts, self.shapes.numbers(result) * _NUMBER)

    def _distinct(self, nodes: Sequence[FusedNode]) -> list[FusedNode]:
        """Return the nodes, of those that compute the same the one that would run first."""
        known = dict[tuple[str | bytes, ...], FusedNode]()
        same, kept = dict[str, str](), list[FusedNode]()
        for node in self._ordered(nodes):
            node.taken = [same.get(name, name) for name in node.taken]
            attributes = sorted(one.SerializeToString() for one in node.proto.attribute)
            key = (node.kind, *node.taken, *attributes)
            if key in known and self.leaving.isdisjoint(node.made):
                same |= dict(zip(node.made, known[key].made, strict=True))
            else:
                known[key] = node
                kept.append(node)
        return sorted(kept, key=_order)

    def _ordered(self, nodes: Sequence[FusedNode]) -> list[FusedNode]:
        """Return the nodes as they run."""
        index = _Index.of(nodes, self.leaving)
        ends = [node for node in nodes if not any(index.takers.get(name) for name in node.made)]
        ends = [node for node in ends if not self.leaving.isdisjoint(node.made)]
        waiting = [(node, False) for node in sorted(ends, key=_order)]
        seen, ordered = set[int](), list[FusedNode]()
        while waiting:
            node, is_ready = waiting.pop()
            if is_ready:
                ordered.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                waiting.append((node, True))
                makers = [index.makers[name] for name in node.taken if name in index.makers]
                unseen = {id(maker): maker for maker in makers if id(maker) not in seen}
                waiting += [(maker, False) for maker in sorted(unseen.values(), key=_order)]
        return ordered

    def _fused(self, nodes: Sequence[FusedNode]) -> list[FusedNode]:
        """Return the nodes with several made one."""
        fusions = self._norm, self._slices, self._turned, self._scaled, self._biased, self._gate
        index, gone = _Index.of(nodes, self.leaving), set[int]()
        visited = {id(node): place for place, node in enumerate(self._ordered(nodes))}
        for node in nodes:
            if id(node) in gone:
                continue
            for number, fusion in enumerate(fusions, 1):
                parts = fusion(node, index)
                if parts:
                    gone.update(id(part) for part in parts)
                    node.order = number * self._count + visited[id(node)]
                    break
        return [node for node in nodes if id(node) not in gone]

    def _norm(self, node: FusedNode, index: _Index) -> Sequence[FusedNode]:
        """x / sqrt(mean(x^2) + e) * weight. As all fusions: returns the nodes that are gone."""
        if node.kind != _NORM[0]:
            return ()
        parts = [node]
        for kind in _NORM[1:]:
            after = index.next(parts[-1], kind)
            if after is None:
                return ()
            parts.append(after)
        weights = [name for name in parts[-1].taken if name in self._constants]
        if not weights or node.taken[0] not in parts[-2].taken:
            return ()
        node.kind, node.taken = "SimplifiedLayerNormalization", [node.taken[0], *weights]
        node.made = parts[-1].made
        return parts[1:]

    def _slices(self, node: FusedNode, index: _Index) -> Sequence[FusedNode]:
        """Slices that are all of a value, at fixed places."""
        if not self._is_fixed_slice(node):
            return ()
        value = node.taken[0]
        parts = [part for part in index.takers[value] if self._is_fixed_slice(part)]
        whole = sum(self.sizes[part.made[0]] for part in parts)
        if len(parts) == 1 or whole != self.sizes.get(value):
            return ()
        node.kind, node.taken = "Split", [value]
        node.made = [name for part in parts for name in part.made]
        return [part for part in parts if part is not node]

    def _is_fixed_slice(self, node: FusedNode) -> bool:
        return node.kind == "Slice" and self._constants.issuperset(node.taken[1:])

    def _turned(self, node: FusedNode, index: _Index) -> Sequence[FusedNode]:
        """A turned matrix, and the only product that takes it."""
        after = index.next(node, *_PRODUCTS) if _turns_matrices(node.proto) else None
        if after is None:
            return ()
        others = [name for name in after.taken if name not in node.made]
        node.kind, node.taken, node.made = after.kind, [*node.taken, *others], after.made
        return [after]

    def _scaled(self, node: FusedNode, index: _Index) -> Sequence[FusedNode]:
        """A product, and what multiplies its result by one number."""
        after = index.next(node, "Mul") if node.kind in _PRODUCTS else None
        scales = self._constants.intersection(after.taken) if after else ()
        if after is None or not any(self.shapes.numbers(scale) == 1 for scale in scales):
            return ()
        node.made = after.made
        return [after]

    def _biased(self, node: FusedNode, index: _Index) -> Sequence[FusedNode]:
        """GELU of a sum with a weight."""
        after = index.next(node, "Gelu") if node.kind == "Add" else None
        if after is None or self._constants.isdisjoint(node.taken):
            return ()
        node.kind, node.made = "BiasGelu", after.made
        return [after]

    def _gate(self, node: FusedNode, index: _Index) -> Sequence[FusedNode]:
        """x * sigmoid(x)."""
        after = index.next(node, "Mul") if node.kind == "Sigmoid" else None
        if after is None or node.taken[0] not in after.taken:
            return ()
        node.kind, node.made = "QuickGelu", after.made
        return [after]

    def _in_blocks(self, nodes: Sequence[FusedNode]) -> list[FusedNode]:
        """Return the nodes with copies around those that compute with channels in blocks."""
        placed, copied = list[FusedNode](), set[str]()
        made_in_blocks = set[str]()
        for node in nodes:
            if node.kind == "Conv":
                (source, *rest) = node.taken
                if self.shapes[source][1] >= _BLOCK:
                    if source not in copied | made_in_blocks:
                        copied.add(source)
                        placed.append(FusedNode("ReorderInput", [source], [_blocked(source)], 0))
                    node.taken = [_blocked(source), *rest]
            elif node.kind == "Add" and made_in_blocks.issuperset(node.taken):
                views = [f"{name}:seen for {node.made[0]}" for name in node.taken]
                placed += [
                    FusedNode("Reshape", [_blocked(name)], [view], 0)
                    for name, view in zip(node.taken, views, strict=True)
                ]
                node.taken = views
            else:
                placed.append(node)
                continue
            (made,) = node.made
            made_in_blocks.add(made)
            node.made, node.order = [_blocked(made)], 0
            placed += [node, FusedNode("ReorderOutput", [_blocked(made)], [made], 0)]
        return self._with_places(placed)

    def _with_places(self, nodes: list[FusedNode]) -> list[FusedNode]:
        """Return nodes with those in blocks, and the copies, after all others."""
        for place, node in enumerate(nodes):
            for name in (*node.taken, *node.made):
                if name.endswith(_BLOCKED):
                    self.sizes[name] = self._blocked_bytes(name.removesuffix(_BLOCKED))
            if any(name.endswith(_BLOCKED) for name in (*node.taken, *node.made)):
                node.order = _LAST + place
        return nodes

    def _blocked_bytes(self, name: str) -> int:
        """Return the bytes of a value whose channels are in whole blocks."""
        batch, channels, *sides = self.shapes[name]
        whole = -(-channels // _BLOCK) * _BLOCK
        return math.prod((batch, whole, *sides)) * _NUMBER


_BLOCKED = ":in blocks"
# More than the places of nodes before any is put in blocks.
_LAST = 1 << 32


def _blocked(name: str) -> str:
    return f"{name}{_BLOCKED}"


def _order(node: FusedNode) -> int:
    return node.order


def _turns_matrices(node: NodeProto) -> bool:
    """Return True for a transposition of the last two axes alone."""
    if node.op_type != "Transpose":
        return False
    (turned,) = (list(attribute.ints) for attribute in node.attribute if attribute.name == "perm")
    last = len(turned) - 1
    return turned == [*range(last - 1), last, last - 1]
