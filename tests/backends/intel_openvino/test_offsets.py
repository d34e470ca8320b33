"""Offsets of blocks whose zeros are no integers, in products that are rounded to 8 bits."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# (the runtime ships no complete types)

from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backends.base import Array, Device, DType, Graph, OperatorSet, Precision
from backends.block_products import BlockMatrix
from backends.intel_openvino import OpenVinoBackend, core, devices
from backends.intel_openvino.model import matrices_in_blocks, read_with_weights
from backends.intel_openvino.offsets import Offsets, offsets_apart
from backends.mapped_weights import mapped_weights
from engine.cancel import CancelToken
from engine.graphs.live_results import held_results
from engine.graphs.operators import GraphBuilder
from engine.weights.binding import bind
from tests.checkpoints.gguf_files import blocks
from tests.weights.test_dequantization import written

pytestmark = pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed")
BOTH = (Precision.F32, Precision.INT8)
BACKEND, ROUNDING = OpenVinoBackend(), Device(devices.BACKEND, "cpu", "", BOTH)
OUT, IN = 48, 3840
ROWS = 70


def three_products(folder: Path, dtype: DType) -> tuple[Graph, list[Array]]:
    """A graph with three matrices in blocks that multiply one input, and their numbers."""
    operators, element = BACKEND.operators(ROUNDING), DType.F32
    weights = {
        f"{name}.weight": written(folder / name, blocks(dtype, (OUT, IN), number))
        for number, name in enumerate("qkv")
        if not (folder / name).mkdir()
    }
    g = GraphBuilder("products", weights, operators, element, Precision.INT8)
    x = g.input("x", element, ("rows", IN))
    for name in "qkv":
        g.output(g.linear(x, name, (IN, OUT), bias=False), f"{name} x", element, ("rows", OUT))
    return g.build(bind(g.used, element)), [weight.read() for weight in weights.values()]


def apart(graph: Graph, length: int) -> tuple[dict[str, Array], dict[str, Offsets]]:
    """The weights of a graph, and the offsets apart from them."""
    weights = mapped_weights(graph.weights)
    return weights, offsets_apart(matrices_in_blocks(graph.model), weights, length)


def numbers_of(blocks: BlockMatrix, zero: int, weights: dict[str, Array]) -> Array:
    """The numbers of a matrix whose blocks all have one zero."""
    whole = weights[blocks.integers].reshape(*blocks.sides, -1)
    if blocks.bits == 4:
        whole = np.stack([whole & 15, whole >> 4], axis=-1).reshape(*blocks.sides, blocks.block)
    scales = weights[blocks.scales].reshape(*blocks.sides, 1)
    return ((whole.astype(np.float32) - np.float32(zero)) * scales).reshape(blocks.shape)


@pytest.mark.parametrize("dtype", [DType.Q4_1, DType.Q2_K])
def test_offsets_and_steps_from_one_zero_are_the_numbers(dtype: DType, tmp_path: Path) -> None:
    """But for half a step of 127 of the largest offset."""
    graph, numbers = three_products(tmp_path, dtype)
    (first, *_), (weights, found) = matrices_in_blocks(graph.model), apart(graph, 16)
    assert len(found) == 3
    offsets = found[first.integers]
    of_blocks = numbers_of(offsets.matrix, 128, dict(offsets.arrays))
    wide = np.repeat(of_blocks, first.block, axis=1)
    steps = numbers_of(first, offsets.zero, weights)
    assert np.abs(steps + wide - numbers[0]).max() < 0.51 * np.abs(wide).max() / 127
    assert np.abs(steps - numbers[0]).max() > 0.9 * np.abs(wide).max()


@pytest.mark.parametrize(("zeros", "expected"), [(7.3, 7), (1.6, 2), (-3.0, 0), (20.0, 15)])
def test_the_one_zero_is_in_the_middle_of_the_zeros(zeros: float, expected: int) -> None:
    """Far from them the product would be large, and so would be what rounding takes from it."""
    spread = np.linspace(zeros - 1, zeros + 1, 4 * 64, dtype=np.float32).reshape(4, 64)
    for element in (DType.F32, DType.BF16):
        weights = {"zeros": spread, "scales": np.ones_like(spread)}
        given = {name: array.astype(element.numpy) for name, array in weights.items()}
        matrix = BlockMatrix("integers", "scales", "zeros", 4, 32, (4, 64 * 32))
        assert offsets_apart([matrix], given, 32)["integers"].zero == expected


def test_offsets_are_apart_where_what_they_are_multiplied_with_is_rounded(tmp_path: Path) -> None:
    graph, _ = three_products(tmp_path, DType.Q2_K)
    # Nothing is rounded, or longer runs than a block of 16 are.
    assert apart(graph, 0)[1] == apart(graph, 32)[1] == {}


def test_one_input_is_summed_once_for_all_products(tmp_path: Path) -> None:
    graph, _ = three_products(tmp_path, DType.Q4_K)
    weights, found = apart(graph, 32)
    nothing: dict[str, Offsets] = {}
    models = [
        read_with_weights(core(), graph.model, weights, offsets) for offsets in (nothing, found)
    ]
    kinds = [Counter(op.get_type_name() for op in model.get_ops()) for model in models]
    assert [kind["ReduceSum"] for kind in kinds] == [0, 1]
    assert [kind["MatMul"] for kind in kinds] == [3, 6]


@pytest.mark.parametrize("dtype", [DType.Q4_K, DType.Q2_K])
def test_products_of_one_input_are_right(dtype: DType, tmp_path: Path) -> None:
    graph, numbers = three_products(tmp_path, dtype)
    session = BACKEND.load(graph, None, ROUNDING, lambda _done: None, CancelToken())
    x = np.random.default_rng(0).standard_normal((ROWS, IN), np.float32) + np.float32(0.5)
    found = session.run({"x": x})
    session.close()
    for name, matrix in zip("qkv", numbers, strict=True):
        expected = x @ matrix.T
        error = np.linalg.norm(found[f"{name} x"] - expected) / np.linalg.norm(expected)
        assert error < 8e-3


def test_both_products_results_are_counted(tmp_path: Path) -> None:
    graph, _ = three_products(tmp_path, DType.Q4_K)
    sizes = {"rows": ROWS}
    whole, two = (held_results(graph, sizes, offsets_apart=apart) for apart in (False, True))
    assert two.at_once - whole.at_once == ROWS * OUT
    # Sums leave in memory of their own, as products alone do.
    assert (whole.grouped, two.grouped) == (0, 2 * ROWS * OUT)
    (tmp_path / "others").mkdir()
    plain, _ = three_products(tmp_path / "others", DType.Q4_0)
    assert held_results(plain, sizes, offsets_apart=True) == whole


def test_offsets_are_apart_in_the_precisions_that_round() -> None:
    def told(device: Device) -> OperatorSet:
        return BACKEND.operators(device)

    assert told(ROUNDING).offsets_apart == {Precision.BF16, Precision.INT8}
    exact = msgspec.structs.replace(ROUNDING, precisions=(Precision.BF16, Precision.F32))
    assert not told(exact).offsets_apart
