"""The encoder of T5 v1.1 (Raffel et al. 2020; Shazeer 2020), as Hugging Face names it."""

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

# The vectors of tokens, of which a run looks up a few.
TOKEN_TABLE = "shared.weight"
# Distances from here on share a bucket (`relative_attention_max_distance`).
_FAR = 128
# The last projection's results exceed float16's range: they are computed divided by this.
_DIVISOR = 64.0
EPSILON = 1e-6


class T5Config(msgspec.Struct, frozen=True):
    """Sizes of a T5 encoder; `buckets` are those of the distances between tokens."""

    vocabulary: int
    width: int
    heads: int
    head_width: int
    mlp_width: int
    layers: int
    buckets: int = 32
    epsilon: float = EPSILON


def t5_encoder(g: GraphBuilder, config: T5Config, *, masked: bool = False) -> None:
    """Emit the network: tokens int64 [batch, tokens] to last_hidden_state [batch, tokens, width].

    The input `buckets`, int64 [tokens, tokens], is `position_buckets`. All tokens attend to all, so
    those that fill a row do, too. With `masked`, an input key_bias float32 [batch, 1, 1, tokens] is
    added to the scores. Where the graph is in float16, the sum of all layers is in float32, as
    in transformers, which keeps the last projection in float32.
    """
    tokens = g.input("tokens", DType.I64, ("batch", "tokens"))
    table = g.weight(TOKEN_TABLE, (config.vocabulary, config.width))
    x = _wide(g, g.op("Gather", table, tokens))
    bias = _position_bias(g, config)
    if masked:
        keys = g.input("key_bias", DType.F32, ("batch", 1, 1, "tokens"))
        bias = g.op("Add", bias, g.cast_to_element(keys))
    for layer in range(config.layers):
        x = _layer(g, x, config, f"encoder.block.{layer}.layer", bias)
    x = g.rms_norm(x, "encoder.final_layer_norm", config.width, config.epsilon)
    g.output(x, "last_hidden_state", DType.F32, ("batch", "tokens", config.width))


def position_buckets(tokens: int, buckets: int = 32) -> NDArray[np.int64]:
    """Return the bucket of the distance from each token to each other: int64 [tokens, tokens].

    Half of the buckets are for tokens that follow. In each half short distances have buckets of
    their own, and longer ones share them by their logarithm (transformers `T5Attention`,
    `_relative_position_bucket`, whose float32 arithmetic decides at the borders).
    """
    places = np.arange(tokens, dtype=np.int64)
    distance = places[None, :] - places[:, None]
    half = buckets // 2
    exact = half // 2
    away = np.abs(distance)
    ratio = np.log(np.maximum(away, 1).astype(np.float32) / np.float32(exact))
    steps = ratio / np.float32(math.log(_FAR / exact)) * np.float32(half - exact)
    shared = np.minimum(exact + steps.astype(np.int64), half - 1)
    return np.where(away < exact, away, shared) + half * (distance > 0)


def _position_bias(g: GraphBuilder, config: T5Config) -> Value:
    """Return what is added to the scores of every layer: [1, heads, tokens, tokens]."""
    buckets = g.input("buckets", DType.I64, ("tokens", "tokens"))
    name = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    biases = g.op("Gather", g.weight(name, (config.buckets, config.heads)), buckets)
    by_head = g.op("Transpose", biases, perm=[2, 0, 1])
    return g.op("Unsqueeze", by_head, g.integers([0]))


def _layer(g: GraphBuilder, x: Value, config: T5Config, name: str, bias: Value) -> Value:
    width, inner = config.width, config.heads * config.head_width
    h = g.rms_norm(x, f"{name}.0.layer_norm", width, config.epsilon)
    q, k, v = (
        g.linear(h, f"{name}.0.SelfAttention.{part}", (width, inner), bias=False) for part in "qkv"
    )
    # T5's scores are not divided by the root of the head's width.
    q = g.op("Mul", q, g.constant(config.head_width**0.5))
    mixed = g.attention(q, k, v, config.heads, config.head_width, score_bias=bias)
    mixed = g.linear(mixed, f"{name}.0.SelfAttention.o", (inner, width), bias=False)
    x = g.op("Add", x, _wide(g, mixed))
    h = g.rms_norm(x, f"{name}.1.layer_norm", width, config.epsilon)
    return g.op("Add", x, _feed_forward(g, h, config, f"{name}.1.DenseReluDense"))


def _feed_forward(g: GraphBuilder, x: Value, config: T5Config, name: str) -> Value:
    """Emit the gated feed-forward part; its result is in float32 where the graph is in float16."""
    sizes = (config.width, config.mlp_width)
    gate = g.gelu_tanh(g.linear(x, f"{name}.wi_0", sizes, bias=False))
    h = g.op("Mul", gate, g.linear(x, f"{name}.wi_1", sizes, bias=False))
    out = (config.mlp_width, config.width)
    if g.element is not DType.F16:
        return g.linear(h, f"{name}.wo", out, bias=False)
    h = g.op("Mul", h, g.constant(1 / _DIVISOR))
    y = _wide(g, g.linear(h, f"{name}.wo", out, bias=False))
    return g.op("Mul", y, g.constant(_DIVISOR, DType.F32))


def _wide(g: GraphBuilder, x: Value) -> Value:
    return g.cast(x, DType.F32) if g.element is DType.F16 else x
