"""The sampler of latent consistency models, for distilled checkpoints and LoRAs in 2 to 8 steps."""

from collections.abc import Iterator

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, intervals


def lcm(
    denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource, *, noise_scale: float = 1.0
) -> Iterator[Step]:
    """Jump to the picture, add noise of the next level to it, repeat; one evaluation per step.

    Luo et al. (2023), Latent Consistency Models, algorithm 3; ComfyUI `sample_lcm`. As there, the
    paper's boundary scalings are left out: at the timesteps that are distilled, 19 and up, c_skip
    and c_out differ from 0 and 1 by less than 1e-5.
    """
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        x = denoised
        if sigma_next > 0:
            x = x + sigma_next * noise(sigma, sigma_next) * noise_scale
        yield Step(index, sigma, x, denoised)
