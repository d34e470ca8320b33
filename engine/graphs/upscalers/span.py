"""SPAN, the swift parameter-free attention network (Wan et al. 2023).

Source: github.com/hongyuanyu/SPAN (`basicsr/archs/span_arch.py`). Each of its convolutions was
trained as three in a row beside a fourth; they are one linear function, and run as one kernel. The
kernel that files have beside them, `eval_conv`, may be of an earlier step of the training.
"""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from backends.base import Array
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder
from engine.graphs.upscalers.layers import Layers

_BLOCKS, _GAIN, _RANGE = 6, 2, 255.0
# The mean colour of the DIV2K pictures.
MEAN_COLOUR = (0.4488, 0.4371, 0.4040)


class SpanConfig(msgspec.Struct, frozen=True):
    """Sizes of a SPAN; `norm`: the mean colour is subtracted and the range is that of bytes."""

    channels: int
    width: int
    scale: int
    norm: bool = True


def span(g: GraphBuilder, config: SpanConfig) -> None:
    """Emit the network."""
    on, width = Layers(g), config.width
    image = on.image(config.channels)
    x = on.less_mean(image, MEAN_COLOUR, _RANGE) if config.norm else image
    first = _conv(on, x, "conv_1", (config.channels, width))
    x = first
    kept: list[Value] = []
    inner = ""
    for block in range(1, _BLOCKS + 1):
        x, inner = _attentive(on, x, f"block_{block}", width)
        kept.append(x)
    x = _conv(on, x, "conv_2", (width, width))
    x = on.conv(on.join(first, x, kept[0], inner), "conv_cat", (4 * width, width), 1)
    x = on.conv(x, "upsampler.0", (width, config.channels * config.scale**2))
    on.upscaled(on.shuffled(x, config.scale), config.channels, config.scale)


def _attentive(on: Layers, x: Value, name: str, width: int) -> tuple[Value, Value]:
    """Emit a block; return its result, and its first convolution after the nonlinearity."""
    g = on.g
    first = g.silu(_conv(on, x, f"{name}.c1_r", (width, width)))
    second = g.silu(_conv(on, first, f"{name}.c2_r", (width, width)))
    third = _conv(on, second, f"{name}.c3_r", (width, width))
    attention = g.op("Add", g.op("Sigmoid", third), g.constant(-0.5))
    return g.op("Mul", on.add(third, x), attention), first


def _conv(on: Layers, x: Value, name: str, channels: tuple[int, int]) -> Value:
    """Emit the convolution that the four of training equal."""
    inner, outer = channels
    shapes = {
        f"{name}.conv.0": (_GAIN * inner, inner, 1, 1),
        f"{name}.conv.1": (_GAIN * outer, _GAIN * inner, 3, 3),
        f"{name}.conv.2": (outer, _GAIN * outer, 1, 1),
        f"{name}.sk": (outer, inner, 1, 1),
    }
    kernels = [(f"{part}.weight", shape) for part, shape in shapes.items()]
    biases = [(f"{part}.bias", shape[:1]) for part, shape in shapes.items()]
    parts = [*kernels, *biases]
    kernel = on.g.computed_weight(parts, (outer, inner, 3, 3), _writes(0), "merged kernel")
    bias = on.g.computed_weight(parts, (outer,), _writes(1), "merged bias")
    return on.conv_with(x, kernel, bias, kernel=3, pad=1)


def _writes(which: int) -> Callable[[Sequence[Array], Array], None]:
    def derive(weights: Sequence[Array], out: Array) -> None:
        out[...] = merged(weights)[which]

    return derive


def merged(weights: Sequence[Array]) -> tuple[Array, Array]:
    """Return kernel and bias of the convolution that three in a row plus a fourth equal.

    `weights` are the four kernels, then their biases; sums are in float64.
    """
    first, middle, last, beside, *biases = (np.asarray(weight, np.float64) for weight in weights)
    last, beside = last[:, :, 0, 0], beside[:, :, 0, 0]
    kernel = np.einsum("oa,abyx,bi->oiyx", last, middle, first[:, :, 0, 0], optimize=True)
    kernel[:, :, 1, 1] += beside
    bias = last @ (middle.sum((2, 3)) @ biases[0] + biases[1]) + biases[2] + biases[3]
    return kernel, bias
