"""Churn: noise added before a step, which lets the sampler correct earlier errors."""

import msgspec
import numpy as np

from engine.sampling.types import Latent, NoiseSource

# A step raises its level by at most this factor, less 1.
_MOST = 2**0.5 - 1


class Churn(msgspec.Struct, frozen=True):
    """Churn: the amount of noise, the range of levels it applies to, and a factor on the noise.

    Karras et al. (2022), algorithm 2; k-diffusion's `s_churn`, `s_tmin`, `s_tmax` and `s_noise`.
    """

    amount: float
    lowest: float
    highest: float
    noise_scale: float

    def __call__(
        self, x: Latent, sigma: np.float32, steps: int, noise: NoiseSource
    ) -> tuple[Latent, np.float32]:
        """Return the latents and the level at which a step begins instead of `sigma`.

        Noise is drawn and discarded even outside the levels, as in k-diffusion: what later steps
        draw from a stream depends on it.
        """
        if self.amount <= 0:
            return x, sigma
        inside = self.lowest <= sigma <= self.highest
        gain = min(self.amount / steps, _MOST) if inside else 0.0
        raised = sigma * (gain + 1)
        drawn = noise(sigma, raised) * self.noise_scale
        if gain > 0:
            x = x + drawn * np.sqrt(raised**2 - sigma**2)
        return x, raised
