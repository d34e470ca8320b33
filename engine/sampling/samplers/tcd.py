"""The sampler of trajectory consistency distillation, for distilled checkpoints and LoRAs."""

from collections.abc import Iterator

import numpy as np

from engine.api.values import ConventionName
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals

_STABLE_DIFFUSION = NoiseSchedule.scaled_linear(convention=ConventionName.DIFFUSERS)


def tcd(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 0.3,
    noise_scale: float = 1.0,
    training: NoiseSchedule = _STABLE_DIFFUSION,
) -> Iterator[Step]:
    """Jump below the next level, then add noise up to it; one evaluation per step.

    Zheng et al. (2024), TCD, algorithm 4 (strategic stochastic sampling); diffusers'
    `TCDScheduler`. `eta`, the paper's gamma in [0, 1], says how far below: to the timestep of the
    next level times 1 - eta, rounded down to a whole one. So 0 is Euler's method and draws none,
    and 1 jumps to the lowest level and renews nearly all noise. `training` maps levels to
    timesteps. diffusers ends at timestep 0; the step to sigma 0 here ends at the picture.
    """
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        down = _level_below(sigma_next, eta, training) if eta > 0 else sigma_next
        x = denoised + derivative(x, sigma, denoised) * down
        if eta > 0 and sigma_next > 0:
            x = x + noise(sigma, sigma_next) * noise_scale * np.sqrt(sigma_next**2 - down**2)
        yield Step(index, sigma, x, denoised)


def _level_below(sigma: np.float32, eta: float, training: NoiseSchedule) -> np.float32:
    if sigma == 0:
        return sigma
    # The schedules' levels are those of whole timesteps, up to rounding.
    timestep = int(np.rint(training.sigma_to_place(sigma)))
    lower = max(int(np.float32(1 - eta) * np.float32(timestep)), 0)
    # At the same timestep no noise is added, not even a difference in rounding.
    return np.minimum(training.sigmas[lower], sigma) if lower < timestep else sigma
