"""ONNX Runtime's fused operators as torch_device computes them: proof that our graphs are right.

Each against ONNX Runtime's published vectors, or against what its documentation says it computes
(docs/ContribOperators.md); then every network written with them, step by step of the ablation,
against ONNX Runtime's processor running the plain graph.
"""
# pyright: basic, reportMissingImports=false
# torch is absent from the environment that is type-checked.

from functools import partial
from math import erf
from pathlib import Path

import msgspec
import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto, TensorProto, helper

pytestmark = pytest.mark.oracle
pytest.importorskip("torch")

from backends.base import (  # noqa: E402
    Array,
    BackendError,
    Device,
    DType,
    Graph,
    OperatorSet,
    Precision,
    TensorSpec,
)
from backends.cpu import CpuBackend  # noqa: E402
from backends.nvidia_cuda import OPERATORS  # noqa: E402
from backends.torch_device import TorchBackend  # noqa: E402
from benchmarks.ablation_steps import STEPS  # noqa: E402
from engine.graphs.clip_text import Activation, clip_text  # noqa: E402
from engine.graphs.unet import timestep_embedding, unet  # noqa: E402
from engine.graphs.vae import vae_decoder, vae_encoder  # noqa: E402
from tests.backends.samples import Target, relative_error  # noqa: E402
from tests.backends.torch_device.onnxruntime_vectors import VECTORS, Vector  # noqa: E402
from tests.graphs.branches import RandomBranches  # noqa: E402
from tests.graphs.networks import (  # noqa: E402
    SMALL_CLIP,
    SMALL_VAE,
    Emit,
    graph_in_memory,
    random_weights,
    small_unet,
    wide_unet,
)

RANDOM = np.random.default_rng(9)
CPU = Device("torch_device", "cpu", "a processor", (Precision.F32,))
MICROSOFT = "com.microsoft"


def drawn(*shape: int) -> Array:
    return RANDOM.standard_normal(shape, np.float32)


def model_of(kind: str, inputs, outputs, attributes, domain: str = MICROSOFT) -> bytes:
    """One node over inputs and outputs that are None where they are left out."""
    given = [f"x{i}" if array is not None else "" for i, array in enumerate(inputs)]
    made = [f"y{i}" if array is not None else "" for i, array in enumerate(outputs)]

    def infos(names, arrays):
        return [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
            for name, array in zip(names, arrays, strict=True)
            if name
        ]

    node = helper.make_node(kind, given, made, domain=domain, **attributes)
    graph = helper.make_graph([node], "one", infos(given, inputs), infos(made, outputs))
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def computed(kind: str, inputs, outputs, **attributes) -> list[Array]:
    """Compute one node with torch_device; the number and shape of `outputs` are checked."""

    def specs(letter: str, arrays):
        return tuple(
            TensorSpec(f"{letter}{i}", DType.F32, array.shape)
            for i, array in enumerate(arrays)
            if array is not None
        )

    model = model_of(kind, inputs, outputs, attributes)
    graph = Graph("one", model, {}, specs("x", inputs), specs("y", outputs), Precision.F32)
    session = Target(TorchBackend(), CPU).load(graph)
    feeds = {f"x{i}": array for i, array in enumerate(inputs) if array is not None}
    return list(session.run(feeds).values())


# --- one operator at a time ---


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v.kind}, {v.source}")
def test_published_vectors_are_reproduced(vector: Vector) -> None:
    results = computed(vector.kind, vector.inputs, vector.outputs, **vector.attributes)
    expected = [output for output in vector.outputs if output is not None]
    for ours, theirs in zip(results, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=vector.tolerance)


@pytest.mark.parametrize("shape", [(2, 6), (2, 1, 1, 6)], ids=str)
def test_a_skip_of_one_number_per_channel_is_added_everywhere(shape: tuple[int, ...]) -> None:
    x, skip = drawn(2, 3, 4, 6), drawn(*shape)
    scale, shift = drawn(6), drawn(6)
    attributes = {"epsilon": 1e-5, "groups": 3, "activation": 0}
    given = (x, scale, shift, skip)
    normal, whole = computed("SkipGroupNorm", given, (x, x), **attributes)
    np.testing.assert_array_equal(whole, x + skip.reshape(2, 1, 1, 6))
    (expected,) = computed("GroupNorm", (whole, scale, shift), (x,), **attributes)
    np.testing.assert_array_equal(normal, expected)


