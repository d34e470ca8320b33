"""The operator forms that TensorRT maps to its own layers, each chosen by measurement.

Measured with TensorRT-RTX 1.7.1 and networks of SD 1.5's size (docs/tensorrt.md): as single
operators GroupNormalization and Gelu give fewer layers than written out, and engines no larger;
Resize keeps 51 MB of summed kernels out of the engine.
"""

from backends.base import AttentionKernels, DType, OperatorSet, Streaming
from backends.forms import AttentionForm, GeluForm, GroupNormForm, UpsamplingForm

# Attention of another type or width does not build at all ("not supported by a dedicated kernel"):
# tried on SM 7.5, 8.6, 8.9 and 12.0. SD's autoencoder has one head of 512.
_KERNELS = AttentionKernels(elements=(DType.F16, DType.BF16), head_widths=(16, 256))

# An engine whose weights can be streamed holds all of them on the host, so only engines of large
# networks are built so: those that would take more than half of the card's memory.
STREAMING = Streaming(least_share=0.5, copies_on_host=True)


def operators(*, attention: bool = True, bfloat16: bool = True) -> OperatorSet:
    """Return the operator forms for both APIs; without `attention` if that layer is missing."""
    half = (DType.F16, DType.BF16) if bfloat16 else (DType.F16,)
    return OperatorSet(
        opset=23 if attention else 21,
        elements=(DType.F32, *half),
        strongly_typed=True,
        attention=AttentionForm.STANDARD if attention else AttentionForm.PRIMITIVE,
        attention_kernels=_KERNELS,
        group_norm=GroupNormForm.STANDARD,
        gelu=GeluForm.STANDARD,
        upsampling=UpsamplingForm.RESIZE,
        streaming=STREAMING,
    )
