"""Engines of our networks built ahead of time by TensorRT-RTX, which needs no card for it.

Through the operator set that the backends declare, with sizes that vary, weights from memory.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from onnx import ModelProto, TensorProto

from backends.base import (
    BackendError,
    ComputedArray,
    DType,
    Graph,
    OperatorSet,
    Precision,
    RunCancelled,
    ShapeProfile,
)
from backends.nvidia_tensorrt import TensorRtBackend
from backends.nvidia_tensorrt_rtx import TensorRtRtxBackend
from backends.tensorrt.build import BuildOptions, ParsedGraph, Timings, build_engine, configured
from engine.cancel import CancelToken
from engine.graphs.operators import GraphBuilder
from tests.backends.samples import NeverCancelled, ignore
from tests.backends.tensorrt.networks import NETWORKS, PROFILE, VARIANTS, WITHOUT_KERNELS
from tests.checkpoints.arrays import write_arrays
from tests.graphs.networks import Emit, graph_in_memory, random_weights
from tests.thinned import each_with_one_in_turn

pytestmark = pytest.mark.oracle
trt: Any = pytest.importorskip("tensorrt_rtx", reason="TensorRT-RTX is not installed")

SERVED = ("SM86", "SM89", "SM120")
TURING = BuildOptions(capabilities=("SM75",))
PRECISIONS = (Precision.F16, Precision.BF16, Precision.F32)


def declared() -> OperatorSet:
    backend = TensorRtRtxBackend()
    return backend.operators(backend.judged(())[0])


UNLIMITED = msgspec.structs.replace(declared(), attention_kernels=None)


def graph_of(
    emit: Emit, precision: Precision = Precision.F16, operators: OperatorSet | None = None
) -> Graph:
    weights = random_weights(emit)
    return graph_in_memory(emit, weights, operators or declared(), precision.dtype, precision)


def built(graph: Graph, options: BuildOptions, profile: ShapeProfile = PROFILE) -> bytes:
    engine = build_engine(trt, graph, profile, options, ignore, NeverCancelled())
    return bytes(memoryview(engine))


def layers(graph: Graph) -> Counter[str]:
    """The number of layers of each kind that TensorRT makes of a graph."""
    return Counter(layer.type.name for layer in ParsedGraph(trt, graph).layers)


def attentions(emit: Emit) -> int:
    """The number of a network's attentions, in any form they are written in."""
    graph = graph_of(emit, operators=OperatorSet(opset=20))
    kinds = Counter(node.op_type for node in ModelProto.FromString(graph.model).graph.node)
    return kinds["Softmax"]


@pytest.mark.parametrize(
    ("name", "capability"), each_with_one_in_turn(list(NETWORKS), SERVED, pytest.mark.slow)
)
def test_a_network_is_built_in_half_precision_for_each_card(name: str, capability: str) -> None:
    graph = graph_of(NETWORKS[name])
    engine = built(graph, BuildOptions(capabilities=(capability,)))
    assert len(engine) > sum(ref.nbytes for ref in graph.weights.values())


@pytest.mark.parametrize("precision", [Precision.BF16, Precision.F32])
@pytest.mark.parametrize("emit", NETWORKS.values(), ids=NETWORKS)
def test_a_network_is_built_in_other_precisions_for_all_cards_at_once(
    emit: Emit, precision: Precision
) -> None:
    graph = graph_of(emit, precision)
    engine = built(graph, BuildOptions(capabilities=SERVED))
    assert len(engine) > sum(ref.nbytes for ref in graph.weights.values())


@pytest.mark.parametrize("emit", VARIANTS.values(), ids=VARIANTS)
def test_networks_of_other_checkpoints_are_built(emit: Emit) -> None:
    assert built(graph_of(emit), BuildOptions(capabilities=SERVED))


@pytest.mark.parametrize("emit", NETWORKS.values(), ids=NETWORKS)
def test_every_attention_is_the_native_layer(emit: Emit) -> None:
    count = attentions(emit)
    assert count
    for precision in (Precision.F16, Precision.BF16):
        found = layers(graph_of(emit, precision))
        assert (found["ATTENTION_INPUT"], found["ATTENTION_OUTPUT"]) == (count, count)
        assert found["SOFTMAX"] == 0


