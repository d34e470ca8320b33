"""Results of which only the size is still wanted: no run holds them for it."""

from collections.abc import Iterator, Mapping
from functools import partial

import pytest
from onnx import ModelProto

from backends.base import Device, DType, Precision
from backends.cpu import CpuBackend
from engine.graphs.control_residuals import TokenResidualForm
from engine.graphs.flux import flux
from engine.graphs.flux2 import flux2
from engine.graphs.fused_nodes import FusedGraph
from engine.graphs.live_results import result_shapes, run_names
from engine.graphs.operators import GraphBuilder
from tests.graphs.networks import Emit, wanted
from tests.graphs.wide_jobs import WIDE
from tests.graphs.wide_networks import FLUX, KLEIN

_OPERATORS = CpuBackend().operators(Device("cpu", "cpu", ""))
_VIEWS = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
# The share of a run's nodes for which a result may wait for its size to be read.
_LONG = 0.1
_SIZES = {"batch": 1, "contexts": 2, "tokens": 5, "height": 64, "width": 32, "patches": 512}
_REFERENCE = {"reference_cells": 96}


def _networks() -> Iterator[tuple[str, Emit, Mapping[str, int]]]:
    for kind, networks in WIDE.items():
        for name, wide in networks.items():
            for number, network in enumerate((*wide.before, wide)):
                sizes = network.sizes(512, 512, network.contexts)
                yield f"{kind} {name} {number}", network.emit, sizes
    led = (TokenResidualForm(1, 1),)
    yield "Flux.1 with residuals", partial(flux, config=FLUX, residuals=led), _SIZES
    both = _SIZES | _REFERENCE | {"patches": 512 + 48}
    yield "Flux.1 with references", partial(flux, config=FLUX, references=True), both
    both = _SIZES | _REFERENCE | {"patches": 2048 + 96}
    yield "klein with references", partial(flux2, config=KLEIN, references=True), both


_CASES = {name: (emit, sizes) for name, emit, sizes in _networks()}


def waits_for_sizes(emit: Emit, sizes: Mapping[str, int]) -> dict[str, int]:
    """The results that are held for their size alone, and the nodes that run meanwhile.

    Nodes are those of ONNX Runtime in its order.
    """
    g = GraphBuilder("held", wanted(emit), _OPERATORS, DType.F32, Precision.F32)
    emit(g)
    graph = g.build({})
    found = ModelProto.FromString(graph.model).graph
    shapes = result_shapes(graph, found, sizes)
    nodes = FusedGraph(shapes, found.node, run_names(graph, found)).nodes
    wholes, wanted_until, held_until = dict[str, str](), dict[str, int](), dict[str, int]()
    for place, node in enumerate(nodes):
        if node.kind in _VIEWS:
            wholes[node.made[0]] = wholes.get(node.taken[0], node.taken[0])
        else:
            wanted_until |= dict.fromkeys(node.made, place)
        for name in (wholes.get(name, name) for name in node.taken):
            if name in wanted_until:
                (held_until if node.kind == "Shape" else wanted_until)[name] = place
    waits = {name: until - wanted_until[name] for name, until in held_until.items()}
    return {name: wait for name, wait in waits.items() if wait > _LONG * len(nodes)}


@pytest.mark.parametrize("name", _CASES)
def test_no_result_is_held_for_its_size(name: str) -> None:
    assert waits_for_sizes(*_CASES[name]) == {}


def test_a_result_that_is_held_for_its_size_is_noticed() -> None:
    def chain(g: GraphBuilder) -> None:
        x = g.op("Abs", g.input("x", DType.F32, ("rows", 8)))
        size = g.op("Shape", x)
        y = g.op("Neg", x)
        for _ in range(20):
            y = g.op("Sqrt", y)
        g.output(g.op("Reshape", y, size), "y", DType.F32, ("rows", 8))

    assert waits_for_sizes(chain, {"rows": 5}) == {"Abs_0": 21}
