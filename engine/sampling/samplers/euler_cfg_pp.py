"""Euler's method under CFG++: guidance acts on the picture, not on the remaining noise."""

from collections.abc import Iterator

from engine.sampling.samplers.euler_ancestral import ancestral_step
from engine.sampling.types import (
    GuidedDenoise,
    Latent,
    NoiseSource,
    Sigmas,
    Step,
    derivative,
    intervals,
)


def euler_ancestral_cfg_pp(
    denoise: GuidedDenoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 1.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Take the guided picture and the negative prompt's slope; one evaluation per step.

    Chung et al. (2024), CFG++, algorithm 2, with the noise of `euler_ancestral`. The paper's
    guidance lies in [0, 1]; ComfyUI `sample_euler_ancestral_cfg_pp` uses the scale unchanged, with
    usual values of 1 to 2.
    """
    for index, sigma, sigma_next in intervals(sigmas):
        denoised, negative = denoise.pair(x, sigma)
        down, up = ancestral_step(sigma, sigma_next, eta)
        x = denoised + derivative(x, sigma, negative) * down
        if up > 0:
            x = x + noise(sigma, sigma_next) * noise_scale * up
        yield Step(index, sigma, x, denoised)


def euler_cfg_pp(
    denoise: GuidedDenoise, x: Latent, sigmas: Sigmas, noise: NoiseSource
) -> Iterator[Step]:
    """Run `euler_ancestral_cfg_pp` without noise: ComfyUI `sample_euler_cfg_pp`."""
    return euler_ancestral_cfg_pp(denoise, x, sigmas, noise, eta=0.0)
