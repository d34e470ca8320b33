"""DPM-Solver-fast: as many steps of third order as the evaluations allow."""

from collections.abc import Iterator

import numpy as np

from engine.sampling.samplers.dpm_solver import Span, renewal, time_range, to_picture
from engine.sampling.samplers.times import level_at
from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative


def dpm_fast(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    eta: float = 0.0,
    noise_scale: float = 1.0,
) -> Iterator[Step]:
    """Spend len(sigmas) - 1 evaluations on steps of equal length in log sigma.

    Only the ends of the schedule count, see `time_range`. There are a third as many steps, of third
    order; the last one or two use the remaining evaluations. `eta` in [0, 1] is the share of noise
    that is renewed; 0 draws none. Lu et al. (2022), DPM-Solver, section 3.4; k-diffusion
    `sample_dpm_fast`, whose `s_noise` is `noise_scale`. A1111 sets eta 1.
    """
    start, end = time_range(sigmas)
    if not end > start:
        yield from to_picture(denoise, x, sigmas)
        return
    orders = _orders(len(sigmas) - 1)
    times = np.linspace(start, end, len(orders) + 1, dtype=sigmas.dtype)
    for index, order in enumerate(orders):
        time, time_next = times[index], times[index + 1]
        target, up = renewal(time, time_next, end, eta)
        sigma = level_at(time)
        denoised = denoise(x, sigma)
        span = Span(denoise, x, derivative(x, sigma, denoised), time, target)
        x = _advanced(span, order)
        if eta > 0:
            x = x + up * noise_scale * noise(sigma, level_at(time_next))
        yield Step(index, sigma, x, denoised, done=(index + 1) / len(orders))


def _orders(evaluations: int) -> list[int]:
    """Return the order of each step, which is also its number of evaluations."""
    thirds, rest = divmod(evaluations, 3)
    return [3] * thirds + [rest] if rest else [3] * (thirds - 1) + [2, 1]


def _advanced(span: Span, order: int) -> Latent:
    match order:
        case 1:
            return span.first_order()
        case 2:
            return span.second_order(span.look(0.5), 0.5)
        case _:
            return span.third_order(span.look())
