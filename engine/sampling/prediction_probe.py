"""Asking a denoiser what it predicts, where nothing says: what it makes of nothing but noise.

A latent is x = a * picture + s * noise, with a^2 + s^2 = 1. Given pure noise n of unit variance, an
optimal denoiser believes the picture to be some part r of it: of a frequency in which pictures have
the variance p, r = a p / (a^2 p + s^2), which is the Wiener filter. So a network that predicts the
noise, (x - a * picture) / s, answers (1 - a r) / s times n, and one that predicts
v = a * noise - s * picture, which is (a x - picture) / s, answers (a - r) / s times n.

Latents have unit variance, most of it in low frequencies, so r is between 0 and a on the whole and
small in high ones. At the highest level, a = 0.068, the answer to n is therefore n itself or next
to nothing. In high frequencies at a middle level, a = 0.53 and s = 0.85, it is from 0.85 to 1.18
or from 0 to 0.62 times n, and not 0 in a network that knows anything of pictures: which is how an
untrained or broken one, that answers with something unrelated, is told from one that predicts v.

A1111 and stable-diffusion.cpp ask alike, once, with a constant input, and believe any answer.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.api.values import PredictionType
from engine.sampling.types import Latent

# What the network answers, float32 [1, C, H, W], to a latent of unit variance at a timestep.
Ask = Callable[[Latent, np.float32], Latent]

HIGHEST, MIDDLE = 999, 500
# Gains on the noise: on the whole at the highest level, then in high frequencies at the middle one.
_RANGES = {
    PredictionType.EPSILON: ((0.8, 1.2), (0.75, 1.35)),
    PredictionType.V: ((-0.2, 0.2), (0.1, 0.7)),
}
# Of the highest frequency there is; beyond it the variance of pictures is small.
_HIGH = 0.5


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """How much of the noise was in the answers; `prediction` is None where that tells nothing."""

    highest: float
    middle: float

    @property
    def prediction(self) -> PredictionType | None:
        """What the network predicts, as far as the gains can only mean one thing."""
        for prediction, (highest, middle) in _RANGES.items():
            if highest[0] <= self.highest <= highest[1] and middle[0] <= self.middle <= middle[1]:
                return prediction
        return None


def probe_prediction(ask: Ask, shape: tuple[int, int, int]) -> ProbeResult:
    """Ask twice, with the same noise; `shape` is a latent's, [C, H, W].

    The more cells, the surer: at 32 x 32 the gains are known to about 0.02.
    """
    noise = np.random.default_rng(0).standard_normal((1, *shape), np.float32)
    highest, middle = (ask(noise, np.float32(timestep)) for timestep in (HIGHEST, MIDDLE))
    return ProbeResult(_gain(highest, noise, 0.0), _gain(middle, noise, _HIGH))


def _gain(answer: Latent, noise: Latent, above: float) -> float:
    """The answer's part along the noise, in frequencies above this share of the highest one."""
    height, width = noise.shape[-2:]
    rows, columns = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None]
    high = np.hypot(rows, columns) >= 0.5 * above
    spectra = (np.fft.rfft2(latent)[..., high] for latent in (answer, noise))
    answered, asked = (spectrum.ravel() for spectrum in spectra)
    return float(np.real(np.vdot(asked, answered)) / np.real(np.vdot(asked, asked)))
