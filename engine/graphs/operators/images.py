"""Operators over pictures: convolution, group normalisation, and changes of size and layout."""

from collections.abc import Sequence

import numpy as np

from backends.base import Array, DType
from backends.forms import GroupNormForm, Layout, UpsamplingForm
from engine.graphs.builder import Value
from engine.graphs.operators import limits
from engine.graphs.operators.deferred_sums import MICROSOFT, Sum
from engine.graphs.operators.layers import LayerWriter

_CHANNELS_AT_ONCE = 16
# The end of a slice that reaches to the end of its axis, whatever its length.
_END = 2**31 - 1
# Shapes of a 3x3 kernel while its taps are summed along one axis, then along the other.
_KERNELS = ((3, 3), (4, 3), (4, 4))
_TO_CHANNELS_LAST, _TO_PLANES = (0, 2, 3, 1), (0, 3, 1, 2)


class ImageWriter(LayerWriter):
    """Operators over images in the operator set's layout.

    `wraps` says along which axes, height and width, the opposite edges of an image are neighbours:
    there convolutions pad with the other edge and not with zeros (PyTorch's padding mode
    "circular"), unless the network states its pads.
    """

    wraps: tuple[bool, bool] = (False, False)

    @property
    def planes(self) -> bool:
        """True where images are [batch, channels, height, width]."""
        return self.operators.layout is Layout.PLANES

    def from_planes(self, x: Value) -> Value:
        """Convert [batch, channels, height, width] to the layout of images."""
        return x if self.planes else self.op("Transpose", x, perm=_TO_CHANNELS_LAST)

    def to_planes(self, x: Value) -> Value:
        """Convert an image to [batch, channels, height, width]."""
        return x if self.planes else self.op("Transpose", x, perm=_TO_PLANES)

    def conv(
        self,
        x: Value,
        name: str,
        channels: tuple[int, int],
        *,
        kernel: int = 3,
        stride: int = 1,
        pads: tuple[int, int, int, int] | None = None,
        bias: bool = True,
    ) -> Value:
        """Emit a convolution of channels[0] to channels[1]; `pads` is top, left, bottom, right."""
        around = kernel // 2
        weight = self._kernel(f"{name}.weight", channels, kernel)
        shift = self.weight(f"{name}.bias", (channels[1],)) if bias else ""
        x = self.settled(x)
        if pads is None and around:
            x = self._extended(x, around)
            above, left = (0 if wraps else around for wraps in self.wraps)
            pads = above, left, above, left

        window = {
            "kernel_shape": (kernel, kernel),
            "strides": (stride, stride),
            "pads": pads or (0,) * 4,
        }

        def product(shift: Value) -> Value:
            kind, domain = ("Conv", "") if self.planes else ("NhwcConv", MICROSOFT)
            inputs = (x, weight, shift) if shift else (x, weight)
            y = self.op(kind, *inputs, domain=domain, **window)
            return self.beside_conv(y, x, name, channels, window, planes=self.planes)

        return self.hold(Sum(product, shift)) if self.holds_sums and bias else product(shift)

    def _extended(self, x: Value, by: int) -> Value:
        """Extend an image by `by` pixels of its opposite edges along the axes that wrap."""
        for place, wraps in enumerate(self.wraps, start=2 if self.planes else 1):
            if wraps:
                axis = self.integers([place])
                last = self.op("Slice", x, self.integers([-by]), self.integers([_END]), axis)
                first = self.op("Slice", x, self.integers([0]), self.integers([by]), axis)
                x = self.op("Concat", last, x, first, axis=place)
        return x

    def _kernel(self, name: str, channels: tuple[int, int], size: int) -> Value:
        """Use a stored kernel [out, in, size, size] in the convolution's layout."""
        inner, outer = channels
        stored = (outer, inner, size, size)
        if self.planes:
            return self.weight(name, stored)
        wanted, label = (outer, size, size, inner), "channels_last"
        if size == 1:
            return self.weight_as(name, stored, wanted, label)
        return self.derived_weight([name], stored, wanted, channels_last, label)

    def shift(self, x: Value, by: Value, channels: int, *, shared: bool = True) -> Value:
        """Add a number to each channel of an image.

        `by` is [1, channels] if the images of a batch share it (`shared`), else [batch, channels].
        """
        held = self.held(x)
        if shared and held is not None and held.bias and not held.skip:
            # Added to the convolution's own bias, so that the image is not read once more.
            flat = self.op("Reshape", by, self.integers([channels]))
            bias = self.op("Add", held.bias, flat)
            return self.hold(Sum(held.product, bias))
        per_channel = [0, channels, 1, 1] if self.planes else [0, 1, 1, channels]
        return self.op("Add", x, self.op("Reshape", by, self.integers(per_channel)))

    def norm_silu(
        self, x: Value, name: str, channels: int, groups: int, epsilon: float = 1e-5
    ) -> Value:
        """Emit group normalisation and SiLU, as before every convolution of a residual block."""
        if self._fuses_norm(channels, groups):
            return self._fused_norm(x, name, channels, groups, epsilon, silu=True)
        return self.silu(self.group_norm(x, name, channels, groups, epsilon))

    def group_norm(
        self, x: Value, name: str, channels: int, groups: int, epsilon: float = 1e-5
    ) -> Value:
        """Emit group normalisation of an image (Wu & He 2018)."""
        if self._fuses_norm(channels, groups):
            return self._fused_norm(x, name, channels, groups, epsilon, silu=False)
        scale = self.weight(f"{name}.weight", (channels,))
        shift = self.weight(f"{name}.bias", (channels,))
        x = self.to_planes(x)
        if self.operators.group_norm is GroupNormForm.STANDARD:
            y = self.op("GroupNormalization", x, scale, shift, num_groups=groups, epsilon=epsilon)
            return self.from_planes(y)
        grouped = self.op("Reshape", x, self.integers([0, groups, -1]))
        ones, zeros = self.constant(np.ones(groups)), self.constant(np.zeros(groups))
        normal = self.op("InstanceNormalization", grouped, ones, zeros, epsilon=epsilon)
        y = self.op("Reshape", normal, self.op("Shape", x))
        per_channel = self.integers([1, -1, 1, 1])
        y = self.op("Mul", y, self.op("Reshape", scale, per_channel))
        return self.from_planes(self.op("Add", y, self.op("Reshape", shift, per_channel)))

    def _fuses_norm(self, channels: int, groups: int) -> bool:
        fused = self.operators.group_norm is GroupNormForm.FUSED
        return fused and limits.normalises(channels, groups)

    def _fused_norm(
        self, x: Value, name: str, channels: int, groups: int, epsilon: float, *, silu: bool
    ) -> Value:
        scale, shift = (self.weight(f"{name}.{part}", (channels,)) for part in ("weight", "bias"))
        if self.element is not DType.F32:
            # The kernels take scale and shift only in float32; the runtime converts them at load
            # time.
            scale, shift = self.cast(scale, DType.F32), self.cast(shift, DType.F32)
        attributes = {"groups": groups, "activation": int(silu), "channels_last": 1}
        total = self.held_residual(x)
        if total is None:
            inputs = (x, scale, shift)
            return self.op("GroupNorm", *inputs, domain=MICROSOFT, epsilon=epsilon, **attributes)
        normal, whole = self.outputs(
            "SkipGroupNorm",
            *(total.product(""), scale, shift, total.skip),
            *([total.bias] if total.bias else []),
            places=(0, 1),
            domain=MICROSOFT,
            epsilon=epsilon,
            **attributes,
        )
        self.take(x, whole)
        return normal

    def join(self, x: Value, y: Value) -> Value:
        """Concatenate the channels of two images."""
        return self.op("Concat", x, y, axis=1 if self.planes else 3)

    def to_tokens(self, x: Value, channels: int) -> Value:
        """Reshape an image to [batch, height * width, channels]."""
        if not self.planes:
            return self.op("Reshape", x, self.integers([0, -1, channels]))
        flat = self.op("Reshape", x, self.integers([0, channels, -1]))
        return self.op("Transpose", flat, perm=[0, 2, 1])

    def to_image(self, x: Value, like: Value) -> Value:
        """Reshape [batch, height * width, channels] to the shape of the image `like`."""
        if self.planes:
            x = self.op("Transpose", x, perm=[0, 2, 1])
        return self.op("Reshape", x, self.op("Shape", like))

    def doubled_conv(
        self, x: Value, name: str, channels: tuple[int, int], *, bias: bool = True
    ) -> Value:
        """Emit nearest-neighbour upsampling to twice the size, then a 3x3 convolution."""
        if self.operators.upsampling is UpsamplingForm.RESIZE or self.has_branch(name):
            scales = self.constant([1, 1, 2, 2] if self.planes else [1, 2, 2, 1], DType.F32)
            return self.conv(self._resize(x, "", scales), name, channels, bias=bias)
        stored, summed = (channels[1], channels[0], 3, 3), (*channels, 4, 4)
        label = summed_for_doubling.__name__
        kernel = self.derived_weight([f"{name}.weight"], stored, summed, summed_for_doubling, label)
        x = self._extended(self.settled(x), 1)
        # A pixel that was added at an edge becomes two, which are cut off with the usual one.
        pads = 2 * [3 if wraps else 1 for wraps in self.wraps]
        return self.op(
            "ConvTranspose",
            *(x, kernel),
            *([self.weight(f"{name}.bias", (channels[1],))] if bias else []),
            kernel_shape=[4, 4],
            strides=[2, 2],
            pads=pads,
        )

    def resize_like(self, x: Value, like: Value) -> Value:
        """Emit nearest-neighbour upsampling of `x` to the height and width of `like`.

        An odd size on the way down is not twice its half on the way up.
        """
        if self.planes:
            channels = self.op("Shape", x, start=0, end=2)
            parts = (channels, self.op("Shape", like, start=2, end=4))
        else:
            batch, channels = self.op("Shape", x, start=0, end=1), self.op("Shape", x, start=3)
            parts = (batch, self.op("Shape", like, start=1, end=3), channels)
        return self._resize(x, "", "", self.op("Concat", *parts, axis=0))

    def _resize(self, *inputs: Value) -> Value:
        """Emit a resize by PyTorch's "nearest": output i reads input floor(i * in / out)."""
        return self.op(
            "Resize",
            *inputs,
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )


