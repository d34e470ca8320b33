"""DPM-Solver++(2M), the common sampler for 20 to 30 steps."""

from collections.abc import Iterator

import numpy as np

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, intervals


def dpmpp_2m(denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource) -> Iterator[Step]:
    """Multistep exponential integrator: second order, one evaluation per step, no noise.

    The linear part is solved exactly in the time t = -log(sigma) and the denoised picture is
    extrapolated from this step and the one before. The first step has no predecessor and the one
    to sigma 0 is infinitely long in t: both are of first order. Lu et al. (2022), DPM-Solver++,
    algorithm 2; k-diffusion `sample_dpmpp_2m`.
    """
    previous: Latent | None = None
    length_before = np.float32(0)
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        if sigma_next == 0:
            x = denoised
        else:
            time, time_next = -np.log(sigma), -np.log(sigma_next)
            length = time_next - time
            target = denoised
            if previous is not None:
                ratio = length_before / length
                target = (1 + 1 / (2 * ratio)) * denoised - (1 / (2 * ratio)) * previous
            # exp(-t) rather than sigma: the rounding is k-diffusion's too.
            x = np.exp(-time_next) / np.exp(-time) * x - np.expm1(-length) * target
            length_before = length
        previous = denoised
        yield Step(index, sigma, x, denoised)
