"""The picture so far, from a latent, for next to nothing."""

from collections.abc import Callable
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from engine.families.hints import PreviewFactors
from engine.sampling.types import Latent

# Seconds between previews: more would only cost time.
INTERVAL_S = 0.25


class PreviewPace:
    """Says when a preview is due: at once, then at most four times a second."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._next: float | None = None

    def is_due(self) -> bool:
        """True if one may be made now; then the next has to wait."""
        now = self._clock()
        if self._next is not None and now < self._next:
            return False
        self._next = now + INTERVAL_S
        return True


def preview_pixels(latent: Latent, factors: PreviewFactors) -> NDArray[np.uint8]:
    """The first of latents [batch, channels, height, width] as uint8 [height, width, 3].

    A linear map from channels to colours, as the decoder does on average.
    """
    colours = np.einsum("chw,ci->hwi", latent[0], np.asarray(factors.weights, np.float32))
    levels = (colours + np.asarray(factors.bias, np.float32) + 1) * 127.5
    # A latent that is broken, and caught after this step, has no picture.
    return np.clip(np.nan_to_num(levels), 0, 255).astype(np.uint8)
