"""The simulation of ONNX Runtime's arena beside what the runtime asked for and took."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# (the runtime ships no complete types)

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest
from onnx import ModelProto

from backends.base import Device, DType, Graph, Precision, size_of
from backends.cpu import CpuBackend, session_options
from backends.onnx_runtime.provider import CPU, Provider
from backends.onnx_runtime.session import OnnxRuntimeSession
from engine.cancel import CancelToken
from engine.graphs.arena import ArenaBytes, Call, Taken, arena_bytes
from engine.graphs.arena_calls import arena_calls
from engine.graphs.flux import flux
from engine.graphs.fused_nodes import FusedGraph
from engine.graphs.live_results import result_shapes, run_names
from engine.graphs.operators import GraphBuilder
from tests.graphs.networks import Emit, wanted
from tests.graphs.wide_jobs import WIDE
from tests.graphs.wide_networks import FLUX, WideNetwork, wide_graph

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
        ("denoiser", "SD 3.5 medium", 293_933_056, 184_123_392),
        ("encoder", "T5", 255_852_544, 243_269_632),
    ],
)
def test_runs_take_what_the_runtime_took(kind: str, name: str, first: int, block: int) -> None:
    network = WIDE[kind][name]
    found = simulated(graph_of(network.emit), network.sizes(512, 512, network.contexts))
    assert found.first.written == pytest.approx(first, rel=0.002)
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
    # The product and GELU's result, and that memory.
    assert with_bias.first.written == 3 * rows * width * 4
    assert without.first.written == 2 * rows * width * 4
    # In a second run it is not a part of the block.
    assert with_bias.block == without.block == 2 * rows * width * 4


def test_a_convolution_makes_whole_blocks_of_channels() -> None:
    """With 4 of 8 channels, SDXL's prediction was told to lie in the first region, of 1 MB."""

    def convolution(g: GraphBuilder) -> None:
        x = g.op("Neg", g.input("x", DType.F32, ("batch", 8, 64, 64)))
        g.output(g.op("Neg", g.conv(x, "layer", (8, 4))), "y", DType.F32, ("batch", 4, 64, 64))

    found = simulated(graph_of(convolution), {"batch": 16})
    # Of 2 MB each: the negative, that in blocks, the result in blocks. The result of 4 channels
    # lies in the first region, and its negative where something was.
    assert found.first.written == 3 * 2 * _MB + _MB


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
    assert found.block == 7 * _MB
    # The block has a region of 8 MB; f's step works, and y lies then, in one that is always there.
    kept = found.kept
    assert found.second.regions - kept.regions == (1 + 8) * _MB
    assert found.second.written - kept.written == 8 * _MB


def test_a_region_is_noted_as_large_as_it_is() -> None:
    """Malloc's calls showed 8 MB beside a region of 256 MB, 32 MB beside one of a gigabyte."""
    found = arena_bytes([Call([("a", 200 * _MB)], (), ()), Call([("y", 256)], (), ["a"])], {"y"})
    assert found.first == Taken(200 * _MB + 256, 257 * _MB)
    assert found.first.bytes == 200 * _MB + 256 + 257 * _MB // 32
    assert found.most == found.second.bytes > found.first.bytes


def test_regions_double_up_to_a_gigabyte() -> None:
    """The runtime's log shows that one of a gigabyte follows another."""
    calls = [Call([("a", 700 * _MB), ("b", 700 * _MB), ("y", 700 * _MB)], (), ())]
    assert arena_bytes(calls, {"y"}).first.regions == (1 + 3 * 1024) * _MB


def test_regions_double_and_what_they_lose_is_not_written() -> None:
    # A request of 3 MB takes a region of 4 MB whole, so that 2 MB more need another region.
    calls = [Call([("a", 3 * _MB)], (), ()), Call([("y", 2 * _MB)], (), ["a"])]
    found = arena_bytes(calls, {"y"})
    assert (found.first.written, found.kept.written) == (5 * _MB, 2 * _MB)


def test_a_result_that_leaves_keeps_its_whole_region() -> None:
    # All lie in one region of 8 MB.
    calls = [Call([("a", 3 * _MB), ("b", _MB)], (), ()), Call([("y", _MB)], (), ["a", "b"])]
    calls[0] = Call([("large", 5 * _MB)], (), ["large"])
    calls.insert(1, Call([("a", 3 * _MB), ("b", _MB)], (), ()))
    assert arena_bytes(calls, {"y"}).kept == Taken(5 * _MB, 8 * _MB)


def test_results_without_numbers_take_nothing() -> None:
    def joined(g: GraphBuilder) -> None:
        x, nothing = (g.input(name, DType.F32, (name, 8)) for name in ("x", "nothing"))
        y = g.op("Concat", g.op("Neg", x), g.op("Neg", nothing), axis=0)
        g.output(y, "y", DType.F32, ("both", 8))

    found = simulated(graph_of(joined), {"x": 1024, "nothing": 0, "both": 1024})
    assert found.first.written == 2 * 1024 * 8 * 4


def test_nodes_run_in_the_order_of_the_runtime(tmp_path: Path) -> None:
    """Flux.1's picture before its text: of nodes that are made one, the first that was visited.

    What lies where in the arena follows from the order: 231 MB of 1013 at 1024 x 1024.
    """
    narrow = {"width": 128, "heads": 2, "mlp_width": 512, "context_width": 128}
    config = msgspec.structs.replace(FLUX, **narrow, pooled_width=64)
    network = WideNetwork(partial(flux, config=config), tokens=32)
    graph = wide_graph(network, tmp_path, _OPERATORS, DType.F32, Precision.F32)
    sizes = network.sizes(256, 256, 1)
    found = ModelProto.FromString(graph.model).graph
    nodes = FusedGraph(result_shapes(graph, found, sizes), found.node, run_names(graph, found))
    # What leaves the run is written in its place at once.
    kept = [node for node in nodes.nodes if node.kind != "Identity"]
    expected = [sum(nodes.sizes[name] for name in node.made) for node in kept]
    assert ran(graph, sizes, tmp_path) == expected


def ran(graph: Graph, sizes: Mapping[str, int], folder: Path) -> list[int]:
    """The bytes that each node makes in a run, by the runtime's profile."""
    options = session_options(graph)
    options.enable_profiling, options.profile_file_prefix = True, str(folder / "profile")
    session = OnnxRuntimeSession(graph, options, Provider(CPU), CancelToken())
    session.run(
        {
            spec.name: np.zeros(tuple(size_of(n, sizes) for n in spec.shape), np.float32)
            for spec in graph.inputs
        }
    )
    session.close()
    (profile,) = folder.glob("profile*.json")
    events = json.loads(profile.read_text())
    ends = [event for event in events if event["name"].endswith("_kernel_time")]
    return [int(event["args"]["output_size"]) for event in ends]
