"""OmniSR: attention over pixels and channels, within windows and across the picture (Wang 2023).

Source: github.com/Francis0625/Omni-SR (`components/`). Its grid attention and its means look at the
whole picture, so a tile differs from the same part of a whole picture.
"""

from dataclasses import replace

import msgspec

from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.upscalers.layers import Layers
from engine.graphs.upscalers.windows import Windows, relative_bias

_HEADS, _NORM_EPSILON, _LEAST_LENGTH = 4, 1e-6, 1e-12
# The layers of a block between its attentions, by their places in the original's sequence.
_PIXELS, _CHANNELS, _FORWARD = (2, 8), (5, 11), (4, 6, 10, 12)


class OmniSrConfig(msgspec.Struct, frozen=True):
    """Sizes of an OmniSR: `groups` of `blocks`; `positions`: attention has a bias by distance."""

    channels: int
    width: int
    groups: int
    blocks: int
    window: int
    scale: int
    positions: bool = True
    bias: bool = True

    @property
    def summary_width(self) -> int:
        """The width of the layers that weigh the places of a picture."""
        return max(self.width // 4, 16)


def omni_sr(g: GraphBuilder, config: OmniSrConfig) -> None:
    """Emit the network; height and width are multiples of `window` and at least 16."""
    on, width, bias = Layers(g), config.width, config.bias
    first = on.conv(on.image(config.channels), "input", (config.channels, width), bias=bias)
    body, x = _Body(on, config, first), first
    for group in range(config.groups):
        name, before = f"residual_layer.{group}", x
        for block in range(config.blocks):
            x = body.block(x, f"{name}.residual_layer.{block}.layer")
        x = on.conv(x, f"{name}.residual_layer.{config.blocks}", (width, width), 1, bias=bias)
        x = _weighed(on, on.add(x, before), f"{name}.esa", config)
    x = on.add(on.conv(x, "output", (width, width), bias=bias), first)
    x = on.conv(x, "up.0", (width, config.channels * config.scale**2), bias=bias)
    on.upscaled(on.shuffled(x, config.scale), config.channels, config.scale)


class _Body:
    """The blocks, over planes [1, width, H, W]."""

    def __init__(self, on: Layers, config: OmniSrConfig, like: Value) -> None:
        self.on, self.g, self.config = on, on.g, config
        height, width = (self.g.op("Shape", like, start=axis, end=axis + 1) for axis in (2, 3))
        near = Windows(self.g, height, width, config.window)
        # Across the picture: pixels as many apart as there are windows, channels of all windows.
        self.of_pixels = near, replace(near, inner=False, apart=True)
        self.of_channels = near, replace(near, apart=True)

    def block(self, x: Value, name: str) -> Value:
        """Emit one block: five kinds of layers, each beside what it is given."""
        x = self.on.add(self._local(x, f"{name}.0.fn"), x)
        for turn in (0, 1):
            x = self._pixels(x, f"{name}.{_PIXELS[turn]}", self.of_pixels[turn])
            x = self._forward(x, f"{name}.{_FORWARD[2 * turn]}")
            x = self._channels(x, f"{name}.{_CHANNELS[turn]}", self.of_channels[turn])
            x = self._forward(x, f"{name}.{_FORWARD[2 * turn + 1]}")
        return x

    def _local(self, x: Value, name: str) -> Value:
        """Emit an inverted residual with squeeze and excitation, without growth (MobileNet 2)."""
        on, g, width = self.on, self.g, self.config.width
        sizes = width, width
        x = g.gelu(on.conv(x, f"{name}.0", sizes, 1))
        x = g.gelu(on.conv(x, f"{name}.2", sizes, grouped=True))
        narrow = width // 4
        mean = g.op("ReduceMean", x, g.integers([2, 3]), keepdims=0)
        gate = g.silu(g.linear(mean, f"{name}.4.gate.1", (width, narrow), bias=False))
        gate = g.op("Sigmoid", g.linear(gate, f"{name}.4.gate.3", (narrow, width), bias=False))
        x = g.op("Mul", x, g.op("Reshape", gate, g.integers([1, width, 1, 1])))
        return on.conv(x, f"{name}.5", sizes, 1)

    def _pixels(self, x: Value, name: str, windows: Windows) -> Value:
        """Emit attention among the pixels of each window."""
        g, width, side = self.g, self.config.width, self.config.window
        tokens = windows.tokens(x, width)
        y = g.layer_norm(tokens, f"{name}.norm", width)
        rows = [(third * width, (third + 1) * width) for third in range(3)]
        layer = f"{name}.fn.to_qkv.weight"
        weights = [g.weight_rows(layer, (3 * width, width), *span) for span in rows]
        q, k, v = (g.times_transposed(y, weight) for weight in weights)
        table = f"{name}.fn.rel_pos_bias.weight"
        bias = relative_bias(g, table, side, _HEADS) if self.config.positions else None
        y = g.attention(q, k, v, _HEADS, width // _HEADS, score_bias=bias)
        y = g.linear(y, f"{name}.fn.to_out.0", (width, width), bias=False)
        return windows.from_tokens(g.op("Add", y, tokens), width)

    def _channels(self, x: Value, name: str, windows: Windows) -> Value:
        """Emit attention among the channels of each window (XCiT)."""
        on, g, width = self.on, self.g, self.config.width
        y = on.planes_norm(x, f"{name}.norm", width, _NORM_EPSILON)
        y = on.conv(y, f"{name}.fn.qkv", (width, 3 * width), 1, bias=False)
        y = on.conv(y, f"{name}.fn.qkv_dwconv", (3 * width, 3 * width), grouped=True, bias=False)
        q, k, v = (
            windows.by_head(on.part(y, third * width, (third + 1) * width), width, _HEADS)
            for third in range(3)
        )
        turned = g.op("Transpose", self._unit(k), perm=[0, 1, 3, 2])
        scores = g.op("MatMul", self._unit(q), turned)
        temperature = g.weight(f"{name}.fn.temperature", (_HEADS, 1, 1))
        scores = g.op("Softmax", g.op("Mul", scores, temperature), axis=-1)
        y = windows.from_by_head(g.op("MatMul", scores, v), width)
        return on.add(on.conv(y, f"{name}.fn.project_out", (width, width), 1, bias=False), x)

    def _unit(self, x: Value) -> Value:
        """Emit x of length 1 along its last axis."""
        g = self.g
        length = g.op("ReduceL2", x, g.integers([3]), keepdims=1)
        return g.op("Div", x, g.op("Max", length, g.constant(_LEAST_LENGTH)))

    def _forward(self, x: Value, name: str) -> Value:
        """Emit a gated pair of depthwise convolutions."""
        on, g, width = self.on, self.g, self.config.width
        y = on.planes_norm(x, f"{name}.norm", width, _NORM_EPSILON)
        y = on.conv(y, f"{name}.fn.project_in", (width, 2 * width), 1, bias=False)
        y = on.conv(y, f"{name}.fn.dwconv", (2 * width, 2 * width), grouped=True, bias=False)
        y = g.op("Mul", g.gelu(on.part(y, 0, width)), on.part(y, width, None))
        return on.add(on.conv(y, f"{name}.fn.project_out", (width, width), 1, bias=False), x)


def _weighed(on: Layers, x: Value, name: str, config: OmniSrConfig) -> Value:
    """Emit enhanced spatial attention: each place weighed by a summary of its surroundings."""
    g, width, narrow = on.g, config.width, config.summary_width
    sizes = narrow, narrow
    before = on.conv(x, f"{name}.conv1", (width, narrow), 1)
    y = on.conv(before, f"{name}.conv2", sizes, stride=2, padding=0)
    y = g.op("MaxPool", y, kernel_shape=(7, 7), strides=(3, 3))
    y = on.conv(y, f"{name}.conv3", sizes)
    size = g.op("Concat", g.integers([1, narrow]), g.op("Shape", x, start=2), axis=0)
    y = g.op("Resize", y, "", "", size, mode="linear", coordinate_transformation_mode="half_pixel")
    y = on.add(y, on.conv(before, f"{name}.conv_f", sizes, 1))
    return g.op("Mul", x, g.op("Sigmoid", on.conv(y, f"{name}.conv4", (narrow, width), 1)))
