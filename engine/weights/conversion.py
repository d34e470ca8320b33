"""Numbers of one type as numbers of another, rounded to nearest: NumPy's results, but sooner.

NumPy converts float16 one by one. Here the bits of many are moved at once, as processors do well
(F. Giesen, "Half to float done quickly"). The few numbers for which that is not exact are NumPy's.
"""

import numpy as np

from backends.base import Array, DType

# Arrays are converted in pieces of this many elements, which stay in a processor's cache.
_PIECE = 1 << 17
# float16 has 10 bits of a fraction where float32 has 23, and its exponent begins 112 lower.
_SHIFT, _REBIAS = 13, 112
_MAGNITUDE_16, _INFINITE_16 = np.uint16(0x7FFF), 0x7C00
# Bits 28 to 30 of a float32, which copies of float16's sign fill when it is shifted.
_BETWEEN = np.int32(~0x70000000)
# The quotient of the same exponent bits read as float32 and as float16.
_SCALE = np.float32(2.0**_REBIAS)
_MAGNITUDE_32, _SIGN_16 = np.uint32(0x7FFFFFFF), np.uint32(0x8000)
# The bits of 2^-14, float16's smallest number of full precision, and their distance to 2^16's.
_SMALLEST, _NORMAL = np.uint32((_REBIAS + 1) << 23), np.uint32(30 << 23)
# Restores float16's exponent after `_SMALLEST` is subtracted, and rounds up what is above a half.
_ROUNDING = np.uint32((1 << 23) + (1 << (_SHIFT - 1)) - 1)


def converted(numbers: Array, element: DType) -> Array:
    """Return a copy of numbers in `element` type."""
    found = np.empty(numbers.shape, element.numpy)
    # The numbers may be a view of a file; slices of a plain array are cheaper.
    flat, out = np.asarray(numbers).reshape(-1), found.reshape(-1)
    for first in range(0, flat.size, _PIECE):
        convert(flat[first : first + _PIECE], out[first : first + _PIECE])
    return found


def convert(numbers: Array, out: Array) -> None:
    """Write numbers of any type to `out`, of the same shape in one dimension."""
    if numbers.dtype == np.float16 and out.dtype == np.float32:
        _widen(numbers, out)
    elif numbers.dtype == np.float16 and out.dtype == DType.BF16.numpy:
        wide = np.empty(numbers.shape, np.float32)
        _widen(numbers, wide)
        np.copyto(out, wide, casting="unsafe")
    elif numbers.dtype == np.float32 and out.dtype == np.float16:
        _narrow(numbers, out)
    else:
        np.copyto(out, numbers, casting="unsafe")


def _widen(halves: Array, out: Array) -> None:
    """Shift float16's bits to their place in float32, and scale; NumPy if one is not finite."""
    if not halves.size or not _is_finite(halves):
        np.copyto(out, halves)
        return
    bits = out.view(np.int32)
    np.copyto(bits, halves.view(np.int16))
    np.left_shift(bits, _SHIFT, out=bits)
    np.bitwise_and(bits, _BETWEEN, out=bits)
    np.multiply(out, _SCALE, out=out)


def _is_finite(halves: Array) -> bool:
    return int(np.bitwise_and(halves.view(np.uint16), _MAGNITUDE_16).max()) < _INFINITE_16


def _narrow(numbers: Array, out: Array) -> None:
    """Round float32's bits to float16's fraction, ties to even; NumPy beyond normal numbers."""
    bits = numbers.view(np.uint32)
    moved = np.bitwise_and(bits, _MAGNITUDE_32)
    np.subtract(moved, _SMALLEST, out=moved)
    others = np.flatnonzero(moved >= _NORMAL)
    spare = np.right_shift(bits, _SHIFT)
    np.bitwise_and(spare, 1, out=spare)
    np.add(moved, spare, out=moved)
    np.add(moved, _ROUNDING, out=moved)
    np.right_shift(moved, _SHIFT, out=moved)
    np.right_shift(bits, 16, out=spare)
    np.bitwise_and(spare, _SIGN_16, out=spare)
    np.bitwise_or(moved, spare, out=moved)
    np.copyto(out.view(np.uint16), moved, casting="unsafe")
    out[others] = numbers[others]
