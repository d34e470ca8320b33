"""Converting a network's prediction to the picture, or to another prediction type.

Latents are x = picture + sigma * noise; for flow with the level t, x = (1 - t) * picture +
t * noise.
"""

import numpy as np

from engine.api.values import PredictionType
from engine.sampling.types import Latent


def network_scale(sigma: np.float32, sigma_data: float = 1.0) -> np.float32:
    """Return the factor that scales variance-exploding latents to unit variance, for networks."""
    return 1 / np.sqrt(sigma**2 + sigma_data**2)


def picture_in(
    x: Latent, output: Latent, sigma: np.float32, kind: PredictionType, sigma_data: float = 1.0
) -> Latent:
    """Return the picture in the noisy latents `x` at a level, from the network's prediction."""
    match kind:
        case PredictionType.EPSILON | PredictionType.FLOW:
            # For flow, x = picture + level * (noise - picture).
            return x - output * sigma
        case PredictionType.SAMPLE:
            return output
        case PredictionType.V | PredictionType.EDM_V | PredictionType.EDM:
            # The picture's share of x (c_skip) and of the network's output (c_out).
            turned = sigma if kind is PredictionType.EDM else -sigma
            skip = sigma_data**2 / (sigma**2 + sigma_data**2)
            return output * (turned * sigma_data * network_scale(sigma, sigma_data)) + x * skip


def converted(
    x: Latent, output: Latent, sigma: np.float32, kind: PredictionType, wanted: PredictionType
) -> Latent:
    """Convert noise to v, or v to noise: a prediction of type `kind` to the type `wanted`.

    v = alpha * noise - spread * picture and x = picture + sigma * noise, where alpha is
    1 / sqrt(sigma^2 + 1) and spread is sigma * alpha.
    """
    if kind is wanted:
        return output
    alpha = network_scale(sigma)
    if wanted is PredictionType.V:
        return output / alpha - x * (sigma * alpha)
    return output * alpha + x * (sigma * alpha**2)
