"""SwinIR: attention within windows that shift from layer to layer (Liang et al. 2021).

Source: github.com/JingyunLiang/SwinIR (`models/network_swinir.py`).
"""

from enum import Enum, auto

import msgspec

from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.upscalers.layers import Layers
from engine.graphs.upscalers.span import MEAN_COLOUR
from engine.graphs.upscalers.windows import Windows, relative_bias

_SLOPE, _SLOPE_BEFORE = 0.2, 0.01


class Reconstruction(Enum):
    """The layers that make the larger picture, by the names of the original."""

    PIXEL_SHUFFLE = auto()
    PIXEL_SHUFFLE_DIRECT = auto()
    NEAREST_CONV = auto()
    # The picture keeps its size, and the network computes the difference.
    NONE = auto()


class SwinIrConfig(msgspec.Struct, frozen=True):
    """Sizes of a SwinIR; `depths` and `heads` of each group of blocks.

    `mlp_width` is the hidden width of a block's two linear layers, `features` the width after the
    last block. `enlarges` is the growth before `unshuffle` pixels along each side are counted.
    `thin`: three convolutions instead of one close each group. `range` is that of colours inside.
    """

    channels: int
    width: int
    depths: tuple[int, ...]
    heads: tuple[int, ...]
    window: int
    mlp_width: int
    reconstruction: Reconstruction
    enlarges: int = 1
    features: int = 64
    unshuffle: int = 1
    thin: bool = False
    embeds_norm: bool = True
    range: float = 1.0

    @property
    def scale(self) -> int:
        """The growth of each side of a picture."""
        return self.enlarges // self.unshuffle


def swin_ir(g: GraphBuilder, config: SwinIrConfig) -> None:
    """Emit the network; height and width are multiples of window * unshuffle."""
    on, width = Layers(g), config.width
    image = on.image(config.channels)
    mean = MEAN_COLOUR if config.channels == len(MEAN_COLOUR) else (0.0,) * config.channels
    colours = on.less_mean(image, mean, config.range)
    x = on.unshuffled(colours, config.channels, config.unshuffle)
    first = on.conv(x, "conv_first", (config.channels * config.unshuffle**2, width))
    body = _Body(on, config, first).emit()
    x = on.add(_closing(on, body, "conv_after_body", config), first)
    x = _reconstructed(on, x, config)
    if config.reconstruction is Reconstruction.NONE:
        x = on.add(x, colours)
    on.upscaled(on.plus_mean(x, mean, config.range), config.channels, config.scale)


