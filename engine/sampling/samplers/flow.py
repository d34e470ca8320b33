"""Samplers with noise on the straight paths of rectified flow, x = (1 - t) * picture + t * noise.

Divided by the picture's share, 1 - t, such latents are picture + s * noise with s = t / (1 - t):
the variance-exploding form, in which samplers of the stochastic equation need no other arithmetic.
The ancestral samplers step down to a level of their own.
"""

from collections.abc import Iterator

import numpy as np

from engine.sampling.samplers.dpmpp_2s_ancestral import towards
from engine.sampling.types import Denoise, Latent, NoiseSource, Sampler, Sigmas, Step, intervals

# The level between the ends of a step from noise alone, half way to which is infinitely far.
_MIDDLE_OF_FIRST = np.float32(0.9999)


class FlowSde:
    """A `Sampler` that runs one of the stochastic equation on the paths of flow.

    ComfyUI `sample_dpmpp_sde`, `sample_dpmpp_2m_sde` and `sample_dpmpp_3m_sde` on models with
    `CONST`: their half log SNR is -log(s). `below_noise` is the level that takes the place of a
    first one of 1, where s is infinite (`offset_first_sigma_for_snr`).
    """

    def __init__(self, inner: Sampler, below_noise: float) -> None:
        self._inner, self._below_noise = inner, np.float32(below_noise)

    def __call__(
        self, denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource
    ) -> Iterator[Step]:
        """Yield steps as `Sampler` does, with levels and latents of flow."""
        levels = sigmas.copy()
        if len(levels) > 1 and levels[0] >= 1:
            levels[0] = self._below_noise
        ratios = (levels.astype(np.float64) / (1 - levels.astype(np.float64))).astype(np.float32)

        def level(ratio: np.float32) -> np.float32:
            # A Brownian path shows the last digit of a level.
            near = int(np.abs(ratios - ratio).argmin())
            if np.isclose(ratios[near], ratio, rtol=1e-6, atol=0):
                return levels[near]
            return np.float32(np.float64(ratio) / (1 + np.float64(ratio)))

        def seen(latent: Latent, ratio: np.float32) -> Latent:
            share = 1 - level(ratio)
            return denoise(latent * share, level(ratio))

        def drawn(sigma: np.float32, sigma_next: np.float32) -> Latent:
            return noise(level(sigma), level(sigma_next))

        if len(levels) < 2:  # no step
            return
        for step in self._inner(seen, x / (1 - levels[0]), ratios, drawn):
            after = step.x * (1 - levels[step.index + 1])
            yield Step(step.index, sigmas[step.index], after, step.denoised, step.done)


def flow_euler_ancestral(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 1.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Step down past the next level, then add noise up to it; one evaluation per step.

    ComfyUI `sample_euler_ancestral_RF`, whose `s_noise` is `noise_scale`. `eta` is the share of
    noise that is renewed: 0 is Euler's method and draws none.
    """
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        if sigma_next == 0:
            x = denoised
        else:
            down = _down(sigma, sigma_next, eta)
            x = towards(denoised, x, sigma, down)
            if eta > 0:
                x = _renewed(x, down, sigma_next, noise(sigma, sigma_next) * noise_scale)
        yield Step(index, sigma, x, denoised)


def flow_dpmpp_2s_ancestral(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 1.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Step down towards the picture seen half way in log SNR, then add noise up to the next level.

    Two evaluations per step, one for that to sigma 0. ComfyUI `sample_dpmpp_2s_ancestral_RF`, whose
    `s_noise` is `noise_scale`.
    """
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        if sigma_next == 0:
            x = denoised
        else:
            down = _down(sigma, sigma_next, eta)
            middle = _MIDDLE_OF_FIRST if sigma >= 1 else _half_way(sigma, down)
            target = denoise(towards(denoised, x, sigma, middle), middle)
            x = towards(target, x, sigma, down)
            if eta > 0:
                x = _renewed(x, down, sigma_next, noise(sigma, sigma_next) * noise_scale)
        yield Step(index, sigma, x, denoised)


def _down(sigma: np.float32, sigma_next: np.float32, eta: float) -> np.float32:
    """Return the level to step down to, before noise is added."""
    return sigma_next * (1 + (sigma_next / sigma - 1) * np.float32(eta))


def _renewed(x: Latent, down: np.float32, sigma_next: np.float32, noise: Latent) -> Latent:
    """Add noise to latents of the level `down`, so that they are at the next level."""
    share = (1 - sigma_next) / (1 - down)
    added = np.sqrt(np.maximum(sigma_next**2 - down**2 * share**2, np.float32(0)))
    return x * share + noise * added


def _half_way(sigma: np.float32, down: np.float32) -> np.float32:
    """Return the level in the middle of two in log SNR."""
    first, last = ((1 - np.float64(level)) / np.float64(level) for level in (sigma, down))
    return np.float32(1 / (1 + np.sqrt(first * last)))
