"""Helpers of the schedules: torch's linspace, and the final 0."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.sampling.types import Sigmas


def linspace(start: float | np.float32, end: float | np.float32, count: int) -> NDArray[np.float32]:
    """Return `torch.linspace` in float32 on the CPU, equal to the last bit.

    torch fills from both ends to the middle, and its vectorised kernel rounds step * index + start
    only once; float64 has the same effect here.
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
    """Return the levels as float32, followed by 0."""
    return np.append(sigmas.astype(np.float32), np.float32(0))
