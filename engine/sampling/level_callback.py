"""A denoiser that calls back with the noise level of each of its evaluations."""

from collections.abc import Callable

import msgspec
import numpy as np

from engine.sampling.types import GuidedDenoise, Latent


class LevelCallbackDenoise(msgspec.Struct, frozen=True):
    """A `GuidedDenoise` that calls `on_level` with each level before the network is evaluated.

    Timesteps do not do: where a network takes whole ones, a level lies between two of them.
    """

    denoise: GuidedDenoise
    on_level: Callable[[np.float32], None]

    def __call__(self, x: Latent, sigma: np.float32) -> Latent:
        """Return the denoised picture."""
        self.on_level(sigma)
        return self.denoise(x, sigma)

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        """Return the denoised picture, and the picture under the negative prompt."""
        self.on_level(sigma)
        return self.denoise.pair(x, sigma)
