"""Graphs of ONNX Runtime's fused operators: what is fused, what is left, and that it is accepted.

ONNX Runtime checks every node against its schema before it looks for a kernel. The processor has
none for most of these: that it misses one is how far a graph gets here. What they compute is
compared in `tests/backends/torch_device/test_fused.py` and `tests/oracle/test_fused.py`.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportMissingTypeStubs=false
# (the runtime ships no complete types)

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

from backends.base import Array, DType, Graph, OperatorSet, Precision
from backends.forms import (
    GroupNormForm,
    ResidualForm,
    UpsamplingForm,
)
from backends.nvidia_cuda import OPERATORS
from backends.onnx_runtime.session import add_weights
from backends.onnx_runtime.weights import WeightBuffers
from benchmarks.ablation_steps import PUBLISHED_S, STEPS
from engine.graphs.operators import GraphBuilder, limits
from engine.graphs.operators.attention import Projections, packed_per_head
from engine.graphs.operators.images import channels_last
from engine.graphs.unet import unet
from tests.backends.networks import NETWORKS, network
from tests.graphs.networks import (
    Emit,
    graph_in_memory,
    random_weights,
    sd15_unet,
    wanted,
)
from tests.thinned import thinned

FIRST, *_, LAST = STEPS
FUSED = {"NhwcConv", "GroupNorm", "SkipGroupNorm", "BiasSplitGelu", "BiasAdd"}
# The first and the last here; those between change one operator each.
every_step = pytest.mark.parametrize(
    "operators",
    [
        pytest.param(step, id=name, marks=() if name in (FIRST, LAST) else pytest.mark.oracle)
        for name, step in STEPS.items()
    ],
)


def nodes(emit: Emit, operators: OperatorSet, element: DType = DType.F16) -> list[NodeProto]:
    graph = graph_in_memory(emit, random_weights(emit), operators, element)
    return list(ModelProto.FromString(graph.model).graph.node)


def kinds(emit: Emit, operators: OperatorSet, element: DType = DType.F16) -> Counter[str]:
    return Counter(node.op_type for node in nodes(emit, operators, element))


def full_size(operators: OperatorSet) -> Counter[str]:
    """The operators of SD 1.5's own UNet; its weights are only listed."""
    emit = partial(unet, config=sd15_unet(), halves_evenly=True)
    g = GraphBuilder("unet", wanted(emit), operators, DType.F16, Precision.F16)
    emit(g)
    model = ModelProto.FromString(g.build({}).model)
    return Counter(node.op_type for node in model.graph.node)


# --- which operators are written ---


def test_sd15_is_written_with_every_fused_operator() -> None:
    found = full_size(OPERATORS)
    # 22 residual blocks of two convolutions and 14 shortcuts, 16 transformers of two projections,
    # three ways down, three up, the first and the last.
    assert found["NhwcConv"] == 22 * 2 + 14 + 16 * 2 + 3 + 3 + 2
    assert found["GroupNorm"] + found["SkipGroupNorm"] == 22 * 2 + 16 + 1
    # All that follow a sum: those of shortcuts on the way up follow a concatenation.
    assert found["SkipGroupNorm"] == 23
    # Two of each three; but where the text comes in, the sum is repeated first.
    assert found["SkipLayerNormalization"] == 2 * 16 - 1
    assert found["BiasSplitGelu"] == 16
    assert found["MultiHeadAttention"] == 32
    assert found["BiasAdd"] == 16 + 1
    assert found["Sigmoid"] == 2  # of the time embedding
    assert not found["GroupNormalization"] + found["InstanceNormalization"] + found["Softmax"]
    # Keys and values from one product, and of itself queries too.
    products = {"to_out and feed-forward": 3 * 16, "of itself": 16, "of the text": 2 * 16}
    assert found["FusedMatMul"] == sum(products.values()) + 16 + 22 + 2


def test_each_step_of_the_ablation_fuses_its_operators() -> None:
    found = [full_size(operators) for operators in STEPS.values()]
    plain, attention, layer_norm, last, group_norm, gelu, packed, bias = found
    assert (plain["Softmax"], attention["Softmax"], attention["MultiHeadAttention"]) == (32, 0, 32)
    assert layer_norm["SkipLayerNormalization"] == 31
    assert (layer_norm["Conv"], last["Conv"], last["NhwcConv"]) == (98, 0, 98)
    assert (last["InstanceNormalization"], group_norm["InstanceNormalization"]) == (61, 0)
    assert gelu["BiasSplitGelu"] == 16
    assert gelu["FusedMatMul"] - packed["FusedMatMul"] == 2 * 16 + 16
    assert packed["Add"] - bias["Add"] == 2 * 17
    assert STEPS.keys() >= PUBLISHED_S.keys()
    assert bias == full_size(OPERATORS)


