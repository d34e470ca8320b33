"""Finds out whether a denoiser predicts the noise or v, from its answer to pure noise.

A latent is x = a * picture + s * noise, with a^2 + s^2 = 1. Given pure noise n of unit variance, an
optimal denoiser takes a share r of it for the picture: at a frequency where pictures have the
variance p, r = a p / (a^2 p + s^2), which is the Wiener filter. So a network that predicts the
noise, (x - a * picture) / s, answers (1 - a r) / s times n, and one that predicts v = a * noise - s
* picture, which is (a x - picture) / s, answers (a - r) / s times n.

Latents have unit variance, mostly in low frequencies, so r is between 0 and a overall and small in
high frequencies. At the highest level, a = 0.068, the answer is therefore about n or about 0. In
high frequencies at a middle level, a = 0.53 and s = 0.85, it is from 0.85 to 1.18 or from 0 to 0.62
times n, and clearly above 0 in a network that was trained: this distinguishes a v predictor from an
untrained or broken network, whose answer is unrelated.

A1111 and stable-diffusion.cpp probe in a similar way, once, with a constant input, and trust any
answer.
"""

from collections.abc import Callable

import msgspec
import numpy as np

from engine.api.values import PredictionType
from engine.sampling.types import Latent

# The network's answer, float32 [1, C, H, W], to a latent of unit variance at a timestep.
Ask = Callable[[Latent, np.float32], Latent]

HIGHEST, MIDDLE = 999, 500
# Gains on the noise: over all frequencies at the highest level, and in high frequencies at the
# middle level.
_RANGES = {
    PredictionType.EPSILON: ((0.8, 1.2), (0.75, 1.35)),
    PredictionType.V: ((-0.2, 0.2), (0.1, 0.7)),
}
# Share of the highest frequency; the variance of pictures is small beyond it.
_HIGH = 0.5


class ProbeResult(msgspec.Struct, frozen=True):
    """The share of the noise in the answers; `prediction` is None where that decides nothing."""

    highest: float
    middle: float

    @property
    def prediction(self) -> PredictionType | None:
        """The network's prediction type if the gains allow only one, else None."""
        for prediction, (highest, middle) in _RANGES.items():
            if highest[0] <= self.highest <= highest[1] and middle[0] <= self.middle <= middle[1]:
                return prediction
        return None


def probe_prediction(ask: Ask, shape: tuple[int, int, int]) -> ProbeResult:
    """Run the network twice on the same noise; `shape` is a latent's, [C, H, W].

    More cells are more reliable: at 32 x 32 the gains are accurate to about 0.02.
    """
    noise = np.random.default_rng(0).standard_normal((1, *shape), np.float32)
    highest, middle = (ask(noise, np.float32(timestep)) for timestep in (HIGHEST, MIDDLE))
    return ProbeResult(_gain(highest, noise, 0.0), _gain(middle, noise, _HIGH))


def _gain(answer: Latent, noise: Latent, above: float) -> float:
    """Return the answer's component along the noise, above this share of the highest frequency."""
    height, width = noise.shape[-2:]
    rows, columns = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None]
    high = np.hypot(rows, columns) >= 0.5 * above
    spectra = (np.fft.rfft2(latent)[..., high] for latent in (answer, noise))
    answered, asked = (spectrum.ravel() for spectrum in spectra)
    return float(np.real(np.vdot(asked, answered)) / np.real(np.vdot(asked, asked)))
