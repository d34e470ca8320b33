"""Operators of upscalers, over planes [1, channels, height, width] whatever the backend's layout.

Grouped and large convolutions, and pixels shuffled between channels and places, have no form with
channels last in every runtime.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from backends.base import Array, DType
from engine.graphs.builder import Value
from engine.graphs.operators import GraphBuilder

# An end that is beyond every tensor's.
_BEYOND = 2**31 - 1


class Layers(msgspec.Struct, frozen=True):
    """Writes the operators of upscalers to a graph."""

    g: GraphBuilder

    def image(self, channels: int) -> Value:
        """Declare the input `image`, float32 [1, channels, height, width], in [0, 1]."""
        return self.g.cast_to_element(
            self.g.input("image", DType.F32, (1, channels, "height", "width"))
        )

    def upscaled(self, x: Value, channels: int, scale: int) -> None:
        """Declare the output `upscaled`, float32 [1, channels, scale * height, scale * width]."""
        size = ("height", "width") if scale == 1 else (f"{scale}*height", f"{scale}*width")
        self.g.output(x, "upscaled", DType.F32, (1, channels, *size))

    def features(self, x: Value, channels: int, unshuffle: int = 1) -> None:
        """Declare the output `features`, float32 [1, channels, height, width] / `unshuffle`."""
        size = ("height", "width") if unshuffle == 1 else ("rows", "columns")
        self.g.output(x, "features", DType.F32, (1, channels, *size))

    def conv(
        self,
        x: Value,
        name: str,
        channels: tuple[int, int],
        kernel: int = 3,
        *,
        stride: int = 1,
        padding: int | None = None,
        grouped: bool = False,
        bias: bool = True,
    ) -> Value:
        """Emit a convolution of channels[0] to channels[1], padded with zeros to the same size.

        `grouped`: each channel has a kernel of its own (depthwise).
        """
        inner, outer = channels
        shape = (outer, 1 if grouped else inner, kernel, kernel)
        weight = self.g.weight(f"{name}.weight", shape)
        shift = (self.g.weight(f"{name}.bias", (outer,)),) if bias else ()
        around = kernel // 2 if padding is None else padding
        groups = inner if grouped else 1
        weights = weight, *shift
        return self.conv_with(x, *weights, kernel=kernel, stride=stride, pad=around, groups=groups)

    def conv_with(
        self,
        x: Value,
        *weights: Value,
        kernel: int,
        stride: int = 1,
        pad: int = 0,
        groups: int = 1,
    ) -> Value:
        """Emit a convolution with the values `weights`: a kernel, and a bias if there is one."""
        window: dict[str, tuple[int, ...]] = {
            "kernel_shape": (kernel, kernel),
            "strides": (stride, stride),
            "pads": (pad, pad, pad, pad),
        }
        grouped: dict[str, int] = {} if groups == 1 else {"group": groups}
        return self.g.op("Conv", x, *weights, domain="", **window, **grouped)

    def add(self, x: Value, y: Value) -> Value:
        """Emit x + y."""
        return self.g.op("Add", x, y)

    def times(self, x: Value, factor: float) -> Value:
        """Emit a multiple of x; x itself for 1."""
        return x if factor == 1 else self.g.op("Mul", x, self.g.constant(factor))

    def leaky(self, x: Value, slope: float) -> Value:
        """Emit x where it is positive, else `slope` x."""
        return self.g.op("LeakyRelu", x, alpha=slope)

    def per_channel(self, name: str, channels: int) -> Value:
        """Use a weight with a number for each channel as [channels, 1, 1]."""
        return self.g.weight_as(name, (channels,), (channels, 1, 1), "per_channel")

    def join(self, *parts: Value) -> Value:
        """Concatenate the channels of pictures."""
        return self.g.op("Concat", *parts, axis=1)

    def part(self, x: Value, start: int, stop: int | None, axis: int = 1) -> Value:
        """Emit x from `start` to `stop` along an axis, by default the channels."""
        ends = [start], [_BEYOND if stop is None else stop], [axis]
        return self.g.op("Slice", x, *map(self.g.integers, ends))

    def nearest(self, x: Value, scale: int) -> Value:
        """Emit x with each pixel repeated `scale` times along both sides."""
        if scale == 1:
            return x
        return self.g.op(
            "Resize",
            *(x, "", self.g.constant([1, 1, scale, scale], DType.F32)),
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )

    def shuffled(self, x: Value, scale: int) -> Value:
        """Emit PyTorch's pixel_shuffle: channels become pixels, [C s^2, H, W] to [C, s H, s W]."""
        return x if scale == 1 else self.g.op("DepthToSpace", x, blocksize=scale, mode="CRD")

    def unshuffled(self, x: Value, channels: int, factor: int) -> Value:
        """Emit PyTorch's pixel_unshuffle, the inverse of `shuffled`, as a convolution with ones.

        ONNX's SpaceToDepth orders channels in another way.
        """
        if factor == 1:
            return x
        ones = self.g.constant(unshuffling_kernel(channels, factor))
        return self.conv_with(x, ones, kernel=factor, stride=factor)

    def less_mean(self, x: Value, mean: Sequence[float], factor: float) -> Value:
        """Emit (x - mean) factor, with a mean for each channel."""
        apart = self.g.op("Add", x, self.g.constant(-np.reshape(mean, (-1, 1, 1))))
        return self.times(apart, factor)

    def plus_mean(self, x: Value, mean: Sequence[float], factor: float) -> Value:
        """Emit x / factor + mean, the inverse of `less_mean`."""
        shift = self.g.constant(np.reshape(mean, (-1, 1, 1)))
        return self.g.op("Add", self.times(x, 1 / factor), shift)

    def planes_norm(self, x: Value, name: str, channels: int, epsilon: float) -> Value:
        """Emit layer normalisation over the channels of each pixel."""
        g, across = self.g, self.g.integers([1])
        mean = g.op("ReduceMean", x, across, keepdims=1)
        apart = g.op("Add", x, g.op("Mul", mean, g.constant(-1.0)))
        variance = g.op("ReduceMean", g.op("Mul", apart, apart), across, keepdims=1)
        deviation = g.op("Sqrt", g.op("Add", variance, g.constant(epsilon)))
        normal = g.op(
            "Mul", g.op("Div", apart, deviation), self.per_channel(f"{name}.weight", channels)
        )
        return g.op("Add", normal, self.per_channel(f"{name}.bias", channels))


def unshuffling_kernel(channels: int, factor: int) -> Array:
    """Return the kernel [C f^2, C, f, f] that takes each pixel of a square to a channel of its own.

    Channel c f^2 + f row + column of the result is the pixel at (row, column) of channel c.
    """
    kernel = np.zeros((channels, factor, factor, channels, factor, factor), np.float32)
    places = np.indices((channels, factor, factor)).reshape(3, -1)
    kernel[(*places, *places)] = 1
    return kernel.reshape(channels * factor**2, channels, factor, factor)