@every_step
def test_every_product_is_written_exactly_once(operators: OperatorSet) -> None:
    """Each weight is read by one node, and every value by some."""
    for emit in NETWORKS.values():
        written = nodes(emit, operators)
        read = Counter(name for node in written for name in node.input)
        weights = {name for name in random_weights(emit) if name.endswith("weight")}
        assert max(read[name] for name in weights) == 1
        unread = {name for node in written for name in node.output if name and not read[name]}
        sums = {name for name in unread if name.startswith("Skip")}
        assert len(unread - sums) == 1  # the network's own output


def test_single_precision_has_no_packed_heads_and_no_casts() -> None:
    emit = NETWORKS["unet"]
    single, half = kinds(emit, OPERATORS, DType.F32), kinds(emit, OPERATORS)
    assert single["Cast"] == 0
    assert half["FusedMatMul"] < single["FusedMatMul"]


# --- sizes that a kernel refuses ---


def test_gelu_is_split_only_in_widths_with_a_kernel() -> None:
    def emit(g: GraphBuilder, width: int) -> None:
        x = g.from_planes(g.input("x", DType.F32, ("batch", 8, "height", "width")))
        y = g.geglu(g.to_tokens(x, 8), "l", (8, width))
        g.output(y, "y", DType.F32, ("batch", "tokens", width))

    for width in (1280, 2560, 5120):
        assert kinds(partial(emit, width=width), OPERATORS)["BiasSplitGelu"] == 1
    for width in (640, 1281, 3072):
        assert kinds(partial(emit, width=width), OPERATORS)["BiasSplitGelu"] == 0


@pytest.mark.parametrize(
    ("channels", "groups", "has"),
    [
        *((320, 32, True), (128, 32, True), (2560, 32, True), (32, 32, False), (96, 32, False)),
        *((512, 1, True), (514, 1, False)),
    ],
)
def test_group_norm_is_fused_only_in_sizes_with_a_kernel(
    channels: int, groups: int, has: bool
) -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.from_planes(g.input("x", DType.F32, ("batch", channels, "height", "width")))
        y = g.to_planes(g.norm_silu(x, "norm", channels, groups))
        g.output(y, "y", DType.F32, ("batch", channels, "height", "width"))

    found = kinds(emit, OPERATORS)
    assert (found["GroupNorm"], found["InstanceNormalization"]) == (int(has), int(not has))
    assert limits.normalises(channels, groups) is has


@pytest.mark.parametrize(
    ("heads", "element", "inputs"),
    [(8, DType.F16, [1, 2]), (16, DType.F16, [3, 3]), (8, DType.F32, [3, 3])],
)
def test_heads_are_packed_only_where_a_kernel_takes_them(
    heads: int, element: DType, inputs: list[int]
) -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.cast_to_element(g.input("x", DType.F32, ("batch", "tokens", 64)))
        text = g.cast_to_element(g.input("text", DType.F32, ("batch", "words", 64)))
        for place, source in enumerate((x, text)):
            names = (f"{place}.q", f"{place}.k", f"{place}.v")
            x = g.attend(x, source, Projections(names, 64, 64, heads, bias=False))
        g.output(x, "y", DType.F32, ("batch", "tokens", 64))

    found = [n for n in nodes(emit, OPERATORS, element) if n.op_type == "MultiHeadAttention"]
    assert [len(node.input) for node in found] == inputs


def test_incompatible_forms_are_refused() -> None:
    with pytest.raises(ValueError, match="channels last"):
        OperatorSet(opset=20, group_norm=GroupNormForm.FUSED)
    with pytest.raises(ValueError, match="planes"):
        msgspec.structs.replace(OPERATORS, upsampling=UpsamplingForm.TRANSPOSED)


# --- sums ---


def test_a_sum_that_nothing_takes_in_is_written_once_before_it_is_read() -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("batch", "tokens", 8))
        y = g.add(g.linear(x, "l", (8, 8)), x)
        z = g.op("Concat", y, y, axis=2)
        g.output(g.op("Concat", z, y, axis=2), "z", DType.F32, ("batch", "tokens", 24))

    operators = msgspec.structs.replace(OPERATORS, residual=ResidualForm.ADD)
    expected = ["FusedMatMul", "Add", "Add", "Concat", "Concat", "Identity"]
    assert [node.op_type for node in nodes(emit, operators, DType.F32)] == expected
    assert kinds(emit, OPERATORS, DType.F32)["BiasAdd"] == 1


def test_a_sum_taken_in_is_read_from_the_node_that_took_it() -> None:
    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("batch", "tokens", 8))
        y = g.add(x, g.linear(x, "l", (8, 8)))
        z = g.layer_norm(y, "norm", 8)
        g.output(g.add(y, z), "z", DType.F32, ("batch", "tokens", 8))

    product, norm, total, _ = nodes(emit, OPERATORS, DType.F32)
    assert list(norm.input) == [product.output[0], "x", "norm.weight", "norm.bias", "l.bias"]
    assert [bool(name) for name in norm.output] == [True, False, False, True]
    assert list(total.input) == [norm.output[3], norm.output[0]]


