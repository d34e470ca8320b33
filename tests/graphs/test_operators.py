"""Every form of an operator computes the same, which is what NumPy computes."""

from collections.abc import Callable, Sequence
from math import erf

import numpy as np
import pytest
from onnx import ModelProto

from backends.base import Array, AttentionKernels, DType, OperatorSet
from backends.cpu import CpuBackend
from backends.forms import AttentionForm, GeluForm, GroupNormForm, LinearForm, UpsamplingForm
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from tests.backends.samples import NeverCancelled, ignore
from tests.graphs.networks import graph_in_memory

RANDOM = np.random.default_rng(3)


def drawn(*shape: int) -> Array:
    return RANDOM.standard_normal(shape, np.float32)


def run(
    operators: OperatorSet,
    feeds: dict[str, Array],
    emit: Callable[[GraphBuilder, Sequence[Value]], Value],
    weights: dict[str, Array] | None = None,
) -> Array:
    """Run a network of one output on ONNX Runtime; every axis of every input may vary."""

    def network(g: GraphBuilder) -> None:
        inputs = [
            g.input(name, DType.F32, tuple(f"{name}{axis}" for axis in range(array.ndim)))
            for name, array in feeds.items()
        ]
        y = emit(g, inputs)
        g.output(y, "y", DType.F32, ("any",))

    graph = graph_in_memory(network, weights or {}, operators)
    backend = CpuBackend()
    session = backend.load(graph, None, backend.probe()[0], ignore, NeverCancelled())
    return session.run(feeds)["y"]


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@pytest.mark.parametrize("form", AttentionForm)
@pytest.mark.parametrize("keys", [9, 5])
def test_attention_equals_the_formula_in_numpy(form: AttentionForm, keys: int) -> None:
    """Three heads of four, in a batch of two, to as many keys as queries or fewer."""
    q, k, v = drawn(2, 9, 12), drawn(2, keys, 12), drawn(2, keys, 12)
    result = run(
        OperatorSet(opset=23, attention=form),
        {"q": q, "k": k, "v": v},
        lambda g, qkv: g.attention(qkv[0], qkv[1], qkv[2], 3, 4),
    )
    expected = np.empty_like(q)
    for head in range(3):
        part = np.s_[:, :, 4 * head : 4 * head + 4]
        scores = q[part] @ k[part].transpose(0, 2, 1) / 2
        expected[part] = softmax(scores) @ v[part]
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize(
    ("kernels", "native"),
    [
        (None, True),
        (AttentionKernels((DType.F32,), (4, 4)), True),
        (AttentionKernels((DType.F32,), (5, 256)), False),
        (AttentionKernels((DType.F32,), (1, 3)), False),
        (AttentionKernels((DType.F16, DType.BF16), (1, 256)), False),
    ],
)
def test_attention_without_a_kernel_is_primitive(
    kernels: AttentionKernels | None, native: bool
) -> None:
    def network(g: GraphBuilder) -> None:
        qkv = [g.input(name, DType.F32, ("b", "n", 12)) for name in "qkv"]
        g.output(g.attention(qkv[0], qkv[1], qkv[2], 3, 4), "y", DType.F32, ("b", "n", 12))

    operators = OperatorSet(opset=23, attention=AttentionForm.STANDARD, attention_kernels=kernels)
    model = ModelProto.FromString(graph_in_memory(network, {}, operators).model)
    kinds = {node.op_type for node in model.graph.node}
    assert ("Attention" in kinds, "Softmax" in kinds) == (native, not native)


@pytest.mark.parametrize("form", AttentionForm)
def test_causal_attention_sees_no_later_token(form: AttentionForm) -> None:
    q, k, v = drawn(2, 9, 12), drawn(2, 9, 12), drawn(2, 9, 12)

    def causal(keys: Array, values: Array) -> Array:
        return run(
            OperatorSet(opset=23, attention=form),
            {"q": q, "k": keys, "v": values},
            lambda g, qkv: g.attention(qkv[0], qkv[1], qkv[2], 3, 4, causal_over=9),
        )

    result = causal(k, v)
    for token in range(9):
        seen = np.s_[:, : token + 1]
        scores = q[:, token, :4][:, None] @ k[seen][..., :4].transpose(0, 2, 1) / 2
        expected = (softmax(scores) @ v[seen][..., :4])[:, 0]
        np.testing.assert_allclose(result[:, token, :4], expected, rtol=0, atol=2e-6)
    changed_k, changed_v = k.copy(), v.copy()
    changed_k[:, 6:], changed_v[:, 6:] = 50, 50
    np.testing.assert_array_equal(causal(changed_k, changed_v)[:, :6], result[:, :6])


