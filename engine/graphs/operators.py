"""The operators of diffusion networks, each written in the form the backend's compiler runs best.

Networks call these and never ask which vendor. Which form pays where is measured in
`benchmarks/`; which operators a runtime has is in its backend's `OperatorSet`.
"""

import math

import numpy as np

from backends.base import AttentionForm, DType, GeluForm, GroupNormForm, LinearForm
from engine.graphs.builder import NodeWriter, Value

_MICROSOFT = "com.microsoft"


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
        weight = self.weight(f"{name}.weight", (widths[1], widths[0]))
        if self.operators.linear is LinearForm.FUSED_MATMUL:
            y = self.op("FusedMatMul", x, weight, domain=_MICROSOFT, transB=1)
        else:
            y = self.op("MatMul", x, self.op("Transpose", weight, perm=[1, 0]))
        return self.op("Add", y, self.weight(f"{name}.bias", (widths[1],))) if bias else y

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
        self, q: Value, k: Value, v: Value, heads: int, head_width: int, *, causal_over: int = 0
    ) -> Value:
        """softmax(q k^T / sqrt(head_width)) v per head; all [batch, tokens, heads * head_width].

        `causal_over` is the number of tokens where each attends only to itself and those before it,
        0 where every token attends to all.
        """
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
        self, q: Value, k: Value, v: Value, heads: int, head_width: int, causal_over: int
    ) -> Value:
        def split(x: Value, perm: list[int]) -> Value:
            per_head = self.op("Reshape", x, self.integers([0, 0, heads, head_width]))
            return self.op("Transpose", per_head, perm=perm)

        scores = self.op("MatMul", split(q, [0, 2, 1, 3]), split(k, [0, 2, 3, 1]))
        scores = self.op("Mul", scores, self.constant(head_width**-0.5))
        if causal_over:
            # Finite, so that a row never becomes inf - inf; it vanishes after the softmax.
            hidden = np.triu(np.full((causal_over, causal_over), -1e4), 1)
            scores = self.op("Add", scores, self.constant(hidden))
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

    def double(self, x: Value) -> Value:
        """Nearest-neighbour upsampling to twice the height and width."""
        scales = self.constant([1, 1, 2, 2], DType.F32)
        return self._resize(x, "", scales)

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

    def halves(self, x: Value, width: int) -> tuple[Value, Value]:
        """The two halves, `width` each, of the last axis."""
        first, second = self.ops("Split", 2, x, self.integers([width, width]), axis=-1)
        return first, second
