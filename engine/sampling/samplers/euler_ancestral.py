"""Euler's method with fresh noise at each step."""

from collections.abc import Iterator

import numpy as np

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals


def euler_ancestral(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 1.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Step down past the next level, then add noise up to it; one evaluation per step.

    `eta` in [0, 1] is the share of noise that is renewed: 0 is Euler's method and draws none, 1 is
    the ancestral sampling of DDPM. k-diffusion `sample_euler_ancestral`, whose `s_noise` is
    `noise_scale`.
    """
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        down, up = ancestral_step(sigma, sigma_next, eta)
        x = x + derivative(x, sigma, denoised) * (down - sigma)
        if eta > 0 and sigma_next > 0:
            x = x + noise(sigma, sigma_next) * noise_scale * up
        yield Step(index, sigma, x, denoised)


def ancestral_step(
    sigma: np.float32, sigma_next: np.float32, eta: float
) -> tuple[np.float32, np.float32]:
    """Split a step into the level to go down to and the noise to add: down^2 + up^2 = next^2.

    The variance of the DDPM posterior, scaled by eta (Song et al. 2020, DDIM, equation 16) in
    variance-exploding form; k-diffusion `get_ancestral_step`.
    """
    if eta == 0:
        return sigma_next, np.float32(0)
    posterior = np.sqrt(sigma_next**2 * (sigma**2 - sigma_next**2) / sigma**2)
    up = np.minimum(sigma_next, eta * posterior)
    return np.sqrt(sigma_next**2 - up**2), up
