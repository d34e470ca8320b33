"""DPM-Solver++(2M) on the stochastic equation."""

from collections.abc import Iterator
from enum import StrEnum

import numpy as np

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, intervals


class SdeCorrection(StrEnum):
    """The weight of the denoised picture's change in the second-order term."""

    MIDPOINT = "midpoint"
    HEUN = "heun"


def dpmpp_2m_sde(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 1.0,
    noise_scale: float = 1.0,
    correction: SdeCorrection = SdeCorrection.MIDPOINT,
) -> Iterator[Step]:
    """Multistep exponential integrator of the reverse SDE; one evaluation per step.

    `eta` scales the noise: 0 is the deterministic solver and draws none, 1 the SDE of Song et al.
    (2021). Lu et al. (2022), DPM-Solver++, SDE-DPM-Solver++(2M), section 5; k-diffusion
    `sample_dpmpp_2m_sde`, whose `s_noise` is `noise_scale` and `solver_type` is `correction`.
    """
    previous: Latent | None = None
    length_before = np.float32(0)
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        if sigma_next == 0:
            x = denoised
        else:
            length = np.log(sigma) - np.log(sigma_next)
            noise_length = eta * length
            gain = -np.expm1(-length - noise_length)
            x = sigma_next / sigma * np.exp(-noise_length) * x + gain * denoised
            if previous is not None:
                ratio = length_before / length
                if correction is SdeCorrection.MIDPOINT:
                    weight = 0.5 * gain
                else:
                    weight = gain / (-length - noise_length) + 1
                x = x + weight * (1 / ratio) * (denoised - previous)
            if eta > 0:
                spread = np.sqrt(-np.expm1(-2 * noise_length))
                x = x + noise(sigma, sigma_next) * sigma_next * spread * noise_scale
            length_before = length
        previous = denoised
        yield Step(index, sigma, x, denoised)
