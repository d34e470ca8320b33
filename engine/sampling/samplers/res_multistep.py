"""The second-order multistep method of refined exponential solvers."""

import math
from collections.abc import Iterator

from engine.sampling.samplers.euler_ancestral import ancestral_step
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals


def res_multistep(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 0.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Exponential integrator through this step's picture and the last; one evaluation per step.

    Zhang et al. (2023), "Improved Order Analysis and Design of Exponential Integrator for Diffusion
    Models Sampling", equation 18. The first step and those to or after level 0 are Euler's. ComfyUI
    `sample_res_multistep`; with `eta` its `sample_res_multistep_ancestral`, where the time of the
    last picture counts from the level that its step went down to.
    """
    down_before = 0.0
    previous: Latent | None = None
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        down, up = ancestral_step(sigma, sigma_next, eta)
        if previous is None or down == 0 or down_before == 0:
            x = x + derivative(x, sigma, denoised) * (down - sigma)
        else:
            length = math.log(sigma) - math.log(down)
            place = (math.log(down_before) - math.log(sigmas[index - 1])) / length
            phi_1 = -math.expm1(-length) / length
            phi_2 = (1 - phi_1) / length
            weight = phi_2 / place
            x = float(down) / float(sigma) * x
            x = x + length * ((phi_1 - weight) * denoised + weight * previous)
        if up > 0:
            x = x + noise(sigma, sigma_next) * noise_scale * up
        previous, down_before = denoised, float(down)
        yield Step(index, sigma, x, denoised)
