"""IP-Adapter (Ye et al. 2023): what CLIP sees in a picture, as keys and values for a denoiser.

A projection turns the picture's embedding or states into a few tokens as wide as the text's; one
pair of linear layers for each layer of the denoiser makes keys and values of them. Weights are
named as diffusers names them (`ImageProjection`, `IPAdapterFullImageProjection`,
`IPAdapterPlusImageProjection`); those of a denoiser's layer by its name.
"""

from collections.abc import Sequence

import msgspec

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.image_prompts import AttendingLayer
from engine.graphs.operators import GraphBuilder

_HEAD_WIDTH = 64
TOKENS = "tokens"


class LinearProjection(msgspec.Struct, frozen=True):
    """One linear layer from the picture's embedding to some tokens, and a norm: IP-Adapter."""

    tokens: int


class FullProjection(msgspec.Struct, frozen=True):
    """An MLP for each of the picture's states, and a norm: IP-Adapter full face."""


class Resampler(msgspec.Struct, frozen=True):
    """Learnt queries that attend to the picture's states: IP-Adapter Plus.

    A perceiver resampler (Alayrac et al. 2022), whose `layers` are `width` wide and have `heads`
    heads of 64.
    """

    tokens: int
    width: int
    mlp_width: int
    layers: int
    heads: int


Projection = LinearProjection | FullProjection | Resampler


class IpAdapterConfig(msgspec.Struct, frozen=True):
    """Sizes of an adapter: the width of what CLIP gives, that of tokens, and the projection."""

    seen_width: int
    context_width: int
    projection: Projection

    @property
    def sees_states(self) -> bool:
        """True if the adapter is shown CLIP's states, False if the picture's embedding."""
        return not isinstance(self.projection, LinearProjection)

    def tokens(self, seen_tokens: int) -> int:
        """Return the number of tokens that an encoder's `seen_tokens` states become."""
        if isinstance(self.projection, FullProjection):
            return seen_tokens
        return self.projection.tokens


def keys_output(width: int) -> str:
    """Return the output with the keys of the layers of a width."""
    return f"keys_{width}"


def values_output(width: int) -> str:
    """Return the output with the values of the layers of a width."""
    return f"values_{width}"


def ip_adapter(
    g: GraphBuilder, config: IpAdapterConfig, layers: Sequence[AttendingLayer], seen_tokens: int
) -> None:
    """Emit the network: what CLIP sees to keys and values for the `layers` of a denoiser.

    The input `seen` is float32 [batch, seen_tokens, seen_width], or [batch, seen_width] where the
    adapter is shown the embedding. Outputs are `tokens`, float32 [batch, tokens, context_width],
    and for each width of layers keys and values, float32 [layers, batch, tokens, width].
    """
    places = (seen_tokens,) if config.sees_states else ()
    seen = g.input("seen", DType.F32, ("batch", *places, config.seen_width))
    tokens = _projected(g, g.cast_to_element(seen), config)
    count = config.tokens(seen_tokens)
    g.output(tokens, TOKENS, DType.F32, ("batch", count, config.context_width))
    widths: dict[int, list[AttendingLayer]] = {}
    for layer in layers:
        widths.setdefault(layer.width, []).append(layer)
    for width, same in widths.items():
        sizes, shape = (config.context_width, width), (len(same), "batch", count, width)
        for kind, name in (("to_k_ip", keys_output(width)), ("to_v_ip", values_output(width))):
            made = (
                g.linear(tokens, f"{adapter.name}.{kind}", sizes, bias=False) for adapter in same
            )
            rows = [g.op("Reshape", rows, g.integers([1, -1, count, width])) for rows in made]
            joined = g.op("Concat", *rows, axis=0) if len(rows) > 1 else rows[0]
            g.output(joined, name, DType.F32, shape)


def _projected(g: GraphBuilder, seen: Value, config: IpAdapterConfig) -> Value:
    """Emit the tokens [batch, tokens, context_width]."""
    projection, width = config.projection, config.context_width
    match projection:
        case LinearProjection():
            wide = g.linear(seen, "image_embeds", (config.seen_width, projection.tokens * width))
            tokens = g.op("Reshape", wide, g.integers([-1, projection.tokens, width]))
            return g.layer_norm(tokens, "norm", width)
        case FullProjection():
            h = g.linear(seen, "ff.net.0.proj", (config.seen_width, config.seen_width))
            h = g.linear(g.gelu(h), "ff.net.2", (config.seen_width, width))
            return g.layer_norm(h, "norm", width)
        case Resampler():
            return _resampled(g, seen, config, projection)


def _resampled(g: GraphBuilder, seen: Value, config: IpAdapterConfig, sizes: Resampler) -> Value:
    width = sizes.width
    seen_wide = g.linear(seen, "proj_in", (config.seen_width, width))
    latents = g.weight("latents", (1, sizes.tokens, width))
    batch = g.op("Shape", seen, start=0, end=1)
    x = g.repeat_batch(latents, 3, batch)
    for layer in range(sizes.layers):
        name = f"layers.{layer}"
        x = g.op("Add", x, _attended(g, x, seen_wide, name, sizes))
        h = g.layer_norm(x, f"{name}.ff.0", width)
        h = g.gelu(g.linear(h, f"{name}.ff.1.net.0.proj", (width, sizes.mlp_width), bias=False))
        h = g.linear(h, f"{name}.ff.1.net.2", (sizes.mlp_width, width), bias=False)
        x = g.op("Add", x, h)
    x = g.linear(x, "proj_out", (width, config.context_width))
    return g.layer_norm(x, "norm_out", config.context_width)


def _attended(g: GraphBuilder, x: Value, seen: Value, name: str, sizes: Resampler) -> Value:
    """Emit the attention of the queries to the picture's states and to themselves."""
    width, inner = sizes.width, sizes.heads * _HEAD_WIDTH
    states = g.layer_norm(seen, f"{name}.ln0", width)
    queries = g.layer_norm(x, f"{name}.ln1", width)
    both = g.op("Concat", states, queries, axis=1)
    q = g.linear(queries, f"{name}.attn.to_q", (width, inner), bias=False)
    k = g.linear(both, f"{name}.attn.to_k", (width, inner), bias=False)
    v = g.linear(both, f"{name}.attn.to_v", (width, inner), bias=False)
    mixed = g.attention(q, k, v, sizes.heads, _HEAD_WIDTH)
    return g.linear(mixed, f"{name}.attn.to_out.0", (inner, width), bias=False)