def test_group_norm_ends_with_silu_where_asked() -> None:
    x, scale, shift = drawn(2, 3, 4, 6), drawn(6), drawn(6)
    (plain,) = computed("GroupNorm", (x, scale, shift), (x,), epsilon=1e-5, groups=3, activation=0)
    (silu,) = computed("GroupNorm", (x, scale, shift), (x,), epsilon=1e-5, groups=3, activation=1)
    np.testing.assert_allclose(silu, plain / (1 + np.exp(-plain)), rtol=0, atol=1e-6)


def test_layer_norm_gives_the_sum_it_normalised() -> None:
    """ONNX Runtime's own processor has this operator, and does the same."""
    x, skip, scale, shift, bias = drawn(2, 3, 8), drawn(2, 3, 8), drawn(8), drawn(8), drawn(8)
    given, outputs = (x, skip, scale, shift, bias), (x, None, None, x)
    model = model_of("SkipLayerNormalization", given, outputs, {"epsilon": 1e-5})
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    expected = session.run(None, {f"x{i}": array for i, array in enumerate(given)})
    result = computed("SkipLayerNormalization", given, outputs, epsilon=1e-5)
    for ours, theirs in zip(result, expected, strict=True):
        np.testing.assert_allclose(ours, np.asarray(theirs), rtol=0, atol=2e-6)


def test_bias_split_gelu_is_gated_by_its_right_half() -> None:
    """bias_split_gelu_op_test.cc, GetExpectedResult: left + bias times GELU of right + bias."""
    x, bias = drawn(2, 3, 10), drawn(10)
    left, right = np.split((x + bias).astype(float), 2, -1)
    expected = left * right * 0.5 * (1 + np.vectorize(erf)(right / 2**0.5))
    (result,) = computed("BiasSplitGelu", (x, bias), (left.astype(np.float32),))
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5)


def test_bias_add_adds_product_bias_and_skip() -> None:
    """bias_add_op_test.cc, GetExpectedResult."""
    x, bias, skip = drawn(2, 5, 8), drawn(8), drawn(2, 5, 8)
    (result,) = computed("BiasAdd", (x, bias, skip), (x,))
    np.testing.assert_allclose(result, x + bias + skip, rtol=0, atol=1e-6)


def test_attention_takes_its_inputs_packed_or_not() -> None:
    """multihead_attention_helper.h: [batch, tokens, heads, 3, width], or keys and values with 2.

    Apart, it is compared with ONNX Runtime's own processor, which has that form only.
    """
    q, k, v = drawn(2, 5, 12), drawn(2, 5, 12), drawn(2, 5, 12)
    model = model_of("MultiHeadAttention", (q, k, v), (q,), {"num_heads": 3})
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x0": q, "x1": k, "x2": v})
    heads = [x.reshape(2, 5, 3, 4) for x in (q, k, v)]
    for inputs in ((q, k, v), (q, np.stack(heads[1:], 3)), (np.stack(heads, 3),)):
        (result,) = computed("MultiHeadAttention", inputs, (q,), num_heads=3)
        np.testing.assert_allclose(result, np.asarray(expected), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "inputs", "outputs", "attributes"),
    [
        ("GroupNorm", 3, 1, {"epsilon": 1.0, "groups": 1, "activation": 0, "channels_last": 0}),
        ("SkipLayerNormalization", 4, 2, {"epsilon": 1.0}),
        ("MultiHeadAttention", 3, 1, {"num_heads": 1, "scale": 2.0}),
        ("NhwcConv", 2, 1, {"kernel_shape": [1, 1], "strides": [1, 1], "auto_pad": "VALID"}),
    ],
)
def test_an_unsupported_attribute_is_refused(kind, inputs: int, outputs: int, attributes) -> None:
    array = np.ones((1, 1, 1, 1), np.float32)
    with pytest.raises(BackendError, match=kind):
        computed(kind, [array] * inputs, [array] * outputs, **attributes)


# --- every network ---


class Fused(TorchBackend):
    """torch_device with graphs written for another backend."""

    def __init__(self, operators: OperatorSet) -> None:
        super().__init__()
        self._written = operators

    def operators(self, device: Device) -> OperatorSet:
        return self._written


