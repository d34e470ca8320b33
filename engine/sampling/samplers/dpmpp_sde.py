"""DPM-Solver++ on the stochastic equation, with an evaluation half way."""

from collections.abc import Iterator

import numpy as np

from engine.sampling.samplers.dpmpp_2s_ancestral import towards
from engine.sampling.samplers.euler_ancestral import ancestral_step
from engine.sampling.samplers.times import level_at, time_of
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, intervals


def dpmpp_sde(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 1.0,
    noise_scale: float = 1.0,
    r: float = 0.5,
) -> Iterator[Step]:
    """Look ahead by `r` of the step in log sigma, noise included, then step towards both pictures.

    Two evaluations and two draws per step, one and none for that to sigma 0; the draws are over the
    intervals from sigma to the level between and from sigma to the next. Of second order if they
    come from one Brownian path, else of first. `eta` scales the noise: 0 is the deterministic
    solver and draws none. Lu et al. (2022), DPM-Solver++, section 5 in single steps; k-diffusion
    `sample_dpmpp_sde`, whose `s_noise` is `noise_scale`.
    """

    def step_down(target: Latent, sigma: np.float32, sigma_next: np.float32) -> Latent:
        down, up = ancestral_step(sigma, sigma_next, eta)
        ahead = towards(target, x, sigma, down)
        return ahead + noise(sigma, sigma_next) * noise_scale * up if eta > 0 else ahead

    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        if sigma_next == 0:
            x = denoised
        else:
            # Levels that went through the logarithm and back, as in k-diffusion: see `level_at`.
            time, time_next = time_of(sigma), time_of(sigma_next)
            start, middle, end = map(level_at, (time, time + (time_next - time) * r, time_next))
            ahead = step_down(denoised, start, middle)
            weight = 1 / (2 * r)
            target = (1 - weight) * denoised + weight * denoise(ahead, middle)
            x = step_down(target, start, end)
        yield Step(index, sigma, x, denoised)