# --- weights ---


def test_projections_are_packed_as_onnx_runtimes_own_optimizer_packs_them() -> None:
    """onnxruntime/transformers/fusion_attention_unet.py: dstack of [in, heads, head width]."""
    random = np.random.default_rng(0)
    heads, width, inner = 3, 4, 5
    parts: list[Array] = [random.standard_normal((heads * width, inner)) for _ in range(3)]
    for count in (2, 3):
        by_head = [part.T.reshape(inner, heads, width) for part in parts[:count]]
        expected = np.dstack(by_head).reshape(inner, heads * count * width)
        out = np.empty((count * heads * width, inner))
        packed_per_head(heads)(parts[:count], out)
        np.testing.assert_array_equal(out.T, expected)


def test_kernels_are_reordered_as_onnx_runtimes_own_optimizer_does() -> None:
    """fusion_nhwc_conv.py: transpose(0, 2, 3, 1)."""
    kernel = np.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    out = np.empty((2, 4, 5, 3), np.float16)
    channels_last([kernel], out)
    np.testing.assert_array_equal(out, kernel.transpose(0, 2, 3, 1))


# --- that ONNX Runtime accepts them ---


def refusal(model: ModelProto, graph: Graph) -> str:
    """ONNX Runtime's refusal of a graph; nothing where its processor has every kernel."""
    buffers = WeightBuffers(msgspec.structs.replace(graph, model=model.SerializeToString()))
    options = ort.SessionOptions()
    options.log_severity_level = 4
    # Schemas are checked before anything is optimized.
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    add_weights(options, buffers)
    try:
        ort.InferenceSession(buffers.model, options, providers=["CPUExecutionProvider"])
    except (runtime.Fail, runtime.InvalidGraph, runtime.NotImplemented) as error:
        return f"{type(error).__name__} {error}"
    return ""


@pytest.mark.parametrize(
    "name", thinned(NETWORKS, NETWORKS.keys() - {"unet", "unet for even sizes"})
)
@every_step
def test_every_node_fits_its_schema(operators: OperatorSet, name: str) -> None:
    for element in (DType.F16, DType.F32):
        graph = network(name, operators, element, Precision[element.name])
        model = ModelProto.FromString(graph.model)
        found = {node.op_type for node in model.graph.node} & FUSED
        said = refusal(model, graph)
        if found:
            assert said.startswith("NotImplemented")
            assert any(kind in said for kind in found)
        else:
            assert said == ""


def without_groups(node: NodeProto) -> None:
    kept = [a for a in node.attribute if a.name != "groups"]
    del node.attribute[:]
    node.attribute.extend(kept)


def with_another_attribute(node: NodeProto) -> None:
    node.attribute.append(helper.make_attribute("channels_first", 1))


def without_scale(node: NodeProto) -> None:
    del node.input[1:]


def with_shape_for_scale(node: NodeProto) -> None:
    node.input[1] = "shape"


@pytest.mark.parametrize(
    "spoil", [without_groups, with_another_attribute, without_scale, with_shape_for_scale]
)
def test_a_node_that_does_not_fit_its_schema_is_noticed(spoil: Callable[[NodeProto], None]) -> None:
    graph = network("vae decoder", OPERATORS)
    model = ModelProto.FromString(graph.model)
    model.graph.initializer.append(helper.make_tensor("shape", TensorProto.INT64, [1], [1]))
    spoil(next(node for node in model.graph.node if node.op_type == "GroupNorm"))
    assert not refusal(model, graph).startswith("NotImplemented")
    assert refusal(model, graph)


def test_scales_are_converted_once_when_a_graph_is_loaded(tmp_path: Path) -> None:
    """GroupNorm takes them in single precision: the cast must not be there at run time."""

    def emit(g: GraphBuilder) -> None:
        x = g.input("x", DType.F32, ("batch", 8))
        y = g.op("Mul", x, g.cast(g.weight("scale.weight", (8,)), DType.F32))
        g._emit("Identity", (y,), ("y",))  # pyright: ignore[reportPrivateUsage]
        g._outputs.append(msgspec.structs.replace(g._inputs[0], name="y"))  # pyright: ignore[reportPrivateUsage]

    graph = graph_in_memory(emit, random_weights(emit), OPERATORS, DType.F16)
    buffers, options = WeightBuffers(graph), ort.SessionOptions()
    add_weights(options, buffers)
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    ort.InferenceSession(buffers.model, options, providers=["CPUExecutionProvider"])
    loaded = ModelProto.FromString((tmp_path / "optimized.onnx").read_bytes())
    assert [node.op_type for node in loaded.graph.node] == ["Mul"]
