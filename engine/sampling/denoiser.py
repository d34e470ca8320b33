"""From a network that predicts noise or velocity to a function that predicts the picture.

Samplers see only `Denoise`. What is particular to a network (what it predicts, how its input is
scaled, how a level becomes a timestep, guidance) is here.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.api.conventions import InitialNoise
from engine.api.values import PredictionType
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Latent

# The network with its conditioning bound: (float32 [B, C, H, W], timestep) -> float32 of the same
# shape, or under guidance [2 B, C, H, W], see Denoiser. The timestep is one fractional number for
# the whole batch.
Predict = Callable[[Latent, np.float32], Latent]


@dataclass(frozen=True, slots=True)
class Denoiser:
    """Estimates the picture in noisy latents; satisfies `Denoise`.

    With a `guidance` other than 1, both halves of classifier-free guidance (Ho and Salimans 2022)
    run at once: `predict` returns [2 B, C, H, W], of the latents under the prompt and then under
    the negative prompt. With 1 the negative prompt has no say: it returns those under the prompt
    alone.
    """

    predict: Predict
    schedule: NoiseSchedule
    prediction: PredictionType
    guidance: float

    @property
    def guided(self) -> bool:
        """Whether `predict` is to return both halves."""
        return self.guidance != 1.0

    def __call__(self, x: Latent, sigma: np.float32) -> Latent:
        """Denoise float32 [B, C, H, W] at a level sigma > 0.

        Scales in and out as k-diffusion's CompVisDenoiser and CompVisVDenoiser do.
        """
        scale = 1 / np.sqrt(sigma**2 + 1)
        output = self.predict(x * scale, self.schedule.sigma_to_timestep(sigma))
        if not self.guided:
            return self._picture(x, output, sigma)
        positive, negative = (self._picture(x, half, sigma) for half in np.split(output, 2))
        return negative + (positive - negative) * self.guidance

    def _picture(self, x: Latent, output: Latent, sigma: np.float32) -> Latent:
        """What the network's output says of the picture in `x`."""
        scale = 1 / np.sqrt(sigma**2 + 1)
        match self.prediction:
            case PredictionType.EPSILON:
                return x - output * sigma
            case PredictionType.V:
                # The picture's share of x (c_skip) and of the network's output (c_out).
                return output * (-sigma * scale) + x * (1 / (sigma**2 + 1))


def initial_latents(noise: Latent, sigma: np.float32, scaling: InitialNoise) -> Latent:
    """Scale standard normal noise to the first level of a schedule that starts at the highest.

    A1111, and diffusers' `EulerDiscreteScheduler`, multiply by sigma. ComfyUI multiplies by
    sqrt(1 + sigma^2), the deviation that a picture of unit variance has after noising. At Stable
    Diffusion's 14.6 the two differ by 0.2 %, which is visible in the details.
    """
    if scaling is InitialNoise.VARIANCE:
        return noise * np.sqrt(1 + sigma**2)
    return noise * sigma


def noised(latent: Latent, noise: Latent, sigma: np.float32) -> Latent:
    """Latents of a picture, [B, C, H, W], brought to the level that redrawing starts at."""
    return latent + noise * sigma
