"""What the fused kernels of ONNX Runtime's CUDA provider refuse, which is then written plainly.

Read in its sources (github.com/microsoft/onnxruntime, onnxruntime/contrib_ops/cuda) and in the
published library; `tests/graphs/test_fused.py` names the files and looks for their messages.
"""

from backends.base import DType

# diffusion/bias_split_gelu.cc: both halves together.
_SPLIT_GELU_WIDTHS = frozenset({2560, 5120, 10240})
# diffusion/group_norm_common_base.h: channels a block of threads has at most, and each thread has.
_MOST_CHANNELS, _CHANNELS_PER_THREAD = 512, 2
# bert/attention_prepare_qkv.cu: packed heads are for the flash and memory-efficient kernels, which
# take half precision at any length (in single, only long sequences) and heads in eights.
_HEAD_STEP = 8


def splits_gelu(width: int) -> bool:
    """Whether BiasSplitGelu has a kernel for a layer of `width`, both halves together."""
    return width in _SPLIT_GELU_WIDTHS


def normalises(channels: int, groups: int) -> bool:
    """Whether GroupNorm has a kernel for so many channels in so many groups."""
    size = channels // groups
    return size % _CHANNELS_PER_THREAD == 0 and size <= _MOST_CHANNELS


def packs_heads(element: DType, width: int) -> bool:
    """Whether MultiHeadAttention takes heads of `width` packed together, in this element type."""
    return element is DType.F16 and width % _HEAD_STEP == 0
