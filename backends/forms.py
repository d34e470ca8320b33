"""The ways in which an operator can be written; a backend chooses those its compiler runs best."""

from enum import StrEnum


class AttentionForm(StrEnum):
    """How scaled dot-product attention is written."""

    PRIMITIVE = "primitive"  # MatMul, Softmax, MatMul
    STANDARD = "standard"  # ai.onnx Attention, opset 23
    MULTI_HEAD = "multi_head"  # com.microsoft MultiHeadAttention
    # The same, with keys and values (and queries, of themselves) from one product.
    PACKED = "packed"


class Layout(StrEnum):
    """In which order the axes of an image are, and with it how a convolution is written."""

    PLANES = "planes"  # [batch, channels, height, width], ai.onnx Conv
    # [batch, height, width, channels], com.microsoft NhwcConv
    CHANNELS_LAST = "channels_last"


class GroupNormForm(StrEnum):
    """How group normalisation is written."""

    INSTANCE = "instance"  # Reshape, InstanceNormalization, Reshape, affine
    STANDARD = "standard"  # ai.onnx GroupNormalization, opset 21
    # com.microsoft GroupNorm with SiLU, and SkipGroupNorm with the sum before it; channels last.
    FUSED = "fused"


class LayerNormForm(StrEnum):
    """How layer normalisation is written."""

    STANDARD = "standard"  # ai.onnx LayerNormalization, opset 17
    SKIP = "skip"  # com.microsoft SkipLayerNormalization with the sum before it


class ResidualForm(StrEnum):
    """How a linear layer's bias and a residual are added."""

    ADD = "add"
    BIAS_ADD = "bias_add"  # com.microsoft BiasAdd


class GeluForm(StrEnum):
    """How the exact GELU is written."""

    ERF = "erf"
    STANDARD = "standard"  # ai.onnx Gelu, opset 20


class GegluForm(StrEnum):
    """How a linear layer gated by GELU is written."""

    HALVES = "halves"  # two products of half the width
    BIAS_SPLIT = "bias_split"  # com.microsoft BiasSplitGelu


class LinearForm(StrEnum):
    """How x W^T + b is written; W is stored [out, in] as in every checkpoint."""

    TRANSPOSE_MATMUL = "transpose_matmul"
    FUSED_MATMUL = "fused_matmul"  # com.microsoft FusedMatMul with transB


class UpsamplingForm(StrEnum):
    """How nearest-neighbour doubling before a 3x3 convolution is written."""

    RESIZE = "resize"  # Resize, Conv
    # One ConvTranspose with a 4x4 kernel of summed weights: 4/9 of the arithmetic.
    TRANSPOSED = "transposed"