@pytest.mark.parametrize("emit", WITHOUT_KERNELS.values(), ids=WITHOUT_KERNELS)
def test_attention_that_has_no_kernel_is_written_out_and_builds(emit: Emit) -> None:
    graph = graph_of(emit)
    assert layers(graph)["ATTENTION_INPUT"] == 0
    assert built(graph, BuildOptions(capabilities=SERVED))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_parser_claims_every_node_as_one_part(precision: Precision) -> None:
    """The plug-in's question to the parser: one part is one engine, and no node is left over."""
    for emit in (*NETWORKS.values(), *VARIANTS.values(), *WITHOUT_KERNELS.values()):
        graph = graph_of(emit, precision)
        model = ModelProto.FromString(graph.model)
        for tensor in model.graph.initializer:
            if tensor.data_location == TensorProto.EXTERNAL:
                weight = graph.weights[tensor.name]
                assert isinstance(weight, ComputedArray)
                tensor.data_location = TensorProto.DEFAULT
                tensor.raw_data = weight.array.tobytes()
        parsed = ParsedGraph(trt, graph)
        network = parsed.builder.create_network(1)
        parser = trt.OnnxParser(network, parsed.messages)
        assert parser.supports_model_v2(model.SerializeToString())
        assert parser.num_subgraphs == 1
        assert len(parser.get_subgraph_nodes(0)) == len(model.graph.node)


def attending(width: int) -> Emit:
    """One attention of two heads of `width`."""

    def emit(g: GraphBuilder) -> None:
        shape = ("batch", "tokens", 2 * width)
        x = g.cast_to_element(g.input("x", DType.F32, shape))
        q, k, v = (g.linear(x, name, (2 * width, 2 * width)) for name in "qkv")
        g.output(g.attention(q, k, v, 2, width), "y", DType.F32, shape)

    return emit


def test_the_limits_of_native_attention_are_the_declared_ones() -> None:
    """The test fails once TensorRT learns more: then the operator set can follow."""
    kernels = declared().attention_kernels
    assert kernels
    for precision in PRECISIONS:
        for width in (8, *kernels.head_widths, 264):
            graph = graph_of(attending(width), precision, UNLIMITED)
            assert layers(graph)["ATTENTION_INPUT"] == 1
            if kernels.serve(precision.dtype, width):
                assert built(graph, BuildOptions(capabilities=SERVED))
                continue
            with pytest.raises(BackendError, match="not supported by a dedicated kernel"):
                built(graph, BuildOptions(capabilities=("SM89",)))


def test_decomposable_attention_builds_where_there_is_no_kernel() -> None:
    graph = graph_of(attending(264), operators=UNLIMITED)
    assert built(graph, BuildOptions(("SM89",), decomposable_attention=True))


def test_turing_is_served_in_half_precision_alone() -> None:
    emit = NETWORKS["clip"]
    assert built(graph_of(emit), TURING)
    with pytest.raises(BackendError, match="FP32 GEMM is not supported"):
        built(graph_of(emit, Precision.F32), TURING)
    with pytest.raises(BackendError, match="Cannot compile for target"):
        built(graph_of(emit, Precision.BF16), TURING)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_norms_and_resizing_are_single_layers(precision: Precision) -> None:
    kinds = Counter(
        node.op_type
        for node in ModelProto.FromString(graph_of(NETWORKS["unet"], precision).model).graph.node
    )
    found = layers(graph_of(NETWORKS["unet"], precision))
    assert kinds["GroupNormalization"]
    assert kinds["LayerNormalization"]
    norms = kinds["GroupNormalization"] + kinds["LayerNormalization"]
    assert found["NORMALIZATION"] == norms
    assert found["RESIZE"] == kinds["Resize"] > 0


# --- how engines are built ---


def test_the_engine_computes_in_the_graphs_types_and_sizes() -> None:
    parsed = ParsedGraph(trt, graph_of(NETWORKS["unet"]))
    convolutions = [x for x in parsed.layers if x.type == trt.LayerType.CONVOLUTION]
    assert convolutions
    assert {layer.get_output(0).dtype for layer in convolutions} == {trt.float16}
    inputs = {parsed.network.get_input(i).name: parsed.network.get_input(i) for i in range(3)}
    assert list(inputs["sample"].shape) == [-1, 4, -1, -1]
    assert inputs["sample"].dtype == parsed.network.get_output(0).dtype == trt.float32


