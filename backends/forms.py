"""The forms in which an operator can be written; a backend chooses those its compiler runs best."""

from enum import StrEnum

import msgspec


class AttentionForm(StrEnum):
    """Forms of scaled dot-product attention."""

    PRIMITIVE = "primitive"  # MatMul, Softmax, MatMul
    STANDARD = "standard"  # ai.onnx Attention, opset 23
    MULTI_HEAD = "multi_head"  # com.microsoft MultiHeadAttention
    # MultiHeadAttention whose keys and values (and queries, in self-attention) come from one matrix
    # product.
    PACKED = "packed"


class Layout(StrEnum):
    """The order of an image's axes, and the convolution operator that goes with it."""

    PLANES = "planes"  # [batch, channels, height, width], ai.onnx Conv
    # [batch, height, width, channels], com.microsoft NhwcConv
    CHANNELS_LAST = "channels_last"


class GroupNormForm(StrEnum):
    """Forms of group normalisation."""

    INSTANCE = "instance"  # Reshape, InstanceNormalization, Reshape, affine
    STANDARD = "standard"  # ai.onnx GroupNormalization, opset 21
    # com.microsoft GroupNorm with SiLU, and SkipGroupNorm with the sum before it; channels last.
    FUSED = "fused"


class LayerNormForm(StrEnum):
    """Forms of layer normalisation."""

    STANDARD = "standard"  # ai.onnx LayerNormalization, opset 17
    SKIP = "skip"  # com.microsoft SkipLayerNormalization with the sum before it


class ResidualForm(StrEnum):
    """Forms of adding a linear layer's bias and a residual."""

    ADD = "add"
    BIAS_ADD = "bias_add"  # com.microsoft BiasAdd


class GeluForm(StrEnum):
    """Forms of the exact GELU."""

    ERF = "erf"
    STANDARD = "standard"  # ai.onnx Gelu, opset 20


class GegluForm(StrEnum):
    """Forms of a linear layer gated by GELU."""

    HALVES = "halves"  # two matrix products of half the width
    BIAS_SPLIT = "bias_split"  # com.microsoft BiasSplitGelu


class LinearForm(StrEnum):
    """Forms of x W^T + b; W is stored [out, in] as in every checkpoint."""

    TRANSPOSE_MATMUL = "transpose_matmul"
    FUSED_MATMUL = "fused_matmul"  # com.microsoft FusedMatMul with transB


class UpsamplingForm(StrEnum):
    """Forms of nearest-neighbour doubling before a 3x3 convolution."""

    RESIZE = "resize"  # Resize, Conv
    # One ConvTranspose with a 4x4 kernel of summed weights: 4/9 of the arithmetic.
    TRANSPOSED = "transposed"


class BlockForm(msgspec.Struct, frozen=True):
    """The form of linear layers with weights in blocks: com.microsoft MatMulNBits, of 4 or 8 bits.

    Weights that are stored in blocks of small integers stay in blocks. Of others, which are numbers
    of 16 or 32 bits or fp8, one keeps `bits`: 8 or 4, rounded into blocks, or 16 for all that it
    has. `joined`: blocks of 16 integers of 8 bits are joined to blocks of 32, rounded anew.
    """

    bits: int = 16
    joined: bool = False
