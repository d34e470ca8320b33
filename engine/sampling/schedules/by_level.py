"""Schedules that space the levels themselves, by some function of sigma.

Each takes the number of steps, the training levels and the options of the request, and returns
falling float32 levels followed by 0, unless its docstring says otherwise.
"""

import math

import numpy as np

from engine.api.request import ScheduleOptions
from engine.sampling.beta_distribution import beta_quantile
from engine.sampling.schedules.ramp import linspace, with_zero
from engine.sampling.schedules.training import NoiseSchedule
from engine.sampling.types import Sigmas

# The share of sigma that the first half of a linear-quadratic schedule covers.
_LINEAR_SHARE = 0.025


def karras(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Sigmas evenly spaced in sigma^(1/rho), rho 7: dense where noise is low.

    Karras et al. (2022), equation 5; k-diffusion `get_sigmas_karras`.
    """
    rho = 7.0 if options.rho is None else options.rho
    low, high = (end ** (1 / rho) for end in training.ends(options))
    return with_zero((high + linspace(0, 1, steps) * (low - high)) ** rho)


def exponential(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Sigmas evenly spaced in log sigma. k-diffusion `get_sigmas_exponential`."""
    low, high = (math.log(end) for end in training.ends(options))
    return with_zero(np.exp(linspace(high, low, steps)))


def polyexponential(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Sigmas whose logarithm falls as a power rho of the way; rho 1 is exponential.

    k-diffusion `get_sigmas_polyexponential`.
    """
    rho = 1.0 if options.rho is None else options.rho
    low, high = (math.log(end) for end in training.ends(options))
    return with_zero(np.exp(linspace(1, 0, steps) ** rho * (high - low) + low))


def kl_optimal(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Sigmas evenly spaced in their arc tangent, as A1111 does: down to sigma_min, not to 0.

    Sabour et al. (2024), "Align Your Steps", equation 7. The steps + 1 levels include both ends, so
    a picture keeps the noise of the lowest. A1111 `kl_optimal`.
    """
    low, high = (np.arctan(np.float32(end)) for end in training.ends(options))
    place = np.arange(steps + 1, dtype=np.float32) / np.float32(steps)
    return np.tan(place * low + (1 - place) * high)


def kl_optimal_to_zero(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """`kl_optimal` as in ComfyUI: `steps` levels with both ends, and 0. `kl_optimal_scheduler`.

    For one step, where ComfyUI divides by 0, the highest level.
    """
    low, high = (math.atan(end) for end in training.ends(options))
    place = np.arange(steps, dtype=np.float32) / np.float32(max(steps - 1, 1))
    return with_zero(np.tan(place * low + (1 - place) * high))


def beta(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Levels at the quantiles of a beta distribution: dense at both ends.

    Lee et al. (2024), "Beta Sampling is All You Need", alpha = beta = 0.6. A1111 `beta_scheduler`
    and diffusers apply the quantiles to sigma; ComfyUI's is `by_timestep.beta_rounded`.
    """
    quantiles = beta_quantile(1 - np.linspace(0, 1, steps), 0.6, 0.6)
    low, high = training.ends(options)
    return with_zero(low + quantiles * (high - low))


def linear_quadratic(steps: int, training: NoiseSchedule, options: ScheduleOptions) -> Sigmas:
    """Sigmas that fall linearly by 2.5 % in half of the steps, then on a parabola to 0.

    Made for Mochi, whose sigmas end at 1; scaled to the highest level. ComfyUI
    `linear_quadratic_schedule`.
    """
    if steps == 1:
        return np.array([1, 0], np.float32) * training.sigma_max
    linear = steps // 2
    rest = steps - linear
    # The parabola through (linear, share) with the line's value there, reaching 1 at `steps`.
    excess = linear - _LINEAR_SHARE * steps
    square = excess / (linear * rest**2)
    slope = _LINEAR_SHARE / linear - 2 * excess / rest**2
    index = np.arange(steps + 1, dtype=np.float64)
    line = index * _LINEAR_SHARE / linear
    curve = square * index**2 + slope * index + square * linear**2
    gone = np.where(index < linear, line, curve)
    gone[-1] = 1
    return (1 - gone).astype(np.float32) * training.sigma_max