def test_weights_come_from_files_where_they_are_and_none_is_written(tmp_path: Path) -> None:
    emit = NETWORKS["decoder"]
    arrays = random_weights(emit)
    slices = write_arrays(tmp_path / "weights.safetensors", arrays, DType.F16, odd=True)
    g = GraphBuilder("decoder", slices, declared(), DType.F16, Precision.F16)
    emit(g)
    graph = g.build(dict(slices))
    from_files = built(graph, BuildOptions(capabilities=("SM89",)))
    in_memory = built(graph_of(emit), BuildOptions(capabilities=("SM89",)))
    assert len(from_files) == pytest.approx(len(in_memory), rel=0.01)
    assert list(tmp_path.iterdir()) == [tmp_path / "weights.safetensors"]
    # The numbers themselves are in the engine, channels last.
    largest = max(arrays.values(), key=np.size).astype(np.float16)
    assert largest.transpose(0, 2, 3, 1).tobytes()[:64] in from_files


def test_a_graph_whose_weights_are_gone_is_an_error(tmp_path: Path) -> None:
    emit = NETWORKS["decoder"]
    path = tmp_path / "weights.safetensors"
    slices = write_arrays(path, random_weights(emit), DType.F16)
    g = GraphBuilder("decoder", slices, declared(), DType.F16, Precision.F16)
    emit(g)
    graph = g.build(dict(slices))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(BackendError, match="was cut short"):
        built(graph, BuildOptions(capabilities=("SM89",)))
    path.unlink()
    with pytest.raises(BackendError, match="No such file"):
        built(graph, BuildOptions(capabilities=("SM89",)))


def test_an_operator_that_is_refused_is_named() -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("batch", 4))
        g.output(g.op("SkipSomething", x, domain="com.microsoft"), "y", DType.F32, ("batch", 4))

    with pytest.raises(BackendError, match="SkipSomething"):
        ParsedGraph(trt, graph_of(emit, Precision.F32))


def test_a_profile_that_lacks_a_size_is_an_error() -> None:
    with pytest.raises(BackendError, match="how large batch may be"):
        built(graph_of(NETWORKS["decoder"]), BuildOptions(("SM89",)), ShapeProfile())


def test_a_build_stops_when_asked_to() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(RunCancelled):
        build_engine(
            trt, graph_of(NETWORKS["decoder"]), PROFILE, BuildOptions(("SM89",)), ignore, token
        )


def test_a_build_stops_at_tensorrts_next_step() -> None:
    class AfterTwo(NeverCancelled):
        asked = 0

        def is_set(self) -> bool:
            AfterTwo.asked += 1
            return AfterTwo.asked > 2

    graph = graph_of(NETWORKS["unet"])
    with pytest.raises(RunCancelled):
        build_engine(trt, graph, PROFILE, BuildOptions(("SM89",)), ignore, AfterTwo())
    # Once before, once at the step that went on, once at the one that stopped, once afterwards.
    assert AfterTwo.asked < 10


def test_weight_streaming_is_part_of_the_engine() -> None:
    graph = graph_of(NETWORKS["decoder"])
    plain = built(graph, BuildOptions(("SM89",)))
    streaming = built(graph, BuildOptions(("SM89",), weight_streaming=True))
    assert streaming != plain
    assert len(streaming) == pytest.approx(len(plain), rel=0.2)


def test_single_precision_is_not_rounded_to_less() -> None:
    graph = graph_of(NETWORKS["decoder"], Precision.F32)
    config = configured(trt, ParsedGraph(trt, graph).builder, graph, PROFILE, BuildOptions())
    assert not config.get_flag(trt.BuilderFlag.TF32)


@pytest.mark.filterwarnings("ignore:Use Deprecated in TensorRT-RTX:DeprecationWarning")
def test_timings_are_reused_by_the_next_build() -> None:
    timings = Timings()
    graph = graph_of(NETWORKS["decoder"])
    built(graph, BuildOptions(("SM89",), timings=timings))
    first = timings.data
    assert first
    built(graph, BuildOptions(("SM89",), timings=timings))
    assert timings.data == first  # TensorRT-RTX has nothing to add


def test_the_native_backend_builds_from_the_same_forms() -> None:
    backend = TensorRtBackend()
    assert backend.operators(backend.judged(())[0]) == declared()
    # What its probe asks of the module.
    assert hasattr(trt, "IAttention")
    assert hasattr(trt.OnnxParser, "load_initializer")
