"""Restart sampling: Heun's method that returns to a higher level with fresh noise and repeats."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.sampling.samplers.heun import heun_step
from engine.sampling.schedules.ramp import linspace, with_zero
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step

# The levels between which the run is repeated; from 20 steps on once, with 9 steps, and from 36 on
# twice, with a quarter of all steps each.
_LOW, _HIGH = 0.1, 2.0
_STEPS_FOR_ONE, _STEPS_OF_ONE = 20, 9
_STEPS_FOR_TWO = 36


def restart(
    denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource, *, noise_scale: float = 1.0
) -> Iterator[Step]:
    """Undo errors in the middle of the run by repeating it there; two evaluations per step.

    From 20 steps on, only the schedule's first level and its last above 0 count: Karras' schedule
    between them is visited in fewer steps, and the steps saved repeat the way from 2 to 0.1, once,
    or twice from 36 steps on. With fewer steps it is Heun's method. Xu et al. (2023), Restart
    Sampling for Improving Generative Processes, algorithm 1; the levels and counts are A1111's
    (modules/sd_samplers_extra.py, `restart_sampler`), whose `s_noise` is `noise_scale`. A schedule
    that starts below about 2 takes fewer steps than asked for, as in A1111.
    """
    way = _way(sigmas)
    reached = np.float32(np.inf)
    for index, (sigma, sigma_next) in enumerate(way):
        if sigma > reached:
            x = x + noise(reached, sigma) * noise_scale * np.sqrt(sigma**2 - reached**2)
        denoised = denoise(x, sigma)
        x = heun_step(denoise, x, sigma, sigma_next, denoised)
        reached = sigma_next
        yield Step(index, sigma, x, denoised, done=(index + 1) / len(way))


def _way(sigmas: Sigmas) -> list[tuple[np.float32, np.float32]]:
    """Return the levels at which each step begins and ends."""
    steps = len(sigmas) - 1
    if steps < _STEPS_FOR_ONE:
        return list(pairwise(sigmas))
    again, times = (steps // 4, 2) if steps >= _STEPS_FOR_TWO else (_STEPS_OF_ONE, 1)
    shorter = with_zero(_karras(steps - again * times, sigmas[-2], sigmas[0]))
    low, high = (int(np.argmin(np.abs(shorter - level))) for level in (_LOW, _HIGH))
    if high >= low:
        return list(pairwise(shorter))
    repeated = list(pairwise(_karras(again + 1, shorter[low], shorter[high])))
    return [*pairwise(shorter[: low + 1]), *repeated * times, *pairwise(shorter[low:])]


def _karras(count: int, low: np.float32, high: np.float32) -> NDArray[np.float32]:
    """Return falling levels, both ends included (Karras et al. 2022, equation 5, rho = 7)."""
    start, end = float(high) ** (1 / 7), float(low) ** (1 / 7)
    return (start + linspace(0, 1, count) * (end - start)) ** 7
