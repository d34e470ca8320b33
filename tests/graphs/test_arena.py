"""The simulation of ONNX Runtime's arena beside what the runtime asked for and took."""

import pytest
from onnx import ModelProto

from backends.base import Device, DType, Graph, Precision
from backends.cpu import CpuBackend
from engine.graphs.arena import ArenaBytes, Call, arena_bytes
from engine.graphs.arena_calls import arena_calls
from engine.graphs.live_results import result_shapes, run_names
from engine.graphs.operators import GraphBuilder
from tests.graphs.networks import Emit, wanted
from tests.graphs.wide_jobs import WIDE

_OPERATORS = CpuBackend().operators(Device("cpu", "cpu", ""))
_MB = 1 << 20


def graph_of(emit: Emit) -> Graph:
    g = GraphBuilder("simulated", wanted(emit), _OPERATORS, DType.F32, Precision.F32)
    emit(g)
    return g.build({})


def simulated(graph: Graph, sizes: dict[str, int]) -> ArenaBytes:
    found = ModelProto.FromString(graph.model).graph
    shapes = result_shapes(graph, found, sizes)
    return arena_bytes(*arena_calls(shapes, found.node, run_names(graph, found)))


# Bytes that a first run wrote, replayed from the runtime's profile (1.31.1), and the block that it
# asked for in the second (its log: "Extending BFCArena ... num_bytes"), at 512 x 512.
@pytest.mark.parametrize(
    ("kind", "name", "first", "block"),
    [
        ("denoiser", "SD 1", 251_811_840, 183_511_808),
        ("denoiser", "SDXL", 137_118_976, 146_931_968),
        ("denoiser", "SD 3.5 medium", 316_899_328, 192_913_408),
        ("encoder", "T5", 255_852_544, 243_269_632),
    ],
)
def test_runs_take_what_the_runtime_took(kind: str, name: str, first: int, block: int) -> None:
    network = WIDE[kind][name]
    found = simulated(graph_of(network.emit), network.sizes(512, 512, network.contexts))
    assert found.first == pytest.approx(first, rel=0.002)
    assert found.block == pytest.approx(block, rel=0.002)


def test_gelu_with_a_bias_works_in_memory_of_its_own() -> None:
    rows, width = 4096, 512

    def gelu(g: GraphBuilder, *, biased: bool) -> None:
        x = g.input("x", DType.F32, ("rows", width))
        y = g.op("Gelu", g.linear(x, "layer", (width, width), bias=biased))
        g.output(g.op("Neg", y), "y", DType.F32, ("rows", width))

    with_bias, without = (
        simulated(graph_of(lambda g, biased=biased: gelu(g, biased=biased)), {"rows": rows})
        for biased in (True, False)
    )
    assert (with_bias.worked, without.worked) == (rows * width * 4, 0)
    # The product and GELU's result, and that memory.
    assert with_bias.first == 3 * rows * width * 4
    assert without.first == 2 * rows * width * 4


def test_a_second_run_lays_results_out_where_they_fit_best() -> None:
    calls = [
        Call([("a", 3 * _MB), ("b", _MB), ("c", 2 * _MB), ("d", _MB)], (), ()),
        Call((), (), ["a", "c"]),
        # In the gap of c, not in that of a.
        Call([("e", 2 * _MB)], (), ["b"]),
        # In the gap that a and b have left.
        Call([("f", 4 * _MB)], [_MB], ["d", "e"]),
        Call([("y", 256)], (), ["f"]),
    ]
    found = arena_bytes(calls, {"y"})
    assert (found.block, found.worked, found.left) == (7 * _MB, _MB, 256)
    assert found.most >= 8 * _MB + 256


def test_regions_double_and_what_they_lose_is_not_written() -> None:
    # A request of 3 MB takes a region of 4 MB whole, so that 2 MB more need another region.
    calls = [Call([("a", 3 * _MB)], (), ()), Call([("y", 2 * _MB)], (), ["a"])]
    found = arena_bytes(calls, {"y"})
    assert (found.first, found.kept) == (5 * _MB, 2 * _MB)


def test_a_result_that_leaves_keeps_its_whole_region() -> None:
    # All lie in one region of 8 MB.
    calls = [Call([("a", 3 * _MB), ("b", _MB)], (), ()), Call([("y", _MB)], (), ["a", "b"])]
    calls[0] = Call([("large", 5 * _MB)], (), ["large"])
    calls.insert(1, Call([("a", 3 * _MB), ("b", _MB)], (), ()))
    assert arena_bytes(calls, {"y"}).kept == 5 * _MB


def test_results_without_numbers_take_nothing() -> None:
    def joined(g: GraphBuilder) -> None:
        x, nothing = (g.input(name, DType.F32, (name, 8)) for name in ("x", "nothing"))
        y = g.op("Concat", g.op("Neg", x), g.op("Neg", nothing), axis=0)
        g.output(y, "y", DType.F32, ("both", 8))

    found = simulated(graph_of(joined), {"x": 1024, "nothing": 0, "both": 1024})
    assert found.first == 2 * 1024 * 8 * 4