def check(emit: Emit, feeds: dict[str, Array], operators: OperatorSet, element: DType) -> None:
    """Weights are rounded to the element type, and computed with in single precision."""
    weights = {
        name: array.astype(element.numpy).astype(np.float32)
        for name, array in random_weights(emit).items()
    }
    oracle, fused = CpuBackend(), Fused(operators)
    plain = graph_in_memory(emit, weights, oracle.operators(CPU))
    expected = Target(oracle, oracle.probe()[0]).load(plain).run(feeds)
    graph = graph_in_memory(emit, weights, operators, element)
    result = Target(fused, CPU, Precision.F32, element).load(graph).run(feeds)
    # GELU's and attention's constants are rounded to the element type where they are in the graph.
    model = ModelProto.FromString(graph.model)
    constants = {node.op_type for node in model.graph.node} & {"Erf", "Softmax"}
    allowed = 2e-4 if element is DType.F16 and constants else 1e-5
    for name, array in expected.items():
        assert result[name].shape == array.shape
        assert relative_error(result[name], array) < allowed


UNETS = {
    "sd1": small_unet(),
    "linear_projection": small_unet(linear=True, depth=2),
    "without_text": small_unet(depth=0),
    "wide": wide_unet(),
}
every_step = pytest.mark.parametrize("operators", STEPS.values(), ids=STEPS)
every_element = pytest.mark.parametrize("element", [DType.F16, DType.F32])
# Height and width, and whether every level halves evenly.
SIZES = {(8, 12): True, (13, 10): False}


def check_unet(name: str, size: tuple[int, int], operators: OperatorSet, element: DType) -> None:
    """Two pictures under three contexts each."""
    config = UNETS[name]
    feeds = {
        "sample": drawn(2, 4, *size),
        "timestep_embedding": timestep_embedding(config, 512.5),
        "context": drawn(6, 11, config.context_width),
    }
    emit = partial(unet, config=config, halves_evenly=SIZES[size])
    check(emit, feeds, operators, element)


@every_element
@pytest.mark.parametrize("name", UNETS)
def test_a_unet_of_fused_operators_equals_the_plain_one(name: str, element: DType) -> None:
    for size in SIZES if name != "wide" else [(8, 12)]:
        check_unet(name, size, OPERATORS, element)


@every_step
def test_a_unet_of_each_ablation_step_equals_the_plain_one(operators: OperatorSet) -> None:
    check_unet("sd1", (13, 10), operators, DType.F32)


@every_step
def test_side_branches_of_each_ablation_step_equal_merged_weights(
    operators: OperatorSet, tmp_path: Path
) -> None:
    for config, even in ((small_unet(), False), (wide_unet(), True)):
        emit, strengths = partial(unet, config=config, halves_evenly=even), (1.2, -0.8)
        weights = random_weights(emit)
        branches = RandomBranches(tmp_path, weights)
        merged = graph_in_memory(emit, branches.merged(strengths), operators)
        beside = graph_in_memory(emit, weights, operators, branches=branches.branches)
        feeds = {
            "sample": drawn(2, 4, 8, 12),
            "timestep_embedding": timestep_embedding(config, 512.5),
            "context": drawn(6, 11, config.context_width),
        }
        expected, result = (
            Target(Fused(operators), CPU).load(graph).run(feeds | added)["prediction"]
            for graph, added in (
                (merged, {}),
                (beside, branches.feeds(beside.inputs, strengths)),
            )
        )
        assert relative_error(result, expected) < 1e-5


@every_element
def test_a_vae_of_fused_operators_equals_the_plain_one(element: DType) -> None:
    for size in ((8, 8), (7, 5)):
        latent, side = drawn(2, 4, *size), SMALL_VAE.downscale
        check(partial(vae_decoder, config=SMALL_VAE), {"latent": latent}, OPERATORS, element)
        image = {"image": drawn(2, 3, side * size[0], side * size[1])}
        check(partial(vae_encoder, config=SMALL_VAE), image, OPERATORS, element)


def test_a_text_encoder_of_fused_operators_equals_the_plain_one() -> None:
    for activation in Activation:
        config = msgspec.structs.replace(SMALL_CLIP, activation=activation)
        tokens = RANDOM.integers(0, config.vocabulary, (2, config.positions))
        emit = partial(clip_text, config=config)
        check(emit, {"tokens": tokens}, OPERATORS, DType.F32)
