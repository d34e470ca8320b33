"""Layers that an embedding modulates: adaLN-Zero (Peebles & Xie 2023, section 3.2).

One is added to scales where they are made, not where they are used: OpenVINO would begin what it
joins with that sum, and run what makes the modulations of all blocks first. Its buffers of later
blocks then do not take those of earlier ones (docs/memory.md).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

EPSILON = 1e-6


def modulations(
    g: GraphBuilder, embedding: Value, name: str, width: int, count: int, *, bias: bool = True
) -> list[Value]:
    """Emit `count` vectors of a linear layer of an embedding [contexts, width].

    Each is [contexts, 1, width]. They are shifts, scales to which one is added, and gates, in turn;
    or one that is none of them.
    """
    every = g.linear(embedding, name, (width, count * width), bias=bias)
    if count > 1:
        every = g.op("Add", every, g.constant(np.repeat(ones_for_scales(count), width)))
    every = g.op("Reshape", every, g.integers([0, 1, count * width]))
    if count == 1:
        return [every]
    cuts = [(g.integers([width * i]), g.integers([width * (i + 1)])) for i in range(count)]
    return [g.op("Slice", every, *cut, g.integers([2])) for cut in cuts]


def ones_for_scales(count: int) -> NDArray[np.float32]:
    """Return what is added to `count` shifts, scales and gates, in turn: one for scales."""
    return np.tile(np.array([0, 1, 0], np.float32), count // 3)


def modulated(g: GraphBuilder, x: Value, width: int, shift: Value, scale: Value) -> Value:
    """Emit a norm without weights of its own, whose result is scaled and shifted.

    One is in `scale` already.
    """
    normal = g.plain_layer_norm(x, width, EPSILON)
    return g.op("Add", g.op("Mul", normal, scale), shift)


def gated(g: GraphBuilder, x: Value, h: Value, gate: Value) -> Value:
    """Emit a residual that a gate multiplies."""
    return g.op("Add", x, g.op("Mul", h, gate))


def widened(
    g: GraphBuilder,
    x: Value,
    name: str,
    widths: tuple[int, int],
    shift_scale_gate: Sequence[Value],
) -> Value:
    """Emit an MLP of `widths`, outer and inner, and its residual."""
    shift, scale, gate = shift_scale_gate
    h = modulated(g, x, widths[0], shift, scale)
    h = g.gelu_tanh(g.linear(h, f"{name}.net.0.proj", widths))
    h = g.linear(h, f"{name}.net.2", (widths[1], widths[0]))
    return gated(g, x, h, gate)


def embedded(g: GraphBuilder, x: Value, kind: str, inner: int, width: int) -> Value:
    """Embed a timestep, a guidance or a pooled text, `inner` numbers wide, by a two-layer MLP."""
    layers = f"time_text_embed.{kind}_embedder.linear_"
    h = g.silu(g.linear(g.cast_to_element(x), f"{layers}1", (inner, width)))
    return g.linear(h, f"{layers}2", (width, width))
