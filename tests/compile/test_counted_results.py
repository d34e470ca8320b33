"""Counts of networks' results, kept from plan to plan."""

from collections.abc import Mapping

import pytest

from backends.base import Device, DimensionRange, DType, Graph, HeldResults, Precision
from backends.intel_openvino import OpenVinoBackend
from backends.intel_openvino.devices import BACKEND
from engine.compile import counted_results
from engine.compile.counted_results import CountedResults
from engine.compile.network import Network
from engine.graphs.operators import GraphBuilder
from engine.weights.weight_set import WeightSet

_OPERATORS = OpenVinoBackend().operators(Device(BACKEND, "cpu", ""))


def _emit(g: GraphBuilder) -> None:
    x = g.input("x", DType.F32, (1, 8))
    g.output(g.op("Softmax", g.op("Neg", x), axis=-1), "y", DType.F32, (1, 8))


def test_a_network_is_counted_once_in_each_precision() -> None:
    emitted: list[Precision] = []
    network, counts = Network("small", _emit, WeightSet("small", {})), CountedResults()

    def graph(precision: Precision) -> Graph:
        emitted.append(precision)
        g = GraphBuilder("small", {}, _OPERATORS, precision.dtype, precision)
        _emit(g)
        return g.build({})

    exact, rounded = (
        [
            counts.of(
                network, _OPERATORS, element, lambda element=element: graph(element), groups=True
            )
            for _ in range(2)
        ]
        for element in (Precision.F32, Precision.BF16)
    )
    assert emitted == [Precision.F32, Precision.BF16]
    assert exact[0] == exact[1] != rounded[0] == rounded[1]


def test_buffers_are_counted_for_a_runtime_that_shares_them_alone() -> None:
    network, counts = Network("small", _emit, WeightSet("small", {})), CountedResults()

    def graph() -> Graph:
        g = GraphBuilder("small", {}, _OPERATORS, DType.F32, Precision.F32)
        _emit(g)
        return g.build({})

    shared, apart = (
        counts.of(network, _OPERATORS, Precision.F32, graph, groups=groups)
        for groups in (True, False)
    )
    assert shared.grouped > apart.grouped == 0
    assert shared.at_once == apart.at_once > 0


def test_an_arena_is_simulated_for_a_runtime_that_has_one() -> None:
    network, counts = Network("small", _emit, WeightSet("small", {})), CountedResults()

    def graph() -> Graph:
        g = GraphBuilder("small", {}, _OPERATORS, DType.F32, Precision.F32)
        _emit(g)
        return g.build({})

    with_arena, without = (
        counts.of(network, _OPERATORS, Precision.F32, graph, groups=False, simulates=simulates)
        for simulates in (True, False)
    )
    assert with_arena.arena_bytes > without.arena_bytes == 0


def test_a_graph_is_counted_once_for_all_networks_that_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each job has networks of its own: its files are identified anew."""
    counted: list[Mapping[str, int]] = []
    held = counted_results.held_results

    def noted(graph: Graph, sizes: Mapping[str, int], **options: bool) -> HeldResults:
        counted.append(sizes)
        return held(graph, sizes, **options)

    monkeypatch.setattr(counted_results, "held_results", noted)
    monkeypatch.setattr(counted_results, "_by_graph", counted_results.Latest[HeldResults]())

    def of(rows: int) -> HeldResults:
        def emit(g: GraphBuilder) -> None:
            x = g.input("x", DType.F32, ("rows", 8))
            g.output(g.op("Neg", x), "y", DType.F32, ("rows", 8))

        def graph() -> Graph:
            g = GraphBuilder("small", {}, _OPERATORS, DType.F32, Precision.F32)
            emit(g)
            return g.build({})

        sizes = {"rows": DimensionRange(rows, rows, rows)}
        network = Network("small", emit, WeightSet("small", {}), sizes)
        return CountedResults().of(network, _OPERATORS, Precision.F32, graph, groups=False)

    assert of(2) == of(2) != of(3)
    assert counted == [{"rows": 2}, {"rows": 3}]
