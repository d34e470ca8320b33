"""DDPM, which is Euler's method with all noise renewed, in variance-exploding form."""

from collections.abc import Iterator

from engine.sampling.samplers.euler_ancestral import euler_ancestral
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step


def ddpm(
    denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource, *, noise_scale: float = 1.0
) -> Iterator[Step]:
    """Draw from the posterior of the next level, given x and the picture; one evaluation per step.

    Ho et al. (2020), DDPM, equations 6 and 7. With x = x_vp * sqrt(1 + sigma^2) its mean is
    denoised + (sigma' / sigma)^2 * (x - denoised) and its variance sigma'^2 * (1 - (sigma' /
    sigma)^2), which is the ancestral step. ComfyUI `sample_ddpm`; diffusers' `DDPMScheduler` with
    variance "fixed_small" at the sigmas of its timesteps.
    """
    return euler_ancestral(denoise, x, sigmas, noise, noise_scale=noise_scale)
