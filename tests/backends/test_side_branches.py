"""Every backend runs networks with side branches: convolutions and products by inputs."""

from pathlib import Path

import numpy as np
import pytest

from backends.base import Array, DType, Graph
from engine.graphs.operators import GraphBuilder
from tests.backends.samples import CHANNELS, WIDTH, Target, relative_error
from tests.backends.test_contract import ALL, SOFTWARE, TOLERANCES, label, ring
from tests.graphs.branches import RandomBranches
from tests.graphs.networks import graph_in_memory, random_weights

STRENGTHS = (1.3, -0.7)
# A width at which no form of a layer is left out for lack of a kernel.
_INNER = 1280
every_target = pytest.mark.parametrize(
    "target",
    [
        # The widths that kernels take are slow to compute on a graphics driver of the processor.
        pytest.param(
            target,
            id=label(target),
            marks=pytest.mark.oracle
            if target.device.id == SOFTWARE
            else ring(target.backend.name, target.device),
        )
        for target in ALL
        if target.computes
    ],
)


def _network(g: GraphBuilder) -> None:
    """A convolution, a gated linear layer, and a convolution of a doubled image."""
    image = g.input("image", DType.F32, ("batch", CHANNELS, "height", "width"))
    x = g.conv(g.from_planes(g.cast_to_element(image)), "conv", (CHANNELS, WIDTH))
    tokens = g.geglu(g.to_tokens(x, WIDTH), "gate", (WIDTH, _INNER))
    tokens = g.linear(tokens, "mix", (_INNER, WIDTH))
    x = g.add(g.to_image(tokens, x), x)
    x = g.doubled_conv(x, "up", (WIDTH, CHANNELS))
    size = ("batch", CHANNELS, "2*height", "2*width")
    g.output(g.to_planes(x), "doubled", DType.F32, size)


@every_target
def test_a_network_with_side_branches_equals_merged_weights(target: Target, tmp_path: Path) -> None:
    element = target.element
    weights = {
        name: array.astype(element.numpy).astype(np.float32)
        for name, array in random_weights(_network).items()
    }
    branches = RandomBranches(tmp_path, weights)
    image = np.random.default_rng(1).standard_normal((2, CHANNELS, 7, 5), np.float32)

    def result(graph: Graph, feeds: dict[str, Array]) -> Array:
        session = target.load(graph)
        for name, array in feeds.items():
            session.pin(name, array)
        (found,) = session.run({"image": image}).values()
        session.close()
        return found

    given = target.backend.operators(target.device), element, target.precision
    merged = result(graph_in_memory(_network, branches.merged(STRENGTHS), *given), {})
    graph = graph_in_memory(_network, weights, *given, branches.branches)
    beside = result(graph, branches.feeds(graph.inputs, STRENGTHS))
    assert relative_error(beside, merged) < TOLERANCES[target.precision]
    off = result(graph, branches.feeds(graph.inputs, (0.0, 0.0)))
    plain = result(graph_in_memory(_network, weights, *given), {})
    assert relative_error(off, plain) < TOLERANCES[target.precision]
    assert relative_error(plain, merged) > 0.1