def channels_last(weights: Sequence[Array], out: Array) -> None:
    """Write a kernel [out, in, height, width] as [out, height, width, in]."""
    (weight,) = weights
    out[...] = weight.transpose(0, 2, 3, 1)


def summed_for_doubling(weights: Sequence[Array], out: Array) -> None:
    """Write the kernel [in, out, 4, 4] of a transposed convolution of stride 2 and padding 1.

    It equals a convolution with `weights`, a single [out, in, 3, 3], after nearest-neighbour
    doubling. Along one axis, output 2j is w0 x[j-1] + (w1 + w2) x[j], and output 2j + 1 is (w0 +
    w1) x[j] + w2 x[j+1]: taps that read the same input are summed beforehand.
    """
    (weight,) = weights
    count, inner = weight.shape[:2]
    step = min(_CHANNELS_AT_ONCE, count)
    # In float32, a few channels at a time in the same small arrays: the first use of fresh memory
    # is slow.
    taps, half, full = (np.empty((step, inner, *kernel), np.float32) for kernel in _KERNELS)
    for start in range(0, count, step):
        size = min(step, count - start)
        taps[:size] = weight[start : start + size]
        for axis, source, sums in ((2, taps, half), (3, half, full)):
            first, middle, last = np.moveaxis(source, axis, 0)
            sums = np.moveaxis(sums, axis, 0)
            sums[0], sums[3] = last, first
            np.add(middle, last, out=sums[1])
            np.add(first, middle, out=sums[2])
        out[:, start : start + size] = full[:size].transpose(1, 0, 2, 3)
