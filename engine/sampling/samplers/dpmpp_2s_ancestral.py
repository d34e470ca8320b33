"""DPM-Solver++(2S) with fresh noise at each step."""

from collections.abc import Iterator

import numpy as np

from engine.sampling.samplers.euler_ancestral import ancestral_step
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, intervals


def dpmpp_2s_ancestral(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 1.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Step down past the next level towards the picture seen half way, then add noise up to it.

    Second order, two evaluations per step, one for that to sigma 0. `eta` in [0, 1] is the share of
    noise that is renewed; 0 draws none. Lu et al. (2022), DPM-Solver++, algorithm 1 with r = 1/2;
    k-diffusion `sample_dpmpp_2s_ancestral`, whose `s_noise` is `noise_scale`.
    """
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        down, up = ancestral_step(sigma, sigma_next, eta)
        target = denoised
        if down > 0:
            middle = np.sqrt(sigma * down)
            target = denoise(towards(denoised, x, sigma, middle), middle)
        x = towards(target, x, sigma, down)
        if eta > 0 and sigma_next > 0:
            x = x + noise(sigma, sigma_next) * noise_scale * up
        yield Step(index, sigma, x, denoised)


def towards(denoised: Latent, x: Latent, sigma: np.float32, sigma_next: np.float32) -> Latent:
    """Shrink the noise that `denoised` leaves in x from one level to another.

    Exact where the denoised picture does not change: the first-order step of DPM-Solver++, and
    DDIM's.
    """
    return denoised + (x - denoised) * (sigma_next / sigma)
