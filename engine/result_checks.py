"""Checks for results that are no pictures: not a number, infinite or flat."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# A decoded picture spans [-1, 1]; one whose pixels all lie within this is a single colour.
_FLAT = 4 / 255


def numbers(values: NDArray[Any]) -> str | None:
    """Return the reason why an embedding or latent cannot be used, or None."""
    if np.isfinite(values).all():
        return None
    return "not a number" if np.isnan(values).any() else "infinite"


def picture(image: NDArray[Any]) -> str | None:
    """Return the reason why a decoded image cannot be used, or None."""
    return numbers(image) or ("a single colour" if is_flat(image) else None)


def is_flat(image: NDArray[Any]) -> bool:
    """True where all pixels, float [..., 3, height, width] in [-1, 1], have one colour."""
    clipped = np.clip(image, -1, 1)
    spans = clipped.max(axis=(-2, -1)) - clipped.min(axis=(-2, -1))
    return bool(np.all(spans < _FLAT))
