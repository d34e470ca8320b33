"""Ed25519 signatures, verified only (Bernstein et al. 2012; RFC 8032, 5.1.7).

Nothing secret passes through here, so that the time of the arithmetic tells nothing. As strict as
libsodium: scalars and points have one form each, and points of small order are refused.
"""

import hashlib

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
# A square root of -1.
_ROOT = pow(2, (_P - 1) // 4, _P)
_SIDE = 32

# Extended coordinates (X, Y, Z, T) with x = X / Z, y = Y / Z and x y = T / Z (RFC 8032, 5.1.4).
_Point = tuple[int, int, int, int]
_NEUTRAL: _Point = (0, 1, 1, 0)


def verifies(key: bytes, signature: bytes, content: bytes) -> bool:
    """Return True if a signature of 64 bytes is that of the content by a public key of 32."""
    if len(key) != _SIDE or len(signature) != 2 * _SIDE:
        return False
    commitment, scalar = signature[:_SIDE], int.from_bytes(signature[_SIDE:], "little")
    signer, committed = _point_of(key), _point_of(commitment)
    if signer is None or committed is None or scalar >= _ORDER:
        return False
    if _is_of_small_order(signer) or _is_of_small_order(committed):
        return False
    digest = hashlib.sha512(commitment + key + content).digest()
    challenge = int.from_bytes(digest, "little") % _ORDER
    x, y, z, t = signer
    negated = (-x % _P, y, z, -t % _P)
    expected = _sum(_times(scalar, _BASE), _times(challenge, negated))
    return _are_equal(expected, committed)


def _point_of(encoded: bytes) -> _Point | None:
    """Return the point of 32 bytes; None for those that encode none (RFC 8032, 5.1.3)."""
    number = int.from_bytes(encoded, "little")
    is_odd, y = number >> 255, number & ((1 << 255) - 1)
    if y >= _P:
        return None
    above, below = (y * y - 1) % _P, (_D * y * y + 1) % _P
    square = above * pow(below, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * _ROOT % _P
    if x * x % _P != square or (x == 0 and is_odd):
        return None
    if x & 1 != is_odd:
        x = _P - x
    return x, y, 1, x * y % _P


def _sum(point: _Point, other: _Point) -> _Point:
    """Add two points, which may be equal (RFC 8032, 5.1.4)."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = point, other
    a = (y1 - x1) * (y2 - x2) % _P
    b = (y1 + x1) * (y2 + x2) % _P
    c = 2 * t1 * t2 * _D % _P
    d = 2 * z1 * z2 % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(number: int, point: _Point) -> _Point:
    total = _NEUTRAL
    while number:
        if number & 1:
            total = _sum(total, point)
        point = _sum(point, point)
        number >>= 1
    return total


def _are_equal(point: _Point, other: _Point) -> bool:
    (x1, y1, z1, _), (x2, y2, z2, _) = point, other
    return (x1 * z2 - x2 * z1) % _P == 0 and (y1 * z2 - y2 * z1) % _P == 0


def _is_of_small_order(point: _Point) -> bool:
    """Tell whether eight times a point is nothing."""
    return _are_equal(_times(8, point), _NEUTRAL)


def _base() -> _Point:
    """Return the base point, whose y is 4 / 5 and whose x is even."""
    found = _point_of((4 * pow(5, -1, _P) % _P).to_bytes(_SIDE, "little"))
    assert found is not None
    return found


_BASE = _base()
