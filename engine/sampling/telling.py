"""A denoiser that tells of the noise level at which it is asked."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.sampling.types import GuidedDenoise, Latent


@dataclass(frozen=True, slots=True)
class TellingDenoise:
    """A `GuidedDenoise` that calls `tell` with each level before the network is evaluated.

    Timesteps do not do: where a network takes whole ones, a level lies between two of them.
    """

    denoise: GuidedDenoise
    tell: Callable[[np.float32], None]

    def __call__(self, x: Latent, sigma: np.float32) -> Latent:
        """Return the denoised picture."""
        self.tell(sigma)
        return self.denoise(x, sigma)

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        """Return the denoised picture, and the picture under the negative prompt."""
        self.tell(sigma)
        return self.denoise.pair(x, sigma)
