"""Layers over planes [batch, channels, height, width] that no diffusion network has."""

from collections.abc import Sequence

import numpy as np

from backends.base import DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

_SIDE = 2  # the axis of the height; the width follows


def picture(g: GraphBuilder) -> Value:
    """Declare the input "image": float32 [1, 3, height, width]."""
    return g.cast_to_element(g.input("image", DType.F32, (1, 3, "height", "width")))


def conv(
    g: GraphBuilder,
    x: Value,
    name: str,
    channels: tuple[int, int],
    *,
    kernel: int = 3,
    stride: int = 1,
    pad: int | None = None,
    dilation: int = 1,
    bias: bool = True,
) -> Value:
    """Emit a convolution of channels[0] to channels[1]; by default it keeps the size."""
    weight = g.weight(f"{name}.weight", (channels[1], channels[0], kernel, kernel))
    shift = [g.weight(f"{name}.bias", (channels[1],))] if bias else []
    around = kernel // 2 * dilation if pad is None else pad
    return g.op(
        "Conv",
        *(x, weight, *shift),
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        dilations=[dilation, dilation],
        pads=[around] * 4,
    )


def transposed_conv(
    g: GraphBuilder,
    x: Value,
    name: str,
    channels: tuple[int, int],
    *,
    kernel: int,
    stride: int,
    pad: int = 0,
    more: int = 0,
) -> Value:
    """Emit a transposed convolution; `more` rows and columns follow at the end."""
    weight = g.weight(f"{name}.weight", (*channels, kernel, kernel))
    return g.op(
        "ConvTranspose",
        *(x, weight, g.weight(f"{name}.bias", (channels[1],))),
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[pad] * 4,
        output_padding=[more, more],
    )


def instance_norm(g: GraphBuilder, x: Value, channels: int) -> Value:
    """Emit instance normalisation without weights (Ulyanov et al. 2016)."""
    ones, zeros = g.constant(np.ones(channels)), g.constant(np.zeros(channels))
    return g.op("InstanceNormalization", x, ones, zeros, epsilon=1e-5)


def reflected(g: GraphBuilder, x: Value, pad: int) -> Value:
    """Emit a border of mirrored pixels without the one at the edge."""
    pads = g.integers([0, 0, pad, pad, 0, 0, pad, pad])
    return g.op("Pad", x, pads, mode="reflect")


def halved(g: GraphBuilder, x: Value) -> Value:
    """Emit the maximum of blocks of 2 x 2."""
    return g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])


def resized_like(g: GraphBuilder, x: Value, like: Value, *, corners: bool = False) -> Value:
    """Emit linear interpolation to the size of `like`; `corners` are put upon corners."""
    size = g.op("Shape", like, start=_SIDE)
    sizes = g.op("Concat", g.op("Shape", x, end=_SIDE), size, axis=0)
    return g.op("Resize", x, "", "", sizes, **_linear(corners=corners))


def doubled(g: GraphBuilder, x: Value) -> Value:
    """Emit linear interpolation to twice the size, corners upon corners."""
    scales = g.constant([1, 1, 2, 2], DType.F32)
    return g.op("Resize", x, "", scales, **_linear(corners=True))


def result(g: GraphBuilder, x: Value) -> None:
    """Declare the output "map": float32 [1, 1, height, width]."""
    g.output(x, "map", DType.F32, (1, 1, "height", "width"))


def total(g: GraphBuilder, values: Sequence[Value]) -> Value:
    """Emit the sum of values."""
    whole = values[0]
    for value in values[1:]:
        whole = g.op("Add", whole, value)
    return whole


def _linear(*, corners: bool) -> dict[str, str]:
    places = "align_corners" if corners else "half_pixel"
    return {"mode": "linear", "coordinate_transformation_mode": places}