@pytest.mark.parametrize("form", [GroupNormForm.INSTANCE, GroupNormForm.STANDARD])
def test_group_norm_equals_the_formula_in_numpy(form: GroupNormForm) -> None:
    x = 3 * drawn(2, 12, 5, 7) + 2
    weights = {"norm.weight": drawn(12), "norm.bias": drawn(12)}
    operators = OperatorSet(opset=21, group_norm=form)
    result = run(operators, {"x": x}, lambda g, x: g.group_norm(x[0], "norm", 12, 4, 0.1), weights)
    groups = x.reshape(2, 4, -1)
    centred = groups - groups.mean(-1, keepdims=True)
    normal = centred / np.sqrt(groups.var(-1, keepdims=True) + 0.1)
    scale, bias = (weights[name][:, None, None] for name in ("norm.weight", "norm.bias"))
    expected = normal.reshape(x.shape) * scale + bias
    np.testing.assert_allclose(result, expected, rtol=0, atol=5e-6)


def test_layer_norm_equals_the_formula_in_numpy() -> None:
    x = 3 * drawn(2, 5, 12) + 2
    weights = {"norm.weight": drawn(12), "norm.bias": drawn(12)}
    operators = OperatorSet(opset=20)
    result = run(operators, {"x": x}, lambda g, x: g.layer_norm(x[0], "norm", 12, 0.1), weights)
    normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 0.1)
    expected = normal * weights["norm.weight"] + weights["norm.bias"]
    np.testing.assert_allclose(result, expected, rtol=0, atol=5e-6)


@pytest.mark.parametrize("form", GeluForm)
def test_gelu_is_exact(form: GeluForm) -> None:
    x = np.linspace(-6, 6, 101, dtype=np.float32)
    result = run(OperatorSet(opset=20, gelu=form), {"x": x}, lambda g, x: g.gelu(x[0]))
    expected = [value * 0.5 * (1 + erf(value / 2**0.5)) for value in x.astype(float)]
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-6)


def test_silu_and_quick_gelu_equal_their_formulas() -> None:
    x = np.linspace(-6, 6, 101, dtype=np.float32)
    operators = OperatorSet(opset=20)
    for slope, result in (
        (1.0, run(operators, {"x": x}, lambda g, x: g.silu(x[0]))),
        (1.702, run(operators, {"x": x}, lambda g, x: g.quick_gelu(x[0]))),
    ):
        np.testing.assert_allclose(result, x / (1 + np.exp(-slope * x)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("form", LinearForm)
@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_layer_equals_the_formula_in_numpy(form: LinearForm, bias: bool) -> None:
    weights = {"l.weight": drawn(5, 12)} | ({"l.bias": drawn(5)} if bias else {})
    x = drawn(2, 3, 12)
    result = run(
        OperatorSet(opset=20, linear=form),
        {"x": x},
        lambda g, x: g.linear(x[0], "l", (12, 5), bias=bias),
        weights,
    )
    expected = x @ weights["l.weight"].T + weights.get("l.bias", 0)
    np.testing.assert_allclose(result, expected, rtol=0, atol=5e-6)


def test_convolution_pads_and_strides() -> None:
    weights = {"c.weight": drawn(5, 3, 3, 3), "c.bias": drawn(5)}
    x = drawn(1, 3, 6, 8)
    result = run(
        OperatorSet(opset=20),
        {"x": x},
        lambda g, x: g.conv(x[0], "c", (3, 5), stride=2, pads=(0, 0, 1, 1)),
        weights,
    )
    padded = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)))
    assert result.shape == (1, 5, 3, 4)
    window = padded[0, :, 4:7, 6:9]  # the last one reaches into the padding
    expected = (weights["c.weight"] * window).sum((1, 2, 3)) + weights["c.bias"]
    np.testing.assert_allclose(result[0, :, 2, 3], expected, rtol=0, atol=5e-6)


