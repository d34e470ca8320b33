"""Cheap previews: a latent mapped linearly to colours, and the pace of previews."""

from collections.abc import Callable
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from engine.families.hints import PreviewFactors
from engine.sampling.types import Latent

# Seconds between previews: more would only cost time.
INTERVAL_S = 0.25


class PreviewPace:
    """Limits the rate of previews: the first at once, then at most four a second."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._next: float | None = None

    def is_due(self) -> bool:
        """Return True if a preview is due now, and start the wait for the next one."""
        now = self._clock()
        if self._next is not None and now < self._next:
            return False
        self._next = now + INTERVAL_S
        return True


def preview_pixels(latent: Latent, factors: PreviewFactors) -> NDArray[np.uint8]:
    """Map the first of latents [batch, channels, height, width] to uint8 [height, width, 3].

    The colours are a linear function of the channels, which approximates the VAE's decoder.
    """
    colours = np.einsum("chw,ci->hwi", latent[0], np.asarray(factors.weights, np.float32))
    levels = (colours + np.asarray(factors.bias, np.float32) + 1) * 127.5
    # A broken latent, which is caught after this step, may hold NaN.
    return np.clip(np.nan_to_num(levels), 0, 255).astype(np.uint8)
