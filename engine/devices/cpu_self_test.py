"""Self-test of the processor: a small network compared with the same arithmetic in NumPy.

Every other device is compared with the processor, so the processor itself needs an independent
check.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from backends.base import Array, Backend, ComputedArray, Device, DType, FileSlice, Graph, Precision
from engine.cancel import CancelToken
from engine.graphs.operators import GraphBuilder

_CHANNELS, _WIDTH, _HEADS, _SIDE = 4, 32, 4, 16
_INPUT, _OUTPUT = "image", "result"
_Weights = Mapping[str, Array]


def difference_from_numpy(backend: Backend, device: Device) -> float:
    """Return the relative error of a device's float32 result, measured against NumPy's.

    Raises BackendError.
    """
    weights, image = _sample()
    expected = _compute(weights, image)
    session = backend.load(
        _graph(backend, device, weights), None, device, lambda _done: None, CancelToken()
    )
    try:
        result = session.run({_INPUT: image})[_OUTPUT]
    finally:
        session.close()
    return float(np.linalg.norm(result - expected) / np.linalg.norm(expected))


def _sample() -> tuple[dict[str, Array], Array]:
    """Return random weights that keep activations near unit size, and an input."""
    random = np.random.default_rng(0)

    def normal(*shape: int) -> Array:
        inputs = int(np.prod(shape[1:]))
        return random.standard_normal(shape, np.float32) / np.float32(np.sqrt(inputs))

    weights = {
        "conv.weight": normal(_WIDTH, _CHANNELS, 3, 3),
        "conv.bias": normal(_WIDTH),
        "norm.weight": normal(_WIDTH),
        "norm.bias": normal(_WIDTH),
        "mix.weight": normal(_WIDTH, _WIDTH),
        "mix.bias": normal(_WIDTH),
    }
    return weights, random.standard_normal((1, _CHANNELS, _SIDE, _SIDE), np.float32)


def _graph(backend: Backend, device: Device, weights: _Weights) -> Graph:
    """Build a graph of the usual layers: convolution, norm, attention and a linear layer."""
    # Emitting asks for shapes only; the numbers are bound from memory below.
    listed = {n: FileSlice(Path(n), 0, DType.F32, array.shape) for n, array in weights.items()}
    g = GraphBuilder("cpu_self_test", listed, backend.operators(device), DType.F32, Precision.F32)
    image = g.input(_INPUT, DType.F32, ("batch", _CHANNELS, "height", "width"))
    x = g.silu(g.conv(image, "conv", (_CHANNELS, _WIDTH)))
    tokens = g.layer_norm(g.to_tokens(x, _WIDTH), "norm", _WIDTH)
    tokens = g.attention(tokens, tokens, tokens, _HEADS, _WIDTH // _HEADS)
    tokens = g.linear(tokens, "mix", (_WIDTH, _WIDTH))
    result = g.op("Add", g.to_image(tokens, x), x)
    g.output(result, _OUTPUT, DType.F32, ("batch", _WIDTH, "height", "width"))
    return g.build({name: ComputedArray(array, DType.F32) for name, array in weights.items()})


def _compute(weights: _Weights, image: Array) -> Array:
    """Compute the same network in NumPy, for one picture."""
    padded = np.pad(image[0], ((0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(padded, (3, 3), (1, 2))
    x = np.einsum("chwij,ocij->hwo", windows, weights["conv.weight"]) + weights["conv.bias"]
    x = (x / (1 + np.exp(-x))).reshape(-1, _WIDTH)
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    tokens = (x - mean) / np.sqrt(variance + 1e-5) * weights["norm.weight"] + weights["norm.bias"]
    heads = tokens.reshape(len(tokens), _HEADS, -1)
    scores = np.einsum("qhd,khd->hqk", heads, heads) / np.sqrt(_WIDTH // _HEADS)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    mixed = np.einsum("hqk,khd->qhd", shares, heads).reshape(tokens.shape)
    result = mixed @ weights["mix.weight"].T + weights["mix.bias"] + x
    return result.T.reshape(1, _WIDTH, _SIDE, _SIDE)
