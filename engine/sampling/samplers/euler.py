"""Euler's method on the probability-flow equation."""

from collections.abc import Iterator

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals


def euler(denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource) -> Iterator[Step]:
    """Follow the tangent: first order, one evaluation per step, draws no noise.

    Karras et al. (2022), algorithm 2 without churn and correction; k-diffusion `sample_euler`.
    """
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        x = x + derivative(x, sigma, denoised) * (sigma_next - sigma)
        yield Step(index, sigma, x, denoised)
