"""The bytes of weights that a runtime holds in memory of its own, beside those that it is given."""

from collections.abc import Collection

from backends.base import DType
from backends.forms import BlockForm
from engine.weights.packing import Packing, packing_of
from engine.weights.sources import WeightSource

# The axes of a convolution's weight.
_CONVOLUTION = 4


def runtime_bytes(
    sources: Collection[WeightSource], element: DType, form: BlockForm, *, in_place: bool = False
) -> int:
    """Return the bytes that a runtime holds of weights bound in `element` type.

    Without `in_place` all weights are packed, but for those in blocks: ONNX Runtime's MatMulNBits
    packs integers of 4 bits without zeros of their own, never scales, and turns all others to
    float32 as it multiplies, one layer at a time (`contrib_ops/cpu/quantization/matmul_nbits.cc`).
    In place it does so with all blocks, and orders only the weights of convolutions anew.
    """
    held = widest = 0
    for source in sources:
        packing = packing_of(source, form)
        if packing is None:
            packs = not in_place or len(source.shape) == _CONVOLUTION
            held += source.elements * element.itemsize * packs
        elif in_place or not _is_packed(packing):
            widest = max(widest, source.elements * DType.F32.itemsize)
        else:
            held += source.elements * packing.bits // 8
    return held + widest


def _is_packed(packing: Packing) -> bool:
    return packing.bits == 4 and not packing.has_zeros
