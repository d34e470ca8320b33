"""Heun's method: Euler's with a correction."""

from collections.abc import Iterator

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals


def heun(denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource) -> Iterator[Step]:
    """Average the slopes at both ends: second order, two evaluations per step, no noise.

    The step to sigma 0 has no slope at its end and is Euler's. Karras et al. (2022), algorithm 2
    without churn; k-diffusion `sample_heun`.
    """
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        slope = derivative(x, sigma, denoised)
        length = sigma_next - sigma
        ahead = x + slope * length
        if sigma_next > 0:
            slope_ahead = derivative(ahead, sigma_next, denoise(ahead, sigma_next))
            x = x + (slope + slope_ahead) / 2 * length
        else:
            x = ahead
        yield Step(index, sigma, x, denoised)