class _Body:
    """The groups of blocks, over tokens [1, H W, width]."""

    def __init__(self, on: Layers, config: SwinIrConfig, first: Value) -> None:
        self.on, self.g, self.config, self.first = on, on.g, config, first
        height, width = (self.g.op("Shape", first, start=axis, end=axis + 1) for axis in (2, 3))
        self.windows = Windows(self.g, height, width, config.window, channels_last=True)
        batch, size = self.g.integers([1]), self.g.integers([config.width])
        self.rows = self.g.op("Concat", batch, height, width, size, axis=0)
        self.mask = self.windows.mask(config.window // 2)

    def emit(self) -> Value:
        """Emit all groups; the result is [1, width, H, W]."""
        g, config = self.g, self.config
        x = self._tokens(self.first)
        if config.embeds_norm:
            x = g.layer_norm(x, "patch_embed.norm", config.width)
        for group, depth in enumerate(config.depths):
            name, before = f"layers.{group}", x
            for place in range(depth):
                x = self._block(x, f"{name}.residual_group.blocks.{place}", group, place)
            closed = _closing(self.on, self._planes(x), f"{name}.conv", config)
            x = g.op("Add", self._tokens(closed), before)
        return self._planes(g.layer_norm(x, "norm", config.width))

    def _tokens(self, x: Value) -> Value:
        flat = self.g.op("Reshape", x, self.g.integers([1, self.config.width, -1]))
        return self.g.op("Transpose", flat, perm=[0, 2, 1])

    def _planes(self, x: Value) -> Value:
        return self.g.op("Transpose", self.g.op("Reshape", x, self.rows), perm=[0, 3, 1, 2])

    def _block(self, x: Value, name: str, group: int, place: int) -> Value:
        """Emit attention within windows, every other time shifted ones, and two linear layers."""
        g, width, windows = self.g, self.config.width, self.windows
        shift = self.config.window // 2 if place % 2 else 0
        y = g.op("Reshape", g.layer_norm(x, f"{name}.norm1", width), self.rows)
        y = windows.shifted(y, shift) if shift else y
        y = self._attention(windows.tokens(y, width), f"{name}.attn", group, shifts=bool(shift))
        y = windows.from_tokens(y, width)
        y = windows.shifted(y, -shift) if shift else y
        x = g.op("Add", x, g.op("Reshape", y, g.integers([1, -1, width])))
        hidden = self.config.mlp_width
        y = g.layer_norm(x, f"{name}.norm2", width)
        y = g.gelu(g.linear(y, f"{name}.mlp.fc1", (width, hidden)))
        return g.op("Add", x, g.linear(y, f"{name}.mlp.fc2", (hidden, width)))

    def _attention(self, x: Value, name: str, group: int, *, shifts: bool) -> Value:
        g, width, heads = self.g, self.config.width, self.config.heads[group]
        q, k, v = (self._projected(x, f"{name}.qkv", third) for third in range(3))
        table = f"{name}.relative_position_bias_table"
        bias = relative_bias(g, table, self.config.window, heads)
        bias = g.op("Add", bias, self.mask) if shifts else bias
        y = g.attention(q, k, v, heads, width // heads, score_bias=bias)
        return g.linear(y, f"{name}.proj", (width, width))

    def _projected(self, x: Value, name: str, third: int) -> Value:
        """Emit one third of the rows of the layer that makes queries, keys and values."""
        g, width = self.g, self.config.width
        rows = third * width, (third + 1) * width
        weight = g.weight_rows(f"{name}.weight", (3 * width, width), *rows)
        bias = g.weight_rows(f"{name}.bias", (3 * width,), *rows)
        return g.op("Add", g.times_transposed(x, weight), bias)


def _closing(on: Layers, x: Value, name: str, config: SwinIrConfig) -> Value:
    """Emit the convolutions at the end of a group or of the body."""
    width, thin = config.width, config.width // 4
    if not config.thin:
        return on.conv(x, name, (width, width))
    x = on.leaky(on.conv(x, f"{name}.0", (width, thin)), _SLOPE)
    x = on.leaky(on.conv(x, f"{name}.2", (thin, thin), 1), _SLOPE)
    return on.conv(x, f"{name}.4", (thin, width))


def _reconstructed(on: Layers, x: Value, config: SwinIrConfig) -> Value:
    """Emit the layers after the body."""
    width, features, channels = config.width, config.features, config.channels
    kind, enlarges = config.reconstruction, config.enlarges
    if kind is Reconstruction.NONE:
        return on.conv(x, "conv_last", (width, channels))
    if kind is Reconstruction.PIXEL_SHUFFLE_DIRECT:
        x = on.conv(x, "upsample.0", (width, channels * enlarges**2))
        return on.shuffled(x, enlarges)
    x = on.leaky(on.conv(x, "conv_before_upsample.0", (width, features)), _SLOPE_BEFORE)
    if kind is Reconstruction.PIXEL_SHUFFLE:
        for place, factor in enumerate(factors(enlarges)):
            x = on.conv(x, f"upsample.{2 * place}", (features, features * factor**2))
            x = on.shuffled(x, factor)
        return on.conv(x, "conv_last", (features, channels))
    for level in range(1, len(factors(enlarges)) + 1):
        x = on.conv(on.nearest(x, 2), f"conv_up{level}", (features, features))
        x = on.leaky(x, _SLOPE)
    x = on.leaky(on.conv(x, "conv_hr", (features, features)), _SLOPE)
    return on.conv(x, "conv_last", (features, channels))


def factors(scale: int) -> tuple[int, ...]:
    """Return the steps in which a picture grows: 3, or doublings."""
    return (3,) if scale == 3 else (2,) * (scale.bit_length() - 1)
