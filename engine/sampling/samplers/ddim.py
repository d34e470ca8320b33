"""DDIM, which is Euler's method in variance-exploding form."""

from collections.abc import Iterator

from engine.sampling.samplers.euler_ancestral import euler_ancestral
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step


def ddim(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 0.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Predict the picture, then point from it to the next level; one evaluation per step.

    Song et al. (2020), DDIM, equation 12. With x = x_vp * sqrt(1 + sigma^2) and
    alpha = 1 / (1 + sigma^2) it reads x' = denoised + sigma' * (x - denoised) / sigma, which is
    Euler's step (their equation 14), and its noise for eta > 0 is that of the ancestral step
    (equation 16). So this is diffusers' `DDIMScheduler` at the sigmas of its timesteps, and
    ComfyUI's `ddim`, which is Euler as well. A1111's DDIM also visits its own uniform timesteps
    (1, 1 + 1000 // steps, ...) from noise of scale sqrt(1 + sigma^2) and leaves out the last step:
    those belong to the schedule and the initial latents, not to the sampler.
    """
    return euler_ancestral(denoise, x, sigmas, noise, eta=eta, noise_scale=noise_scale)
