"""Pixels moved to where a field says, as OpenCV's `remap` moves them (`imgwarp.cpp`)."""

import numpy as np
from numpy.typing import NDArray

# Places are multiples of 1/32 of a pixel, weights of 1/32768.
_STEPS, _BITS = 32, 15


def moved(
    image: NDArray[np.uint8], columns: NDArray[np.float32], rows: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """Return a picture whose pixels are read at places between pixels of `image` (INTER_LINEAR).

    `columns` and `rows` are float32 [height, width], within the picture.
    """
    x, y = (np.rint(places * np.float32(_STEPS)).astype(np.int64) for places in (columns, rows))
    left, top = x // _STEPS, y // _STEPS
    right = np.minimum(left + 1, image.shape[1] - 1)
    below = np.minimum(top + 1, image.shape[0] - 1)
    across, down = (x % _STEPS)[..., None], (y % _STEPS)[..., None]
    upper = image[top, left] * (_STEPS - across) + image[top, right] * across
    lower = image[below, left] * (_STEPS - across) + image[below, right] * across
    sums = (upper * (_STEPS - down) + lower * down) * ((1 << _BITS) // _STEPS**2)
    return ((sums + (1 << (_BITS - 1))) >> _BITS).astype(np.uint8)
