"""The facts of graphs that plans ask for, found once and kept from plan to plan.

They are the results of networks in their present sizes, and the weights that they use.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from threading import Lock
from typing import Generic, TypeVar

from backends.base import Graph, HeldResults, OperatorSet, Precision
from engine.compile.network import Network
from engine.compile.shapes import present_sizes
from engine.graphs.live_results import held_results
from engine.weights.sources import WeightSource

# More than the networks of a job, in some sizes that a user tries.
_MOST = 64
Found = TypeVar("Found")


class Latest(Generic[Found]):
    """Values by key, of which those asked for last are kept; may be used from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: OrderedDict[tuple[object, ...], Found] = OrderedDict()

    def of(self, key: tuple[object, ...], find: Callable[[], Found]) -> Found:
        """Return the value of a key; `find` returns it where it is not kept."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        found = find()
        with self._lock:
            self._found[key] = found
            while len(self._found) > _MOST:
                self._found.popitem(last=False)
        return found


# Counts by graph, which follow from its bytes alone. Each job identifies its files anew, so that
# the networks of the next one are other objects, with the same graphs.
_by_graph = Latest[HeldResults]()


class CountedResults:
    """Counts by network and operators; the networks that were asked for last are kept.

    May be used from any thread.
    """

    def __init__(self) -> None:
        # By the `id`s of parts of the network, which is kept alive beside the count: they stay
        # unique. Networks may be the same but for their names.
        self._counts = Latest[tuple[Network, HeldResults]]()
        self._used = Latest[tuple[Network, Mapping[str, WeightSource]]]()

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
        sizes, apart = present_sizes(network.dimensions), precision in operators.offsets_apart

        def count() -> tuple[Network, HeldResults]:
            return network, _counted(emit(), sizes, apart=apart, groups=groups, simulates=simulates)

        return self._counts.of(key, count)[1]

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
        return self._used.of(key, lambda: (network, emit()))[1]


def _counted(
    graph: Graph, sizes: Mapping[str, int], *, apart: bool, groups: bool, simulates: bool
) -> HeldResults:
    """Return the count of a graph with dimensions of these sizes, as `held_results` does."""
    digest, specs = sha256(graph.model).digest(), (graph.inputs, graph.outputs)
    key = digest, specs, graph.precision, frozenset(sizes.items()), apart, groups, simulates
    return _by_graph.of(
        key,
        lambda: held_results(graph, sizes, offsets_apart=apart, groups=groups, simulates=simulates),
    )
