"""Edges by pixel differences: PiDiNet in its configuration `carv4` (Su et al. 2021).

Source: github.com/hellozhuo/pidinet (`models/pidinet.py`, `models/ops.py`), whose weights are
table5_pidinet.pth. Convolutions of differences of pixels are plain ones with other kernels, which
are computed from the stored ones; a file that was converted has those kernels already.
"""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from backends.base import Array
from engine.graphs.annotators import planes
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

# Channels of the four stages, and the blocks in each.
_STAGES = ((60, 3), (120, 4), (240, 4), (240, 4))
_NARROW, _ATTENDED = 24, 4
_DILATIONS = (5, 7, 9, 11)
# Places of a 3 x 3 kernel one step clockwise.
_TURNED = (3, 0, 1, 6, 4, 2, 7, 8, 5)
# Places of a 5 x 5 kernel: the outer ring and the inner one, as they follow one another.
_OUTER, _INNER = (0, 2, 4, 10, 14, 20, 22, 24), (6, 7, 8, 11, 13, 16, 17, 18)


class PidinetConfig(msgspec.Struct, frozen=True):
    """The form of a file: `converted` if its kernels are those of plain convolutions."""

    converted: bool


def pidinet(g: GraphBuilder, config: PidinetConfig) -> None:
    """Emit the network: "image" in BGR from 0 to 1 to "map", edges from 0 to 1."""
    image = planes.picture(g)
    x = _first(g, image, config)
    edges: list[Value] = []
    width, kind = _STAGES[0][0], 1
    for stage, (channels, blocks) in enumerate(_STAGES, 1):
        for block in range(1, blocks + 1):
            name = f"block{stage}_{block}"
            if stage > 1 and block == 1:
                x = planes.halved(g, x)
                skip = planes.conv(g, x, f"{name}.shortcut", (width, channels), kernel=1)
            else:
                skip = x
            y = g.op("Relu", _differences(g, x, f"{name}.conv1", width, kind, config))
            y = planes.conv(g, y, f"{name}.conv2", (width, channels), kernel=1, bias=False)
            x, width, kind = g.op("Add", y, skip), channels, kind + 1
        edge = _edge(g, x, stage - 1, channels)
        edges.append(planes.resized_like(g, edge, image))
    joined = g.op("Concat", *edges, axis=1)
    whole = planes.conv(g, joined, "classifier", (len(edges), 1), kernel=1)
    planes.result(g, g.op("Sigmoid", whole))


def _first(g: GraphBuilder, image: Value, config: PidinetConfig) -> Value:
    width, name = _STAGES[0][0], "init_block.weight"
    stored = (width, 3, 3, 3)
    kernel = g.weight(name, stored)
    if not config.converted:
        kernel = g.derived_weight([name], stored, stored, central, central.__name__)
    return g.op("Conv", image, kernel, kernel_shape=[3, 3], pads=[1] * 4)


def _differences(
    g: GraphBuilder, x: Value, name: str, width: int, kind: int, config: PidinetConfig
) -> Value:
    """Emit a convolution of each channel by itself, of the differences of number `kind`."""
    derive = _DERIVED[kind % len(_DERIVED)]
    size = 5 if derive is radial else 3
    stored, wanted = (width, 1, 3, 3), (width, 1, size, size)
    if derive is None or config.converted:
        kernel = g.weight(f"{name}.weight", wanted)
    else:
        kernel = g.derived_weight([f"{name}.weight"], stored, wanted, derive, derive.__name__)
    return g.op("Conv", x, kernel, kernel_shape=[size] * 2, pads=[size // 2] * 4, group=width)


def _edge(g: GraphBuilder, x: Value, stage: int, width: int) -> Value:
    """Emit the logits of a stage: dilated convolutions, attention over space, one channel."""
    both, name = (_NARROW, _NARROW), f"dilations.{stage}"
    x = planes.conv(g, g.op("Relu", x), f"{name}.conv1", (width, _NARROW), kernel=1)
    dilated = [
        planes.conv(g, x, f"{name}.conv2_{number}", both, dilation=dilation, bias=False)
        for number, dilation in enumerate(_DILATIONS, 1)
    ]
    x, name = planes.total(g, dilated), f"attentions.{stage}"
    y = planes.conv(g, g.op("Relu", x), f"{name}.conv1", (_NARROW, _ATTENDED), kernel=1)
    y = g.op("Sigmoid", planes.conv(g, y, f"{name}.conv2", (_ATTENDED, 1), bias=False))
    return planes.conv(g, g.op("Mul", x, y), f"conv_reduces.{stage}.conv", (_NARROW, 1), kernel=1)


def central(weights: Sequence[Array], out: Array) -> None:
    """Write a kernel [out, in, 3, 3] of differences from the pixel in the middle."""
    kernel = weights[0].astype(np.float32)
    out[...] = kernel
    out[..., 1, 1] = kernel[..., 1, 1] - kernel.sum(axis=(2, 3))


def angular(weights: Sequence[Array], out: Array) -> None:
    """Write a kernel [out, in, 3, 3] of differences between neighbours on a ring."""
    kernel = weights[0].astype(np.float32).reshape(*out.shape[:2], 9)
    out[...] = (kernel - kernel[..., _TURNED]).reshape(out.shape)


def radial(weights: Sequence[Array], out: Array) -> None:
    """Write a kernel [out, in, 5, 5] of differences between an outer ring and an inner one."""
    kernel = weights[0].astype(np.float32).reshape(*out.shape[:2], 9)
    wide = np.zeros((*out.shape[:2], 25), np.float32)
    wide[..., _OUTER] = kernel[..., 1:]
    wide[..., _INNER] = -kernel[..., 1:]
    out[...] = wide.reshape(out.shape)


# Kinds of layers in turn; the first layer of all is a central one.
_DERIVED: tuple[Callable[[Sequence[Array], Array], None] | None, ...] = (
    central,
    angular,
    radial,
    None,
)
