"""Heun's method: Euler's with a correction."""

import math
from collections.abc import Iterator

import numpy as np

from engine.sampling.samplers.churn import Churn
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals


def heun(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    churn: float = 0.0,
    churn_from: float = 0.0,
    churn_to: float = math.inf,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Average the slopes at both ends: second order, two evaluations per step.

    The step to sigma 0 has no slope at its end and is Euler's. Draws noise for churn alone
    (`Churn`). Karras et al. (2022), algorithm 2; k-diffusion `sample_heun`.
    """
    raise_noise = Churn(churn, churn_from, churn_to, noise_scale)
    for index, sigma, sigma_next in intervals(sigmas):
        x, raised = raise_noise(x, sigma, len(sigmas) - 1, noise)
        denoised = denoise(x, raised)
        x = heun_step(denoise, x, raised, sigma_next, denoised)
        yield Step(index, sigma, x, denoised)


def heun_step(
    denoise: Denoise, x: Latent, sigma: np.float32, sigma_next: np.float32, denoised: Latent
) -> Latent:
    """Step from sigma to sigma_next; `denoised` is the picture predicted at the beginning."""
    slope = derivative(x, sigma, denoised)
    length = sigma_next - sigma
    ahead = x + slope * length
    if sigma_next == 0:
        return ahead
    slope_ahead = derivative(ahead, sigma_next, denoise(ahead, sigma_next))
    return x + (slope + slope_ahead) / 2 * length
