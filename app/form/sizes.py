"""Sizes of pictures in pixels: those that suit a checkpoint, and the possible ones."""

from enum import StrEnum

from engine.api.limits import MAX_SIDE, MIN_SIDE

# Pixels a side of a latent's cell in every checkpoint; sides are multiples of it, or of more.
CELL = 8
# Smaller sizes are multiples of this, which all networks take.
_STEP = 64
# The factor by which a picture's sides may exceed those that a checkpoint was trained for.
_LARGER = 1.5
# The factor by which they may fall short of them.
_SMALLER = 1.5
# The largest ratio of a picture's sides: wider than a cinema screen.
_LONGEST = 2.5


def fitting_size(width: int, height: int, side: int, multiple: int = CELL) -> tuple[int, int]:
    """Return a size in a picture's shape that a checkpoint trained on `side` pixels draws well.

    Its sides are multiples of `multiple`. The picture's own size is kept if it suits. Checkpoints
    repeat themselves in pictures that are much larger than those they were trained on.
    """
    area, most = width * height, (_LARGER * side) ** 2
    scale = 1.0 if side**2 / _LARGER <= area <= most else side / area**0.5
    return whole_side(width * scale, multiple), whole_side(height * scale, multiple)


def smaller_size(width: int, height: int) -> tuple[int, int] | None:
    """Return the next smaller size in this shape, about half the area; None if there is none."""
    sides = tuple(max(MIN_SIDE, side * 3 // 4 // _STEP * _STEP) for side in (width, height))
    return None if sides == (width, height) else (sides[0], sides[1])


class SizeFit(StrEnum):
    """A size compared with the one that a checkpoint was trained for."""

    GOOD = "good"
    LARGER = "larger"
    SMALLER = "smaller"
    LONGER = "longer"
    # A side is longer than the longest that is drawn well.
    BEYOND = "beyond"


def size_fit(width: int, height: int, side: int, longest_side: int | None = None) -> SizeFit:
    """Compare a size with that of a checkpoint trained on `side` by `side` pixels.

    `longest_side` is the longest that it draws well, where that is known.
    """
    area = width * height
    if longest_side is not None and max(width, height) > longest_side:
        return SizeFit.BEYOND
    if area > (_LARGER * side) ** 2:
        return SizeFit.LARGER
    if area < (side / _SMALLER) ** 2:
        return SizeFit.SMALLER
    return SizeFit.LONGER if max(width, height) > _LONGEST * min(width, height) else SizeFit.GOOD


def whole_side(side: float, multiple: int = CELL) -> int:
    """Return the possible side of a picture nearest to a length, in multiples of `multiple`."""
    return min(max(round(side / multiple) * multiple, MIN_SIDE), MAX_SIDE)
