"""DPM2 with fresh noise at each step."""

from collections.abc import Iterator

from engine.sampling.samplers.dpm2 import midpoint_step
from engine.sampling.samplers.euler_ancestral import ancestral_step
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, intervals


def dpm2_ancestral(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 1.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Step down past the next level by DPM2, then add noise up to it; two evaluations per step.

    `eta` in [0, 1] is the share of noise that is renewed: 0 is DPM2 and draws none. k-diffusion
    `sample_dpm_2_ancestral`, whose `s_noise` is `noise_scale`.
    """
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        down, up = ancestral_step(sigma, sigma_next, eta)
        x = midpoint_step(denoise, x, sigma, down, denoised)
        if eta > 0 and down > 0:
            x = x + noise(sigma, sigma_next) * noise_scale * up
        yield Step(index, sigma, x, denoised)
