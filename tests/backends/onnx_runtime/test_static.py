"""One program per size: the graph that such a compiler sees, and where it is kept."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import ModelProto, NodeProto

from backends.apple_coreml import CoreMlBackend
from backends.base import (
    Array,
    BackendError,
    DimensionRange,
    DType,
    Graph,
    OperatorSet,
    RunCancelled,
    ShapeProfile,
)
from backends.onnx_runtime.fixed import with_fixed_sizes
from backends.onnx_runtime.placement import at_the_edge
from backends.onnx_runtime.provider import CPU, Provider
from backends.onnx_runtime.session import OnnxRuntimeSession
from backends.onnx_runtime.static import compile_static, load_static, quiet_options
from backends.onnx_runtime.weights import WeightBuffers
from engine.cancel import CancelToken
from tests.backends.networks import NETWORKS, network
from tests.backends.operators.test_tables import table_of
from tests.backends.samples import NeverCancelled, ignore

SIZES = {"batch": 1, "contexts": 2, "tokens": 77, "height": 16, "width": 8}
PROFILE = ShapeProfile({name: DimensionRange(1, n, 2 * n) for name, n in SIZES.items()})
OPERATORS = OperatorSet(opset=19)


def feeds_of(graph: Graph) -> dict[str, Array]:
    """Something for every input of a graph of one size."""
    random = np.random.default_rng(3)
    made: dict[str, Array] = {}
    for spec in graph.inputs:
        shape = tuple(int(size) for size in spec.shape)
        if spec.dtype is DType.I64:
            made[spec.name] = random.integers(0, 60, shape)
        else:
            made[spec.name] = random.standard_normal(shape, np.float32)
    return made


@pytest.mark.parametrize("name", NETWORKS)
def test_a_graph_of_one_size_computes_the_same_as_the_dynamic_graph(name: str) -> None:
    graph = network(name, OPERATORS)
    fixed = with_fixed_sizes(graph, PROFILE)
    assert all(isinstance(size, int) for spec in fixed.inputs for size in spec.shape)
    feeds, results = feeds_of(fixed), list[Array]()
    for made in (graph, fixed):
        session = OnnxRuntimeSession(made, quiet_options(), Provider(CPU), NeverCancelled())
        (result,) = session.run(feeds).values()
        results.append(result)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-4, atol=1e-5)
    (output,) = fixed.outputs
    assert results[1].shape == output.shape


def test_a_missing_size_is_an_error() -> None:
    profile = ShapeProfile({"batch": DimensionRange(1, 1, 1)})
    with pytest.raises(BackendError, match="no size is given for height of sample"):
        with_fixed_sizes(network("unet", OPERATORS), profile)


def test_a_compiled_program_takes_only_its_own_size(tmp_path: Path) -> None:
    graph, never = network("vae decoder", OPERATORS), NeverCancelled()
    asked: list[Path | None] = []

    def provider(folder: Path | None) -> Provider:
        asked.append(folder)
        return Provider(CPU)

    folder = tmp_path / "artifact"
    artifact = compile_static(graph, provider, PROFILE, folder, ignore, never)
    assert (artifact.folder, artifact.profile) == (folder, PROFILE)
    session = load_static(graph, provider, artifact, ignore, never)
    latents = np.zeros((1, 4, 16, 8), np.float32)
    name = graph.inputs[0].name
    assert session.run({name: latents})
    with pytest.raises(BackendError):
        session.run({name: latents[:, :, :8]})
    other = load_static(graph, provider, None, ignore, never)
    assert other.run({name: latents[:, :, :8]})
    # Both times where the program is kept, then nowhere.
    assert asked == [folder, folder, None]


def test_a_cancelled_compile_gives_no_artifact(tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(RunCancelled):
        compile_static(
            network("vae decoder", OPERATORS),
            lambda _: Provider(CPU),
            PROFILE,
            tmp_path / "artifact",
            ignore,
            token,
        )


# --- what CoreML is left with ---


def optimised(graph: Graph, folder: Path) -> ModelProto:
    """The graph as providers are asked to take it: after ONNX Runtime's basic optimisations."""
    options = quiet_options()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folder / "optimised.onnx")
    weights = WeightBuffers(graph)
    buffers = weights.buffers
    options.add_external_initializers_from_files_in_memory(
        list(buffers), list(buffers.values()), [len(b) for b in buffers.values()]
    )
    ort.InferenceSession(weights.model, options, providers=[CPU])
    return onnx.load(folder / "optimised.onnx")


def refused(node: NodeProto, constants: set[str]) -> str:
    """Why CoreML's builder of an operator would not take a node; empty where it does.

    From IsOpSupportedImpl of onnxruntime/core/providers/coreml/builders/impl, ML programs.
    """
    wants = {
        "Reshape": (1,),
        "Conv": (1, 2),
        "InstanceNormalization": (1, 2),
        "LayerNormalization": (1, 2),
        "Resize": (2, 3),
        "Tile": (1,),
        "Gemm": (1, 2),
    }
    for place in wants.get(node.op_type, ()):
        given = node.input[place] if place < len(node.input) else ""
        if given and given not in constants:
            return f"{node.op_type}: input {place} is not constant"
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "Resize" and attributes["coordinate_transformation_mode"] != b"asymmetric":
        return "Resize: not asymmetric"
    return ""


@pytest.mark.parametrize("name", NETWORKS)
def test_coreml_takes_every_node_of_a_graph_of_one_size(name: str, tmp_path: Path) -> None:
    """In float32: the optimiser of the processor rewrites what it has no float16 kernels for."""
    backend = CoreMlBackend()
    graph = network(name, backend.operators(backend.probe()[0]))
    model = optimised(with_fixed_sizes(graph, PROFILE), tmp_path)
    constants = {tensor.name for tensor in model.graph.initializer}
    given = constants | {value.name for value in model.graph.input}
    table = table_of("apple_coreml")
    seen: set[str] = set()
    for node in model.graph.node:
        if not at_the_edge(node, given):
            assert node.op_type in table, node.op_type
            assert not refused(node, constants)
            seen.add(node.op_type)
    assert {"MatMul", "Softmax"} <= seen


def test_a_node_that_coreml_refuses_is_noticed(tmp_path: Path) -> None:
    graph = network("unet", OPERATORS)
    model = optimised(graph, tmp_path)  # of all sizes, so that shapes are reckoned when it runs
    constants = {tensor.name for tensor in model.graph.initializer}
    reasons = {refused(node, constants) for node in model.graph.node}
    assert "Reshape: input 1 is not constant" in reasons
    assert "Tile: input 1 is not constant" in reasons
