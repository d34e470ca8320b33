"""From a network that predicts noise or velocity to a function that predicts the picture.

Samplers see only `Denoise`. What is particular to a network (what it predicts, how its input is
scaled, how a level becomes a timestep, guidance) is here.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.api.values import ConventionName, PredictionType
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Latent

# The network with its conditioning bound: (float32 [N, C, H, W], timestep) -> float32, same shape.
# The timestep is one fractional number for the whole batch. N is 2 B under guidance, see Denoiser.
Predict = Callable[[Latent, np.float32], Latent]


@dataclass(frozen=True, slots=True)
class Denoiser:
    """Estimates the picture in noisy latents; satisfies `Denoise`.

    With a `guidance` other than 1, both halves of classifier-free guidance (Ho and Salimans 2022)
    run in one batch: `predict` gets the latents twice, [2 B, C, H, W], and must apply the prompt to
    the first B and the negative prompt to the last B. With 1 the negative prompt has no say, and
    `predict` gets [B, C, H, W] under the prompt alone.
    """

    predict: Predict
    schedule: NoiseSchedule
    prediction: PredictionType
    guidance: float

    @property
    def guided(self) -> bool:
        """Whether `predict` gets both halves."""
        return self.guidance != 1.0

    def __call__(self, x: Latent, sigma: np.float32) -> Latent:
        """Denoise float32 [B, C, H, W] at a level sigma > 0."""
        if not self.guided:
            return self._denoise(x, sigma)
        batch = len(x)
        both = self._denoise(np.concatenate([x, x]), sigma)
        positive, negative = both[:batch], both[batch:]
        return negative + (positive - negative) * self.guidance

    def _denoise(self, x: Latent, sigma: np.float32) -> Latent:
        """Scale in and out as k-diffusion's CompVisDenoiser and CompVisVDenoiser do."""
        scale = 1 / np.sqrt(sigma**2 + 1)
        output = self.predict(x * scale, self.schedule.sigma_to_timestep(sigma))
        match self.prediction:
            case PredictionType.EPSILON:
                return x - output * sigma
            case PredictionType.V:
                # The picture's share of x (c_skip) and of the network's output (c_out).
                return output * (-sigma * scale) + x * (1 / (sigma**2 + 1))


def initial_latents(noise: Latent, sigma: np.float32, convention: ConventionName) -> Latent:
    """Scale standard normal noise to the first level of a schedule that starts at the highest.

    A1111, and diffusers' `EulerDiscreteScheduler`, multiply by sigma. ComfyUI multiplies by
    sqrt(1 + sigma^2), the deviation that a picture of unit variance has after noising. At Stable
    Diffusion's 14.6 the two differ by 0.2 %, which is visible in the details.
    """
    if convention is ConventionName.COMFY:
        return noise * np.sqrt(1 + sigma**2)
    return noise * sigma


def noised(latent: Latent, noise: Latent, sigma: np.float32) -> Latent:
    """Latents of a picture, [B, C, H, W], brought to the level that redrawing starts at."""
    return latent + noise * sigma
