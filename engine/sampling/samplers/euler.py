"""Euler's method on the probability-flow equation."""

import math
from collections.abc import Iterator

from engine.sampling.samplers.churn import Churn
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals


def euler(
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
    """Follow the tangent: first order, one evaluation per step, no noise but for churn (`Churn`).

    Karras et al. (2022), algorithm 2 without the correction; k-diffusion `sample_euler`.
    """
    raise_noise = Churn(churn, churn_from, churn_to, noise_scale)
    for index, sigma, sigma_next in intervals(sigmas):
        x, raised = raise_noise(x, sigma, len(sigmas) - 1, noise)
        denoised = denoise(x, raised)
        x = x + derivative(x, raised, denoised) * (sigma_next - raised)
        yield Step(index, sigma, x, denoised)
