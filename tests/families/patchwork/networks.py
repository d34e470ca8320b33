"""The networks of Patchwork: a text encoder of bytes, and a transformer over patches of latents."""

import math
from dataclasses import dataclass

import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.attention import Projections

# The end of an axis, as ONNX's Slice has it.
_END = 2**62


@dataclass(frozen=True, slots=True)
class TextConfig:
    """Sizes of the text encoder."""

    vocabulary: int
    width: int
    tokens: int
    layers: int
    heads: int = 4


@dataclass(frozen=True, slots=True)
class DenoiserConfig:
    """Sizes of the denoiser."""

    channels: int
    width: int
    context_width: int
    layers: int
    heads: int = 4


def text_encoder(g: GraphBuilder, config: TextConfig) -> None:
    """Emit the encoder: tokens int64 [batch, tokens] to embeddings float32 [batch, tokens, width].

    The input attention_mask, float32 [batch, tokens], is 1 for a token of the text, 0 for padding.
    """
    width = config.width
    tokens = g.input("tokens", DType.I64, ("batch", config.tokens))
    mask = g.cast_to_element(g.input("attention_mask", DType.F32, ("batch", config.tokens)))
    low = g.op("Add", g.op("Mul", mask, g.constant(1e4)), g.constant(-1e4))
    hidden = g.op("Reshape", low, g.integers([0, 1, 1, config.tokens]))
    table = g.weight("embedding.weight", (config.vocabulary, width))
    places = g.weight("positions.weight", (config.tokens, width))
    x = g.op("Add", g.op("Gather", table, tokens), places)
    for layer in range(config.layers):
        normed = g.layer_norm(x, f"layers.{layer}.norm1", width)
        x = _attended(g, x, normed, f"layers.{layer}", width, config.heads, hidden)
        x = _widened(g, x, g.layer_norm(x, f"layers.{layer}.norm2", width), layer, width)
    x = g.layer_norm(x, "norm", width)
    g.output(x, "embeddings", DType.F32, ("batch", config.tokens, width))


def denoiser(g: GraphBuilder, config: DenoiserConfig) -> None:
    """Emit the network: the flow of a sample float32 [batch, channels, height, width].

    Patches of 2 x 2 latent cells and the tokens of the text attend to each other. The inputs
    timestep_embedding and guidance_embedding are float32 [1, width], see `sinusoids`; context is
    float32 [contexts, tokens, context_width], of a multiple of batch. The output is `prediction`.
    """
    width, channels = config.width, config.channels
    sample = g.input("sample", DType.F32, ("batch", channels, "height", "width"))
    context = g.input("context", DType.F32, ("contexts", "tokens", config.context_width))
    modulation = _modulation(g, width)
    times = g.op("Div", g.op("Shape", context, start=0, end=1), _size(g, sample, 0, 1))
    patches = g.op(
        "Conv",
        g.cast_to_element(sample),
        g.weight("patches.weight", (width, channels, 4, 4)),
        g.weight("patches.bias", (width,)),
        kernel_shape=[4, 4],
        strides=[2, 2],
        pads=[1, 1, 1, 1],
    )
    grid = _size(g, patches, 2, 4)
    flat = g.op("Reshape", patches, g.integers([0, width, -1]))
    image = g.repeat_batch(g.op("Transpose", flat, perm=[0, 2, 1]), 3, times)
    text = g.linear(g.cast_to_element(context), "context", (config.context_width, width))
    x = g.op("Concat", text, image, axis=1)
    for layer in range(config.layers):
        normed = g.layer_norm(x, f"layers.{layer}.norm1", width)
        normed = _modulated(g, normed, modulation, f"layers.{layer}.modulation", width)
        x = _attended(g, x, normed, f"layers.{layer}", width, config.heads)
        x = _widened(g, x, g.layer_norm(x, f"layers.{layer}.norm2", width), layer, width)
    first = _size(g, context, 1, 2)
    x = g.op("Slice", x, first, g.integers([_END]), g.integers([1]))
    x = g.linear(g.layer_norm(x, "norm", width), "out", (width, 4 * channels))
    shape = g.op("Concat", g.integers([0, 4 * channels]), grid, axis=0)
    x = g.op("Reshape", g.op("Transpose", x, perm=[0, 2, 1]), shape)
    x = g.op("DepthToSpace", x, blocksize=2, mode="CRD")
    g.output(x, "prediction", DType.F32, ("contexts", channels, "height", "width"))


def sinusoids(value: float, width: int) -> Array:
    """A timestep in [0, 1000], or a thousand times a guidance, as an input: float32 [1, width]."""
    frequencies = np.exp(-math.log(10000) * np.arange(width // 2) / (width // 2))
    angles = np.float32(value) * frequencies.astype(np.float32)
    return np.concatenate([np.cos(angles), np.sin(angles)])[np.newaxis]


def _modulation(g: GraphBuilder, width: int) -> Value:
    """The embedding of timestep and guidance, [1, width]."""
    added = [
        g.linear(
            g.cast_to_element(g.input(f"{name}_embedding", DType.F32, (1, width))),
            name,
            (width, width),
        )
        for name in ("timestep", "guidance")
    ]
    return g.silu(g.op("Add", *added))


def _modulated(g: GraphBuilder, x: Value, by: Value, name: str, width: int) -> Value:
    """Scaled and shifted (Peebles & Xie 2023, adaLN)."""
    both = g.linear(by, name, (width, 2 * width))
    scale, shift = (
        g.op("Slice", both, g.integers([start]), g.integers([start + width]), g.integers([1]))
        for start in (0, width)
    )
    return g.op("Add", g.op("Mul", x, g.op("Add", scale, g.constant(1.0))), shift)


def _attended(
    g: GraphBuilder,
    x: Value,
    normed: Value,
    name: str,
    width: int,
    heads: int,
    hidden: Value | None = None,
) -> Value:
    names = (f"{name}.q", f"{name}.k", f"{name}.v")
    mixed = g.attend(normed, normed, Projections(names, width, width, heads), score_bias=hidden)
    return g.op("Add", x, g.linear(mixed, f"{name}.mixed", (width, width)))


def _widened(g: GraphBuilder, x: Value, normed: Value, layer: int, width: int) -> Value:
    h = g.gelu(g.linear(normed, f"layers.{layer}.up", (width, 2 * width)))
    return g.op("Add", x, g.linear(h, f"layers.{layer}.down", (2 * width, width)))


def _size(g: GraphBuilder, x: Value, start: int, end: int) -> Value:
    return g.op("Shape", x, start=start, end=end)
