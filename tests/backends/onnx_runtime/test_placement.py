"""A silent fall-back to the processor is an error with the operators' names."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

import onnxruntime as ort
import pytest
from onnx import ModelProto, TensorProto, shape_inference

from backends.base import BackendError, DType, Graph, OperatorSet, Precision
from backends.onnx_runtime.placement import RECORD, element_types, require_placement
from backends.onnx_runtime.provider import CPU
from backends.onnx_runtime.weights import WeightBuffers
from engine.graphs.operators import GraphBuilder
from tests.backends.networks import NETWORKS, network

CUDA = "CUDAExecutionProvider"


def assigned_session(graph: Graph) -> ort.InferenceSession:
    """A session of the processor that has recorded what runs where."""
    options = ort.SessionOptions()
    options.add_session_config_entry(RECORD, "1")
    weights = WeightBuffers(graph)
    buffers = weights.buffers
    options.add_external_initializers_from_files_in_memory(
        list(buffers), list(buffers.values()), [len(b) for b in buffers.values()]
    )
    return ort.InferenceSession(weights.model, options, providers=[CPU])


def shapes_only() -> Graph:
    """Reckons with the shape of its input and touches none of its numbers."""
    g = GraphBuilder("shapes", {}, OperatorSet(opset=19), DType.F32, Precision.F32)
    x = g.input("x", DType.F32, ("batch", 4))
    sizes = g.op("Concat", g.op("Shape", x), g.integers([3]), axis=0)
    g.output(g.op("Mul", sizes, g.integers([2])), "sizes", DType.I64, (3,))
    return g.build({})


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_left_on_the_processor_is_refused_for_a_card(name: str) -> None:
    graph = network(name, OperatorSet(opset=19))
    session = assigned_session(graph)
    require_placement(session, graph, CPU)
    with pytest.raises(BackendError, match=f"would not run with {CUDA} but on the processor") as e:
        require_placement(session, graph, CUDA)
    assert "MatMul" in str(e.value) or "Conv" in str(e.value)
    assert not e.value.out_of_memory


def test_the_arithmetic_of_shapes_may_stay_on_the_processor() -> None:
    graph = shapes_only()
    require_placement(assigned_session(graph), graph, CUDA)


def test_names_of_providers_are_compared_without_case() -> None:
    graph = network("vae decoder", OperatorSet(opset=19))
    require_placement(assigned_session(graph), graph, CPU.upper())


def test_operators_are_counted_by_kind() -> None:
    g = GraphBuilder("sums", {}, OperatorSet(opset=19), DType.F32, Precision.F32)
    x = g.input("x", DType.F32, ("batch", 4))
    y = g.op("Mul", g.op("Sin", x), g.op("Cos", x))
    halves = g.op("Reshape", y, g.op("Concat", g.integers([-1]), g.integers([2]), axis=0))
    g.output(g.op("Cos", halves), "y", DType.F32, ("batch", 2))
    graph = g.build({})
    with pytest.raises(BackendError) as error:
        require_placement(assigned_session(graph), graph, CUDA)
    # What the optimiser folded or left out is in no list.
    assert str(error.value) == (
        f"5 of 5 nodes of the sums would not run with {CUDA} but on the processor: "
        "Cos, Sin, Mul, Reshape"
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_element_types_are_those_onnx_infers(name: str) -> None:
    operators = OperatorSet(opset=19, elements=(DType.F16,))
    model = ModelProto.FromString(network(name, operators, DType.F16).model)
    ours = element_types(model)
    inferred = shape_inference.infer_shapes(model, strict_mode=True).graph.value_info
    assert len(inferred) > 20
    for value in inferred:
        assert ours[value.name] == value.type.tensor_type.elem_type, value.name
    assert {TensorProto.FLOAT16, TensorProto.FLOAT} <= set(ours.values())
