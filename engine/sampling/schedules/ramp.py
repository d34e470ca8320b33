"""What schedules are written with: torch's linspace, and the final 0."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.sampling.types import Sigmas


def linspace(start: float | np.float32, end: float | np.float32, count: int) -> NDArray[np.float32]:
    """`torch.linspace` of float32 on a processor, to the last bit.

    It goes from both ends to the middle, and its vectorised kernel rounds step * index + start but
    once, which float64 does here.
    """
    first, last = np.float32(start), np.float32(end)
    if count == 1:
        return np.array([first])
    step = np.float64((last - first) / np.float32(count - 1))
    index = np.arange(count)
    rising = first + step * index
    falling = last - step * (count - 1 - index)
    return np.where(index < count // 2, rising, falling).astype(np.float32)


def with_zero(sigmas: NDArray[np.floating[Any]]) -> Sigmas:
    """Levels as float32, and after them the one without noise."""
    return np.append(sigmas.astype(np.float32), np.float32(0))