@pytest.mark.parametrize("size", [(3, 4), (5, 7), (6, 8), (9, 13), (1, 1)], ids=str)
def test_resize_like_takes_the_nearest_as_torch_does(size: tuple[int, int]) -> None:
    """Output i is input floor(i * in / out), whatever the ratio."""
    x, like = drawn(2, 3, 3, 4), np.zeros((1, 9, *size), np.float32)
    result = run(
        OperatorSet(opset=20), {"x": x, "like": like}, lambda g, x: g.resize_like(x[0], x[1])
    )
    rows, columns = (np.arange(out) * given // out for out, given in zip(size, (3, 4), strict=True))
    np.testing.assert_array_equal(result, x[:, :, rows][..., columns])


@pytest.mark.parametrize("form", UpsamplingForm)
@pytest.mark.parametrize("size", [(3, 5), (1, 1), (8, 2)], ids=str)
def test_a_doubled_convolution_equals_resize_and_convolution(
    form: UpsamplingForm, size: tuple[int, int]
) -> None:
    """Each output pixel is the kernel over the doubled picture, with zeros around it."""
    # More channels than are summed at once, and not a multiple of them.
    weights = {"c.weight": drawn(37, 3, 3, 3), "c.bias": drawn(37)}
    x = drawn(2, 3, *size)
    result = run(
        OperatorSet(opset=20, upsampling=form),
        {"x": x},
        lambda g, x: g.doubled_conv(x[0], "c", (3, 37)),
        weights,
    )
    doubled = np.pad(x.repeat(2, 2).repeat(2, 3), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(doubled, (3, 3), (2, 3))
    expected = np.einsum("bihwyx,oiyx->bohw", windows, weights["c.weight"])
    expected += weights["c.bias"][:, None, None]
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-5)


def test_a_batch_is_repeated_as_a_whole() -> None:
    x, like = drawn(2, 3, 4), np.zeros((3, 1), np.float32)
    result = run(
        OperatorSet(opset=20),
        {"x": x, "like": like},
        lambda g, x: g.repeat_batch(x[0], 3, g.op("Shape", x[1], start=0, end=1)),
    )
    np.testing.assert_array_equal(result, np.concatenate([x, x, x]))


def test_an_image_survives_the_way_to_tokens_and_back() -> None:
    x = drawn(2, 3, 4, 5)
    tokens = run(OperatorSet(opset=20), {"x": x}, lambda g, x: g.to_tokens(x[0], 3))
    np.testing.assert_array_equal(tokens, x.reshape(2, 3, 20).transpose(0, 2, 1))
    image = run(
        OperatorSet(opset=20), {"x": x}, lambda g, x: g.to_image(g.to_tokens(x[0], 3), x[0])
    )
    np.testing.assert_array_equal(image, x)


@pytest.mark.parametrize("form", LinearForm)
def test_geglu_is_gated_by_its_second_half(form: LinearForm) -> None:
    weights = {"l.weight": drawn(10, 12), "l.bias": drawn(10)}
    x = drawn(2, 3, 12)
    result = run(
        OperatorSet(opset=20, linear=form),
        {"x": x},
        lambda g, x: g.geglu(x[0], "l", (12, 5)),
        weights,
    )
    value, gate = np.split(x @ weights["l.weight"].T + weights["l.bias"], 2, axis=-1)
    gelu = [g * 0.5 * (1 + erf(g / 2**0.5)) for g in gate.astype(float).flat]
    expected = value * np.reshape(gelu, gate.shape)
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("form", GeluForm)
def test_gelu_by_a_hyperbolic_tangent_equals_the_formula_in_numpy(form: GeluForm) -> None:
    x = 3 * drawn(4, 7)
    operators = OperatorSet(opset=20, gelu=form)
    result = run(operators, {"x": x}, lambda g, given: g.gelu_tanh(given[0]))
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    np.testing.assert_allclose(result, 0.5 * x * (1 + np.tanh(inner)), rtol=0, atol=2e-6)


def test_layer_norm_without_weights_equals_the_formula_in_numpy() -> None:
    x = drawn(2, 5, 8) + 3
    result = run(
        OperatorSet(opset=20), {"x": x}, lambda g, given: g.plain_layer_norm(given[0], 8, 1e-6)
    )
    centred = x - x.mean(-1, keepdims=True)
    expected = centred / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-6)


def test_root_mean_square_norm_equals_the_formula_in_numpy() -> None:
    x, weight = drawn(2, 5, 8) + 3, drawn(8)
    result = run(
        OperatorSet(opset=20),
        {"x": x},
        lambda g, given: g.rms_norm(given[0], "norm", 8, 1e-3),
        {"norm.weight": weight},
    )
    expected = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-3) * weight
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-6)
