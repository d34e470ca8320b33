"""DySample: each pixel sampled at a place that the network computes (Liu et al. 2023).

Source: github.com/tiny-smart/dysample, in the form of neosr and RealPLKSR.
"""

import msgspec
import numpy as np

from engine.graphs.builder import Value
from engine.graphs.upscalers.layers import Layers
from engine.graphs.upscalers.windows import MOST_SIDE

# The first opset that calls bilinear sampling "linear".
_RENAMED_IN = 20


class SamplingConfig(msgspec.Struct, frozen=True):
    """Sizes of a DySample; each of `groups` of the `inner` channels has places of its own."""

    inner: int
    outer: int
    scale: int
    groups: int
    # A last convolution of 1x1; without it `inner` and `outer` are equal.
    ends: bool = True


def sampled(on: Layers, x: Value, name: str, config: SamplingConfig) -> Value:
    """Emit x, [1, inner, H, W], enlarged to [1, outer, scale H, scale W]."""
    g, groups, scale = on.g, config.groups, config.scale
    places = 2 * groups * scale**2
    sizes = (config.inner, places)
    offset = on.conv(x, f"{name}.offset", sizes, 1)
    scope = g.op("Sigmoid", on.conv(x, f"{name}.scope", sizes, 1, bias=False))
    offset = on.times(g.op("Mul", offset, scope), 0.5)
    start = g.weight(f"{name}.init_pos", (1, places, 1, 1))
    offset = g.op("Add", offset, start)
    # Places are in units of a pixel, first across and then down; grid_sample's span [-1, 1].
    height, width = (g.op("Shape", x, start=axis, end=axis + 1) for axis in (2, 3))
    halves = places // 2
    grids = [
        _places(on, on.part(offset, first * halves, (first + 1) * halves), side, axis)
        for first, (side, axis) in enumerate(((width, 3), (height, 2)))
    ]
    pixels = [_to_pixels(on, grid, scale, groups) for grid in grids]
    grid = g.op("Concat", *pixels, axis=3)
    parts = g.op("Concat", g.integers([groups, -1]), height, width, axis=0)
    linear = "linear" if g.operators.opset >= _RENAMED_IN else "bilinear"
    y = g.op(
        "GridSample",
        *(g.op("Reshape", x, parts), grid),
        mode=linear,
        padding_mode="border",
        align_corners=0,
    )
    whole = g.op("Concat", g.integers([1, config.inner]), g.op("Shape", y, start=2), axis=0)
    y = g.op("Reshape", y, whole)
    return on.conv(y, f"{name}.end_conv", (config.inner, config.outer), 1) if config.ends else y


def _places(on: Layers, offset: Value, side: Value, axis: int) -> Value:
    """Emit 2 (cell + 0.5 + offset) / side - 1, for the cells along an axis of [1, C, H, W].

    Cells, and the side as a number, are taken from a table, which every runtime can do.
    """
    g, zero = on.g, on.g.integers([0])
    table = g.constant(np.arange(1, MOST_SIDE + 1))
    shape = [1, 1, 1, 1]
    shape[axis] = -1
    cells = g.op("Reshape", g.op("Slice", table, zero, side, zero), g.integers(shape))
    length = g.op("Slice", table, g.op("Add", side, g.integers([-1])), side, zero)
    middles = g.op("Add", cells, g.constant(-0.5))
    scaled = g.op("Div", on.times(g.op("Add", offset, middles), 2.0), length)
    return g.op("Add", scaled, g.constant(-1.0))


def _to_pixels(on: Layers, grid: Value, scale: int, groups: int) -> Value:
    """Emit places [1, groups s^2, H, W] as [groups, s H, s W, 1]."""
    g = on.g
    shuffled = on.shuffled(grid, scale)
    return g.op(
        "Reshape",
        shuffled,
        g.op(
            "Concat",
            g.integers([groups]),
            g.op("Shape", shuffled, start=2),
            g.integers([1]),
            axis=0,
        ),
    )
