"""The facts of graphs that plans ask for, found once and kept from plan to plan.

They are the results of networks in their present sizes, and the weights that they use.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from threading import Lock

from backends.base import Graph, HeldResults, OperatorSet, Precision
from engine.compile.network import Network
from engine.compile.shapes import present_sizes
from engine.graphs.live_results import held_results
from engine.weights.sources import WeightSource

# More than the networks of a job, in some sizes that a user tries.
_MOST = 64
# Counts by graph, which follow from its bytes alone. Each job identifies its files anew, so that
# the networks of the next one are other objects, with the same graphs.
_by_graph: OrderedDict[tuple[object, ...], HeldResults] = OrderedDict()
_by_graph_lock = Lock()


class CountedResults:
    """Counts by network and operators; the networks that were asked for last are kept.

    May be used from any thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        # By the `id`s of parts of the network, which is kept alive beside the count: they stay
        # unique. Networks may be the same but for their names.
        self._counts: OrderedDict[tuple[object, ...], tuple[Network, HeldResults]]
        self._counts = OrderedDict()
        self._used: OrderedDict[tuple[object, ...], tuple[Network, Mapping[str, WeightSource]]]
        self._used = OrderedDict()

    def of(
        self,
        network: Network,
        operators: OperatorSet,
        precision: Precision,
        emit: Callable[[], Graph],
        *,
        groups: bool,
        simulates: bool = False,
    ) -> HeldResults:
        """Return the count of a network in its present sizes, whose graph `emit` returns.

        `groups` and `simulates` are those of the runtime's `WorkingMemory`.
        """
        parts = network.emit, network.weights, network.dimensions, network.branches
        key = *map(id, parts), operators, precision, groups, simulates
        with self._lock:
            if key in self._counts:
                self._counts.move_to_end(key)
                return self._counts[key][1]
        sizes = present_sizes(network.dimensions)
        apart = precision in operators.offsets_apart
        found = _counted(emit(), sizes, apart=apart, groups=groups, simulates=simulates)
        with self._lock:
            self._counts[key] = network, found
            while len(self._counts) > _MOST:
                self._counts.popitem(last=False)
        return found

    def used(
        self,
        network: Network,
        operators: OperatorSet,
        precision: Precision,
        emit: Callable[[], Mapping[str, WeightSource]],
    ) -> Mapping[str, WeightSource]:
        """Return the weights that a network's graph uses, which `emit` returns, by name."""
        parts = network.emit, network.weights, network.branches
        key = *map(id, parts), operators, precision
        with self._lock:
            if key in self._used:
                self._used.move_to_end(key)
                return self._used[key][1]
        found = emit()
        with self._lock:
            self._used[key] = network, found
            while len(self._used) > _MOST:
                self._used.popitem(last=False)
        return found


def _counted(
    graph: Graph, sizes: Mapping[str, int], *, apart: bool, groups: bool, simulates: bool
) -> HeldResults:
    """Return the count of a graph with dimensions of these sizes, as `held_results` does."""
    digest, specs = sha256(graph.model).digest(), (graph.inputs, graph.outputs)
    key = digest, specs, graph.precision, frozenset(sizes.items()), apart, groups, simulates
    with _by_graph_lock:
        if key in _by_graph:
            _by_graph.move_to_end(key)
            return _by_graph[key]
    found = held_results(graph, sizes, offsets_apart=apart, groups=groups, simulates=simulates)
    with _by_graph_lock:
        _by_graph[key] = found
        while len(_by_graph) > _MOST:
            _by_graph.popitem(last=False)
    return found
