"""Float16 and other numbers as float32, for sums that are computed in pieces."""

import numpy as np

from backends.base import Array

_MAGNITUDE, _INFINITE = np.uint16(0x7FFF), 0x7C00
# Bits 28 to 30 of a float32, which copies of float16's sign fill when it is shifted.
_BETWEEN = np.int32(~0x70000000)
# The quotient of the same exponent bits read as float32 and as float16: 2^(127 - 15).
_SCALE = np.float32(2.0**112)


def widen(stored: Array, out: Array) -> None:
    """Write numbers of any type to `out`, float32 of the same shape; float16 at twice the speed.

    NumPy converts float16 one by one. Here its bits are shifted to the place that they have in
    float32 and scaled, which is exact, and which processors do for many numbers at once (F. Giesen,
    "Half to float done quickly"). Infinity and NaN would need more: where one is, NumPy converts.
    """
    if stored.dtype != np.float16 or not stored.size or not _is_finite(stored):
        np.copyto(out, stored, casting="unsafe")
        return
    bits = out.view(np.int32)
    np.copyto(bits, stored.view(np.int16))
    np.left_shift(bits, 13, out=bits)
    np.bitwise_and(bits, _BETWEEN, out=bits)
    np.multiply(out, _SCALE, out=out)


def _is_finite(halves: Array) -> bool:
    return int(np.bitwise_and(halves.view(np.uint16), _MAGNITUDE).max()) < _INFINITE
