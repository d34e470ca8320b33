"""DPM-Solver-2 with the steps of Karras et al.: the slope is taken half way."""

import math
from collections.abc import Iterator

import numpy as np

from engine.sampling.samplers.churn import Churn
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals


def dpm2(
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
    """Go by the slope at the geometric mean of both levels: second order, two evaluations a step.

    The step to sigma 0 has no such mean and is Euler's. Draws noise for churn alone (`Churn`). Lu
    et al. (2022), DPM-Solver, algorithm 1 with r = 1/2, whose last line is taken in sigma instead
    of its logarithm; k-diffusion `sample_dpm_2`.
    """
    raise_noise = Churn(churn, churn_from, churn_to, noise_scale)
    for index, sigma, sigma_next in intervals(sigmas):
        x, raised = raise_noise(x, sigma, len(sigmas) - 1, noise)
        denoised = denoise(x, raised)
        x = midpoint_step(denoise, x, raised, sigma_next, denoised)
        yield Step(index, sigma, x, denoised)


def midpoint_step(
    denoise: Denoise, x: Latent, sigma: np.float32, sigma_next: np.float32, denoised: Latent
) -> Latent:
    """Step from sigma to sigma_next; `denoised` is the picture predicted at the beginning."""
    slope = derivative(x, sigma, denoised)
    if sigma_next > 0:
        middle = np.sqrt(sigma * sigma_next)
        half_way = x + slope * (middle - sigma)
        slope = derivative(half_way, middle, denoise(half_way, middle))
    return x + slope * (sigma_next - sigma)
