"""The calls that a graph's run makes of ONNX Runtime's arena, on the processor.

The rules were read in its sources (1.31: allocation_planner.cc, its kernels) and compared, call by
call, with profiles of SD 1, SDXL, SD 3.5 medium, Z-Image and T5 at full width.

- A result is written over its input by softmax alone: for others the input's shape must be known
  to be the same, and sizes are not known before a run.
- A result is freed after the last node that takes it, or one that sees it in another shape.
- Attention copies queries, keys and values by heads. GELU with a bias works in memory as large as
  its result.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from onnx import NodeProto

from engine.graphs.arena import Call
from engine.graphs.compiled_steps import ATTENTION, Run
from engine.graphs.fused_nodes import FusedGraph, FusedNode
from engine.graphs.result_shapes import ResultShapes

_VIEWS = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
_NUMBER = 4
# Where two threads attend to a block of keys each, with a second cache of 512 KB.
_ATTENDING = 330240


def arena_calls(
    shapes: ResultShapes, nodes: Iterable[NodeProto], run: Run
) -> tuple[list[Call], frozenset[str]]:
    """Return the calls in order, and the names of the results among them that leave the run."""
    graph = FusedGraph(shapes, nodes, run)
    wholes = _wholes(graph.nodes)
    last = {
        wholes.get(name, name): place
        for place, node in enumerate(graph.nodes)
        for name in (*node.taken, *node.made)
    }
    dying = defaultdict[int, list[str]](list)
    for name, place in last.items():
        dying[place].append(name)
    leaving = frozenset(wholes.get(name, name) for name in graph.leaving)
    calls, made = list[Call](), set[str]()
    for place, node in enumerate(graph.nodes):
        sizes = {name: graph.sizes[name] for name in node.made if name not in wholes}
        new = [(name, size) for name, size in sizes.items() if size]
        made.update(name for name, _ in new)
        freed = [name for name in dying[place] if name in made and name not in leaving]
        calls.append(Call(new, _worked(graph, node), freed))
    return calls, leaving & made


def _wholes(nodes: Sequence[FusedNode]) -> Mapping[str, str]:
    """Return the values whose memory others lie in, by those that do."""
    uses = Counter(name for node in nodes for name in node.taken)
    wholes, made = dict[str, str](), set[str]()
    for node in nodes:
        made.update(node.made)
        is_over = node.kind == "Softmax" and uses[node.taken[0]] == 1 and node.taken[0] in made
        if node.kind in _VIEWS or is_over:
            wholes[node.made[0]] = wholes.get(node.taken[0], node.taken[0])
    return wholes


def _worked(graph: FusedGraph, node: FusedNode) -> list[int]:
    """Return the bytes that a node takes while it computes."""
    if node.kind == "BiasGelu":
        return [graph.sizes[node.made[0]]]
    if node.kind not in ATTENTION:
        return []
    taken = [graph.shapes.numbers(name) * _NUMBER for name in node.taken[:3] if name]
    return [*(size for size in taken if size), _ATTENDING]
