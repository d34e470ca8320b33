"""Whether a device computes: a small real network, compared with the same sums in NumPy."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from backends.base import Array, Backend, ComputedArray, Device, DType, FileSlice, Graph, Precision
from backends.registry import BACKENDS
from engine.compile.compiler import translated_errors
from engine.errors import EngineError
from engine.graphs.operators import GraphBuilder
from engine.jobs.cancel import CancelToken

_CHANNELS, _WIDTH, _HEADS, _SIDE = 4, 32, 4, 16
# Largest difference from NumPy's result, relative to its length.
_TOLERANCES = {Precision.F32: 1e-3, Precision.BF16: 0.05, Precision.F16: 0.01}
_INPUT, _OUTPUT = "image", "result"
_Weights = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a device can be used, and why."""

    usable: bool
    reason: str


def devices_to_verify() -> list[tuple[Backend, Device]]:
    """Every device that calls itself usable and that "auto" may choose, the preferred first."""
    return [
        (backend, device)
        for backend in (reference.create() for reference in BACKENDS if reference.automatic)
        for device in backend.probe()
        if device.usable and device.automatic
    ]


def verify(backend: Backend, device: Device) -> Verdict:
    """Have the device compute the network in each of its precisions."""
    weights, image = _sample()
    expected = _compute(weights, image)
    differences: list[str] = []
    for precision in device.precisions:
        try:
            result = _run(backend, device, precision, weights, image)
        except EngineError as error:
            return Verdict(False, f"It failed in {precision.value}: {error.detail}")
        difference = float(np.linalg.norm(result - expected) / np.linalg.norm(expected))
        if not difference < _TOLERANCES[precision]:  # not a number is not either
            return Verdict(False, f"It computes wrongly in {precision.value}.")
        differences.append(f"{precision.value} to {difference:.0e}")
    return Verdict(True, f"It computes rightly: {', '.join(differences)}.")


def _run(
    backend: Backend, device: Device, precision: Precision, weights: _Weights, image: Array
) -> Array:
    cancel = CancelToken()
    graph = _graph(backend, device, precision, weights)
    with translated_errors(device):
        session = backend.load(graph, None, device, lambda _done: None, cancel)
        try:
            return session.run({_INPUT: image})[_OUTPUT].astype(np.float32)
        finally:
            session.close()


def _sample() -> tuple[dict[str, Array], Array]:
    """Random weights that keep activations near unit size, and an input."""
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


def _graph(backend: Backend, device: Device, precision: Precision, weights: _Weights) -> Graph:
    """What diffusion networks are made of: convolution, norm, attention, a linear layer."""
    # Emitting asks for shapes only; the numbers are bound from memory below.
    listed = {n: FileSlice(Path(n), 0, DType.F32, array.shape) for n, array in weights.items()}
    g = GraphBuilder("verify", listed, backend.operators(device), DType.F32, precision)
    image = g.input(_INPUT, DType.F32, ("batch", _CHANNELS, "height", "width"))
    x = g.silu(g.conv(image, "conv", (_CHANNELS, _WIDTH)))
    tokens = g.layer_norm(g.to_tokens(x, _WIDTH), "norm", _WIDTH)
    tokens = g.attention(tokens, tokens, tokens, _HEADS, _WIDTH // _HEADS)
    tokens = g.linear(tokens, "mix", (_WIDTH, _WIDTH))
    result = g.op("Add", g.to_image(tokens, x), x)
    g.output(result, _OUTPUT, DType.F32, ("batch", _WIDTH, "height", "width"))
    return g.build({name: ComputedArray(array, DType.F32) for name, array in weights.items()})


def _compute(weights: _Weights, image: Array) -> Array:
    """The same network in NumPy, for one picture."""
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
