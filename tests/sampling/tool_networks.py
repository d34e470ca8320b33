"""The network whose trajectories are frozen: two prompts, each with a picture of its own.

In the tools' terms it predicts pictures (ComfyUI), or noise at a timestep (A1111).
"""

from typing import Any

import numpy as np

from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Latent
from tests.sampling.toy import mixture_denoise

TRAINING = NoiseSchedule.scaled_linear()
SHAPE = (2, 4, 2, 3)
# Chosen for CFG++, which takes ComfyUI's as it is and divides A1111's by 12.5.
COMFY_GUIDANCE = 1.6
WEBUI_GUIDANCE = 7.0


def pictures(x: Any, sigma: Any, tanh: Any = np.tanh) -> tuple[Any, Any]:
    """The prompt's picture, near -1 and +1, and the negative one's, near -0.6 and +1.4.

    Takes NumPy arrays, or tensors with torch.tanh.
    """
    return mixture_denoise(x, sigma, tanh), 0.4 + mixture_denoise(x - 0.4, sigma, tanh)


class PictureNetwork:
    """Guided as in ComfyUI; satisfies `GuidedDenoise`."""

    def __call__(self, x: Latent, sigma: np.float32, /) -> Latent:
        """The prompt's picture, for samplers without guidance."""
        return pictures(x, sigma)[0]

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        """The guided picture and the negative one."""
        positive, negative = pictures(x, sigma)
        return negative + (positive - negative) * COMFY_GUIDANCE, negative


def predict_noise(x: Latent, timestep: np.float32, guided: bool) -> Latent:
    """The noise in x, of unit variance, under the prompt and, when guided, the negative one."""
    sigma = TRAINING.timestep_to_sigma(np.array([timestep], np.float32))[0]
    noisy = x * np.sqrt(1 + sigma**2)
    both = [(noisy - picture) / sigma for picture in pictures(noisy, sigma)]
    return np.concatenate(both if guided else both[:1])
