"""The operators of diffusion networks, each written in the form the backend's compiler runs best.

Networks call these and never ask which vendor. Which form pays where is measured in
`benchmarks/`; which operators a runtime has is in its backend's `OperatorSet`.
"""

import math

import numpy as np

from backends.base import (
    Array,
    AttentionForm,
    DType,
    GeluForm,
    GroupNormForm,
    LinearForm,
    UpsamplingForm,
)
from engine.graphs.builder import NodeWriter, Value

_MICROSOFT = "com.microsoft"
_CHANNELS_AT_ONCE = 16
# A 3x3 kernel, and what it is on the way to its sums.
_KERNELS = ((3, 3), (4, 3), (4, 4))


class GraphBuilder(NodeWriter):
    """A `NodeWriter` that speaks the vocabulary of diffusion networks.

    Activations are [batch, channels, height, width] in convolutions and [batch, tokens, width] in
    transformers. A layer's weights are `<name>.weight` and `<name>.bias`.
    """

    def conv(
        self,
        x: Value,
        name: str,
        channels: tuple[int, int],
        *,
        kernel: int = 3,
        stride: int = 1,
        pads: tuple[int, int, int, int] | None = None,
    ) -> Value:
        """A convolution from channels[0] to channels[1]; `pads` is top, left, bottom, right."""
        around = kernel // 2
        weight = self.weight(f"{name}.weight", (channels[1], channels[0], kernel, kernel))
        bias = self.weight(f"{name}.bias", (channels[1],))
        return self.op(
            "Conv",
            x,
            weight,
            bias,
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=list(pads or (around,) * 4),
        )

    def linear(self, x: Value, name: str, widths: tuple[int, int], *, bias: bool = True) -> Value:
        """x W^T + b from widths[0] to widths[1]; W is stored [out, in] as in every checkpoint."""
        y = self._times_transposed(x, self.weight(f"{name}.weight", (widths[1], widths[0])))
        return self.op("Add", y, self.weight(f"{name}.bias", (widths[1],))) if bias else y

    def _times_transposed(self, x: Value, weight: Value) -> Value:
        if self.operators.linear is LinearForm.FUSED_MATMUL:
            return self.op("FusedMatMul", x, weight, domain=_MICROSOFT, transB=1)
        return self.op("MatMul", x, self.op("Transpose", weight, perm=[1, 0]))

    def geglu(self, x: Value, name: str, widths: tuple[int, int]) -> Value:
        """value * gelu(gate) of one linear layer to 2 * widths[1] (Shazeer 2020).

        Value and gate are each half of the layer's rows: two products of half the width need no
        copy to part them.
        """
        inner, outer = widths
        halves: list[Value] = []
        for start in (0, outer):
            rows = (start, start + outer)
            weight = self.weight_rows(f"{name}.weight", (2 * outer, inner), *rows)
            bias = self.weight_rows(f"{name}.bias", (2 * outer,), *rows)
            halves.append(self.op("Add", self._times_transposed(x, weight), bias))
        value, gate = halves
        return self.op("Mul", value, self.gelu(gate))

    def silu(self, x: Value) -> Value:
        """x * sigmoid(x) (Elfwing et al. 2017)."""
        return self.op("Mul", x, self.op("Sigmoid", x))

    def quick_gelu(self, x: Value) -> Value:
        """x * sigmoid(1.702 x), the approximation OpenAI's CLIP was trained with."""
        return self.op("Mul", x, self.op("Sigmoid", self.op("Mul", x, self.constant(1.702))))

    def gelu(self, x: Value) -> Value:
        """x * Phi(x), exact (Hendrycks & Gimpel 2016)."""
        if self.operators.gelu is GeluForm.STANDARD:
            return self.op("Gelu", x)
        erf = self.op("Erf", self.op("Mul", x, self.constant(math.sqrt(0.5))))
        halved = self.op("Mul", x, self.constant(0.5))
        return self.op("Mul", halved, self.op("Add", erf, self.constant(1.0)))

    def group_norm(
        self, x: Value, name: str, channels: int, groups: int, epsilon: float = 1e-5
    ) -> Value:
        """Group normalisation over [batch, channels, height, width] (Wu & He 2018)."""
        scale = self.weight(f"{name}.weight", (channels,))
        bias = self.weight(f"{name}.bias", (channels,))
        if self.operators.group_norm is GroupNormForm.STANDARD:
            return self.op("GroupNormalization", x, scale, bias, num_groups=groups, epsilon=epsilon)
        grouped = self.op("Reshape", x, self.integers([0, groups, -1]))
        ones, zeros = self.constant(np.ones(groups)), self.constant(np.zeros(groups))
        normal = self.op("InstanceNormalization", grouped, ones, zeros, epsilon=epsilon)
        y = self.op("Reshape", normal, self.op("Shape", x))
        per_channel = self.integers([1, -1, 1, 1])
        y = self.op("Mul", y, self.op("Reshape", scale, per_channel))
        return self.op("Add", y, self.op("Reshape", bias, per_channel))

    def layer_norm(self, x: Value, name: str, width: int, epsilon: float = 1e-5) -> Value:
        """Layer normalisation over the last axis (Ba et al. 2016)."""
        scale = self.weight(f"{name}.weight", (width,))
        bias = self.weight(f"{name}.bias", (width,))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)

    def attention(
        self,
        q: Value,
        k: Value,
        v: Value,
        heads: int,
        head_width: int,
        *,
        causal_over: int = 0,
        hidden: Value | None = None,
    ) -> Value:
        """softmax(q k^T / sqrt(head_width)) v per head; all [batch, tokens, heads * head_width].

        `causal_over` is the number of tokens where each attends only to itself and those before it,
        0 where every token attends to all. `hidden`, [batch, 1, 1, tokens], is added to the scores.
        """
        kernels = self.operators.attention_kernels
        without = kernels is not None and not kernels.serve(self.element, head_width)
        if without or hidden is not None:
            # Where hidden: rare and small enough that the form does not matter for speed.
            return self._primitive_attention(q, k, v, heads, head_width, causal_over, hidden)
        match self.operators.attention:
            case AttentionForm.MULTI_HEAD:
                return self.op(
                    "MultiHeadAttention",
                    *(q, k, v),
                    domain=_MICROSOFT,
                    num_heads=heads,
                    unidirectional=int(causal_over > 0),
                )
            case AttentionForm.STANDARD:
                return self.op(
                    "Attention",
                    *(q, k, v),
                    q_num_heads=heads,
                    kv_num_heads=heads,
                    is_causal=int(causal_over > 0),
                )
            case AttentionForm.PRIMITIVE:
                return self._primitive_attention(q, k, v, heads, head_width, causal_over)

    def _primitive_attention(
        self,
        q: Value,
        k: Value,
        v: Value,
        heads: int,
        head_width: int,
        causal_over: int,
        hidden: Value | None = None,
    ) -> Value:
        def split(x: Value, perm: list[int]) -> Value:
            per_head = self.op("Reshape", x, self.integers([0, 0, heads, head_width]))
            return self.op("Transpose", per_head, perm=perm)

        scores = self.op("MatMul", split(q, [0, 2, 1, 3]), split(k, [0, 2, 3, 1]))
        scores = self.op("Mul", scores, self.constant(head_width**-0.5))
        if causal_over:
            # Finite, so that a row never becomes inf - inf; it vanishes after the softmax.
            later = np.triu(np.full((causal_over, causal_over), -1e4), 1)
            scores = self.op("Add", scores, self.constant(later))
        if hidden is not None:
            scores = self.op("Add", scores, hidden)
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), split(v, [0, 2, 1, 3]))
        merged = self.op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.op("Reshape", merged, self.integers([0, 0, heads * head_width]))

    def to_tokens(self, x: Value, channels: int) -> Value:
        """[batch, channels, height, width] to [batch, height * width, channels]."""
        flat = self.op("Reshape", x, self.integers([0, channels, -1]))
        return self.op("Transpose", flat, perm=[0, 2, 1])

    def to_image(self, x: Value, like: Value) -> Value:
        """[batch, height * width, channels] back to the shape of `like`."""
        return self.op("Reshape", self.op("Transpose", x, perm=[0, 2, 1]), self.op("Shape", like))

    def doubled_conv(self, x: Value, name: str, channels: tuple[int, int]) -> Value:
        """Nearest-neighbour upsampling to twice the height and width, then a 3x3 convolution."""
        if self.operators.upsampling is UpsamplingForm.RESIZE:
            scales = self.constant([1, 1, 2, 2], DType.F32)
            return self.conv(self._resize(x, "", scales), name, channels)
        stored, summed = (channels[1], channels[0], 3, 3), (*channels, 4, 4)
        kernel = self.derived_weight(f"{name}.weight", stored, summed, summed_for_doubling)
        bias = self.weight(f"{name}.bias", (channels[1],))
        return self.op(
            "ConvTranspose",
            *(x, kernel, bias),
            kernel_shape=[4, 4],
            strides=[2, 2],
            pads=[1, 1, 1, 1],
        )

    def resize_like(self, x: Value, like: Value) -> Value:
        """Nearest-neighbour upsampling of `x` to the height and width of `like`.

        Where a size was odd on the way down, twice the half is not the size on the way up.
        """
        channels = self.op("Shape", x, start=0, end=2)
        size = self.op("Concat", channels, self.op("Shape", like, start=2, end=4), axis=0)
        return self._resize(x, "", "", size)

    def _resize(self, *inputs: Value) -> Value:
        """PyTorch's "nearest": output i reads input floor(i * in / out)."""
        return self.op(
            "Resize",
            *inputs,
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )

    def repeat_batch(self, x: Value, rank: int, times: Value) -> Value:
        """The whole batch of `x`, of `rank` axes, `times` (int64 [1]) times over."""
        repeats = self.op("Concat", times, self.integers([1] * (rank - 1)), axis=0)
        return self.op("Tile", x, repeats)


def summed_for_doubling(weight: Array, out: Array) -> None:
    """Write the kernel [in, out, 4, 4] of a transposed convolution of stride 2 and padding 1.

    It does what a convolution with `weight` [out, in, 3, 3] does after nearest-neighbour doubling.
    Along one axis, output 2j sees w0 x[j-1] + (w1 + w2) x[j], and output 2j + 1 sees
    (w0 + w1) x[j] + w2 x[j+1]: pairs of taps that read the same input are summed beforehand.
    """
    count, inner = weight.shape[:2]
    step = min(_CHANNELS_AT_ONCE, count)
    # In float32, a few channels at a time in the same small arrays: memory is slow to touch first.
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
