"""Depth by Depth Anything V2 (Yang et al. 2024): a DINOv2 transformer with the head of DPT.

Sources: github.com/DepthAnything/Depth-Anything-V2 (`depth_anything_v2/`), transformers
`models/depth_anything` and `models/dinov2`. Weights are named as transformers stores them; the
layers of queries, keys and values are three.
"""

import msgspec

from backends.base import DType
from engine.graphs.annotators import planes
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.operators.attention import Projections

PATCH = 14
_EPSILON = 1e-6


class DepthAnythingConfig(msgspec.Struct, frozen=True):
    """Sizes of the transformer and the head; `taps` are the layers whose outputs are read.

    Layers are counted from 1; `necks` are the channels of each tap.
    """

    width: int
    heads: int
    mlp_width: int
    layers: int
    taps: tuple[int, ...]
    necks: tuple[int, ...]
    fusion_width: int
    head_width: int


def depth_anything(g: GraphBuilder, config: DepthAnythingConfig) -> None:
    """Emit the network: "image" in RGB, normalised, to "map", which is greater for what is near.

    Height and width are multiples of 14. "positions", float32 [1, 1 + patches, width], are the
    embeddings of positions for this size.
    """
    image = planes.picture(g)
    name = "backbone.embeddings.patch_embeddings.projection"
    patches = planes.conv(g, image, name, (3, config.width), kernel=PATCH, stride=PATCH, pad=0)
    taps = _transformer(g, patches, config)
    features = [_reassembled(g, tap, patches, i, config) for i, tap in enumerate(taps)]
    x = _fused(g, features, config.fusion_width)
    half = config.fusion_width // 2
    x = planes.conv(g, x, "head.conv1", (config.fusion_width, half))
    x = planes.resized_like(g, x, image, corners=True)
    x = g.op("Relu", planes.conv(g, x, "head.conv2", (half, config.head_width)))
    planes.result(
        g, g.op("Relu", planes.conv(g, x, "head.conv3", (config.head_width, 1), kernel=1))
    )


def _transformer(g: GraphBuilder, patches: Value, config: DepthAnythingConfig) -> list[Value]:
    """Emit DINOv2; return the normalised tokens of each tap, [1, 1 + patches, width]."""
    width = config.width
    first = g.weight("backbone.embeddings.cls_token", (1, 1, width))
    flat = g.op("Reshape", patches, g.integers([0, width, -1]))
    x = g.op("Concat", first, g.op("Transpose", flat, perm=[0, 2, 1]), axis=1)
    positions = g.input("positions", DType.F32, (1, "tokens", width))
    x = g.op("Add", x, g.cast_to_element(positions))
    taps: list[Value] = []
    for layer in range(config.layers):
        x = _layer(g, x, f"backbone.encoder.layer.{layer}", config)
        if layer + 1 in config.taps:
            taps.append(g.layer_norm(x, "backbone.layernorm", width, _EPSILON))
    return taps


def _layer(g: GraphBuilder, x: Value, name: str, config: DepthAnythingConfig) -> Value:
    width = config.width
    own = f"{name}.attention.attention"
    names = (f"{own}.query", f"{own}.key", f"{own}.value")
    h = g.layer_norm(x, f"{name}.norm1", width, _EPSILON)
    h = g.attend(h, h, Projections(names, width, width, config.heads))
    h = g.linear(h, f"{name}.attention.output.dense", (width, width))
    x = g.op("Add", x, g.op("Mul", h, g.weight(f"{name}.layer_scale1.lambda1", (width,))))
    h = g.layer_norm(x, f"{name}.norm2", width, _EPSILON)
    h = g.gelu(g.linear(h, f"{name}.mlp.fc1", (width, config.mlp_width)))
    h = g.linear(h, f"{name}.mlp.fc2", (config.mlp_width, width))
    return g.op("Add", x, g.op("Mul", h, g.weight(f"{name}.layer_scale2.lambda1", (width,))))


def _reassembled(
    g: GraphBuilder, tokens: Value, patches: Value, number: int, config: DepthAnythingConfig
) -> Value:
    """Emit the tokens of a tap as a picture, 4, 2, 1 or 1/2 times as large as the patches."""
    width, name = config.necks[number], f"neck.reassemble_stage.layers.{number}"
    ends = [g.integers([value]) for value in (1, 2**62, 1)]
    x = g.op("Transpose", g.op("Slice", tokens, *ends), perm=[0, 2, 1])
    x = g.op("Reshape", x, g.op("Shape", patches))
    x = planes.conv(g, x, f"{name}.projection", (config.width, width), kernel=1)
    both = (width, width)
    if number < 2:
        factor = (4, 2)[number]
        x = planes.transposed_conv(g, x, f"{name}.resize", both, kernel=factor, stride=factor)
    elif number > 2:
        x = planes.conv(g, x, f"{name}.resize", both, stride=2)
    return planes.conv(g, x, f"neck.convs.{number}", (width, config.fusion_width), bias=False)


def _fused(g: GraphBuilder, features: list[Value], width: int) -> Value:
    """Emit the features joined from the smallest on; the result is twice as large as the first."""
    x = ""
    for number, feature in enumerate(reversed(features)):
        name = f"neck.fusion_stage.layers.{number}"
        x = g.op("Add", x, _unit(g, feature, f"{name}.residual_layer1", width)) if x else feature
        x = _unit(g, x, f"{name}.residual_layer2", width)
        last = number == len(features) - 1
        larger = "" if last else features[-2 - number]
        x = planes.resized_like(g, x, larger, corners=True) if larger else planes.doubled(g, x)
        x = planes.conv(g, x, f"{name}.projection", (width, width), kernel=1)
    return x


def _unit(g: GraphBuilder, x: Value, name: str, width: int) -> Value:
    """Emit a residual unit of two convolutions, each after its activation."""
    h = planes.conv(g, g.op("Relu", x), f"{name}.convolution1", (width, width))
    h = planes.conv(g, g.op("Relu", h), f"{name}.convolution2", (width, width))
    return g.op("Add", h, x)
