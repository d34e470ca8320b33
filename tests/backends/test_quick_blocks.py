"""Products with matrices in blocks on the processor, in the forms of `onnx_runtime.blocks`."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# (the runtime ships no complete types)

import gc
import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest
from onnx import ModelProto

from backends.base import Array, DType, FileSlice, Graph, Precision
from backends.cpu import CpuBackend, session_options
from backends.onnx_runtime.blocks import with_quick_blocks
from backends.onnx_runtime.provider import CPU, Provider
from backends.onnx_runtime.session import OnnxRuntimeSession
from engine.cancel import CancelToken
from engine.graphs.operators import GraphBuilder
from engine.weights.binding import bind
from engine.weights.sources import FileWeight, WeightSource
from tests.backends.samples import Target
from tests.checkpoints.gguf_files import blocks as random_blocks

IN, OUT, ROWS = 512, 48, 5
# What gives scales a shape by way of the product's input.
OF_SHAPES = ("Shape", "Concat", "Reshape")
ZEROS_OF_THEIR_OWN = (DType.Q4_1, DType.Q4_K, DType.Q2_K)
EIGHT_BITS = (DType.Q8_0, DType.Q6_K, DType.Q5_0)


@pytest.fixture
def target() -> Target:
    backend = CpuBackend()
    return Target(backend, backend.probe()[0])


def product(target: Target, folder: Path, dtype: DType, times: int = 1) -> tuple[Graph, Array]:
    """A graph that multiplies with a matrix in blocks, once for each output; and its numbers."""
    stored = random_blocks(dtype, (OUT, IN))
    (folder / "blocks").write_bytes(stored.raw)
    weight = FileWeight(FileSlice(folder / "blocks", 0, dtype, stored.shape))
    weights: Mapping[str, WeightSource] = {"layer.weight": weight}
    operators, element = target.backend.operators(target.device), DType.F32
    g = GraphBuilder("blocks", weights, operators, element, Precision.F32)
    for number in range(times):
        x = g.input(f"x{number}", element, ("batch", "rows", IN))
        g.output(g.linear(x, "layer", (IN, OUT), bias=False), f"y{number}", element, ("batch",))
    return g.build(bind(g.used, element)), weight.read_as(DType.F32)


def operators_of(graph: Graph) -> list[str]:
    nodes = ModelProto.FromString(graph.model).graph.node
    return [node.op_type for node in nodes if node.op_type not in ("Identity", *OF_SHAPES)]


def executed(graph: Graph, given: Mapping[str, Array], folder: Path) -> list[str]:
    """The operators of a graph in the order in which ONNX Runtime runs them."""
    options = session_options(graph)
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / "profile")
    session = OnnxRuntimeSession(graph, options, Provider(CPU), CancelToken())
    session.run(given)
    session.close()
    gc.collect()
    (profile,) = folder.glob("profile*")
    events = json.loads(profile.read_text())
    return [event["args"]["op_name"] for event in events if event["name"].endswith("_kernel_time")]


def feeds(times: int = 1) -> dict[str, Array]:
    random = np.random.default_rng(0)
    return {f"x{n}": random.standard_normal((2, ROWS, IN), np.float32) for n in range(times)}


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", [DType.Q4_0, *ZEROS_OF_THEIR_OWN, *EIGHT_BITS])
def test_products_are_those_with_the_numbers(
    target: Target, tmp_path: Path, dtype: DType, in_place: bool
) -> None:
    graph, numbers = product(target, tmp_path, dtype, times=2)
    if in_place:
        graph = msgspec.structs.replace(graph, in_place=frozenset(graph.weights))
    given = feeds(2)
    found = target.load(graph).run(given)
    for number in range(2):
        expected = given[f"x{number}"].astype(np.float64) @ numbers.astype(np.float64).T
        error = np.abs(found[f"y{number}"] - expected).max()
        assert error < 3e-6 * np.abs(expected).max()


@pytest.mark.parametrize("dtype", EIGHT_BITS)
def test_eight_bits_are_widened_by_dequantize_linear(
    target: Target, tmp_path: Path, dtype: DType
) -> None:
    graph, _ = product(target, tmp_path, dtype, times=2)
    quick = with_quick_blocks(graph)
    assert operators_of(quick) == ["DequantizeLinear", "FusedMatMul", "FusedMatMul"]
    assert quick.in_place == {"layer.weight:integers"}


def test_four_bits_are_widened_where_they_are_read_in_place(target: Target, tmp_path: Path) -> None:
    graph, _ = product(target, tmp_path, DType.Q4_0)
    assert with_quick_blocks(graph) is graph
    mapped = msgspec.structs.replace(graph, in_place=frozenset(["layer.weight:integers"]))
    assert operators_of(with_quick_blocks(mapped)) == ["DequantizeLinear", "FusedMatMul"]


def test_a_matrix_is_widened_when_the_products_before_it_are_done(
    target: Target, tmp_path: Path
) -> None:
    stored = random_blocks(DType.Q4_0, (IN, IN))
    (tmp_path / "blocks").write_bytes(stored.raw)
    weight = FileWeight(FileSlice(tmp_path / "blocks", 0, DType.Q4_0, stored.shape))
    weights: Mapping[str, WeightSource] = {f"{n}.weight": weight for n in range(4)}
    operators, element = target.backend.operators(target.device), DType.F32
    g = GraphBuilder("blocks", weights, operators, element, Precision.F32)
    x = g.input("x0", element, ("batch", "rows", IN))
    for number in range(4):
        x = g.op("Tanh", g.linear(x, f"{number}", (IN, IN), bias=False))
    g.output(x, "y", element, ("batch",))
    graph = g.build(bind(g.used, element))
    in_place = msgspec.structs.replace(graph, in_place=frozenset(graph.weights))
    found = executed(with_quick_blocks(in_place), feeds(), tmp_path)
    assert [name for name in found if name not in OF_SHAPES] == [
        *("DequantizeLinear", "FusedMatMul", "Tanh") * 4
    ]


@pytest.mark.parametrize("dtype", ZEROS_OF_THEIR_OWN)
def test_four_bits_with_zeros_are_packed_without_them(
    target: Target, tmp_path: Path, dtype: DType
) -> None:
    graph, _ = product(target, tmp_path, dtype)
    quick = with_quick_blocks(graph)
    nodes = ModelProto.FromString(quick.model).graph.node
    (packed,) = [node for node in nodes if node.op_type == "MatMulNBits"]
    assert list(packed.input[1:]) == ["layer.weight:integers", "layer.weight:scales"]
    # Else the runtime would compute and hold what is made of them.
    assert quick.in_place == {"layer.weight:zeros"}
    mapped = msgspec.structs.replace(graph, in_place=frozenset(["layer.weight:integers"]))
    assert with_quick_blocks(mapped) is mapped


@pytest.mark.parametrize("dtype", ZEROS_OF_THEIR_OWN)
def test_one_input_is_summed_once_for_all_products(
    target: Target, tmp_path: Path, dtype: DType
) -> None:
    graph, _ = product(target, tmp_path, dtype)
    model = ModelProto.FromString(graph.model)
    (node,) = [node for node in model.graph.node if node.op_type == "MatMulNBits"]
    again = model.graph.node.add()
    again.CopyFrom(node)
    again.output[0] = "again"
    kinds = operators_of(
        with_quick_blocks(msgspec.structs.replace(graph, model=model.SerializeToString()))
    )
    assert (kinds.count("ReduceSum"), kinds.count("MatMulNBits")) == (1, 2)
