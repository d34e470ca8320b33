"""Sizes that the fused kernels of ONNX Runtime's CUDA provider support.

Other sizes are emitted with plain operators. Read from the sources
(github.com/microsoft/onnxruntime, onnxruntime/contrib_ops/cuda) and the published library;
`tests/graphs/test_fused.py` names the files and looks for their messages.
"""

from backends.base import DType

# diffusion/bias_split_gelu.cc: both halves together.
_SPLIT_GELU_WIDTHS = frozenset({2560, 5120, 10240})
# diffusion/group_norm_common_base.h: the most channels of a block of threads, and those per thread.
_MOST_CHANNELS, _CHANNELS_PER_THREAD = 512, 2
# bert/attention_prepare_qkv.cu: the flash and memory-efficient kernels take packed heads in half
# precision at any length (in single precision only long sequences), with widths in steps of 8.
_HEAD_STEP = 8


def splits_gelu(width: int) -> bool:
    """True if BiasSplitGelu supports a layer of `width`, both halves together."""
    return width in _SPLIT_GELU_WIDTHS


def normalises(channels: int, groups: int) -> bool:
    """True if GroupNorm supports this many channels in this many groups."""
    size = channels // groups
    return size % _CHANNELS_PER_THREAD == 0 and size <= _MOST_CHANNELS


def packs_heads(element: DType, width: int) -> bool:
    """True if MultiHeadAttention takes packed heads of `width` in this element type."""
    return element is DType.F16 and width % _HEAD_STEP == 0
