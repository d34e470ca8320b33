"""The proof that the processor rounds to 8 bits what it multiplies with weights in blocks."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# (the runtime ships no complete types)

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from backends.base import Array, Precision
from backends.intel_openvino import options

if TYPE_CHECKING:
    import openvino as ov

_SIDE, _BLOCK = 64, 32


@cache
def rounds_to_8_bits(core: "ov.Core") -> bool:
    """Return True if a product has other numbers where 8 bits are asked for.

    The plug-in rounds where the processor has instructions for sums of such products (AVX-VNNI,
    AVX512-VNNI, AMX), says so nowhere, and ignores the option on others. Where oneDNN may use
    fewer instructions than the processor has (ONEDNN_MAX_CPU_ISA), the product fails.
    """
    model = _product()
    exact = _result(core, model, Precision.F32)
    try:
        rounded = _result(core, model, Precision.INT8)
    except RuntimeError:
        return False
    return not np.array_equal(exact, rounded)


def _product() -> "ov.Model":
    import openvino as ov
    from openvino import opset13 as operations

    shape = (_SIDE, _SIDE // _BLOCK, _BLOCK)
    integers = np.arange(_SIDE * _SIDE, dtype=np.uint8).reshape(shape)
    zero = operations.convert(operations.constant(np.uint8(128)), ov.Type.f32)
    steps = operations.subtract(operations.convert(operations.constant(integers), "f32"), zero)
    scales = operations.constant(np.full((*shape[:2], 1), 1 / 128, np.float32))
    numbers = operations.multiply(steps, scales)
    matrix = operations.reshape(numbers, np.array([_SIDE, _SIDE]), special_zero=False)
    given = operations.parameter([-1, _SIDE], ov.Type.f32)
    product = operations.matmul(given, matrix, transpose_a=False, transpose_b=True)
    # The annotations of its own class exclude it.
    return ov.Model([product], [given])  # pyright: ignore[reportGeneralTypeIssues]


def _result(core: "ov.Core", model: "ov.Model", precision: Precision) -> Array:
    told = options.compile_options("cpu", precision, block_length=_BLOCK)
    feed = np.linspace(-1, 1, _SIDE * _SIDE, dtype=np.float32).reshape(_SIDE, _SIDE)
    return core.compile_model(model, "CPU", told)(feed)[0]
