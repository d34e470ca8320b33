"""DEIS: past slopes are extrapolated by a polynomial in a time in which they change evenly."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from engine.sampling.types import Denoise, Latent, NoiseSource, Sigmas, Step, derivative, intervals

# The time of the variance-preserving process: at time 0.001 the level is 0.002, at time 1 it is 80,
# and log(1 + sigma^2) is quadratic in between (Song et al. 2021, equation 33).
_VP_GROWTH = 2 * (math.log1p(0.002**2) / 1e-3 - math.log1p(80**2)) / (1e-3 - 1)
_VP_START = math.log1p(80**2) - _VP_GROWTH / 2
_VP_POINTS = 10_000
# Gauss-Legendre points on [-1, 1] and their weights, as NumPy's `leggauss(16)` has them: exact to
# the last bits for steps down to a hundredth.
_OUTER = (
    (0.09501250983763744, 0.18945061045506864),
    (0.2816035507792589, 0.18260341504492364),
    (0.45801677765722737, 0.16915651939500265),
    (0.6178762444026438, 0.1495959888165767),
    (0.755404408355003, 0.12462897125553407),
    (0.8656312023878318, 0.0951585116824926),
    (0.9445750230732326, 0.062253523938647456),
    (0.9894009349916499, 0.027152459411754176),
)
_POINTS, _POINT_WEIGHTS = np.array([*((-x, w) for x, w in reversed(_OUTER)), *_OUTER]).T


class DeisTime(StrEnum):
    """The time variable in which the slopes are extrapolated by a polynomial."""

    VP = "vp"
    LOG_SIGMA = "log_sigma"


def deis(
    denoise: Denoise,
    x: Latent,
    sigmas: Sigmas,
    noise: NoiseSource,
    *,
    order: int = 3,
    time: DeisTime = DeisTime.VP,
    lower_order_final: bool = False,
) -> Iterator[Step]:
    """Integrate the polynomial through the last slopes; one evaluation per step, no noise.

    Zhang and Chen (2022), DEIS, equations 14 and 15: tAB-DEIS in the time of a variance-preserving
    process, which is ComfyUI's `sample_deis` in its mode "tab", of order 3; or in log(sigma), which
    is diffusers' `DEISMultistepScheduler`, of order 2. The first steps have fewer slopes and a
    lower order; the step to sigma 0 is Euler's. With `lower_order_final`, as in diffusers, the last
    step of fewer than 15 is Euler's too, and the one before it at most of order 2.
    """
    steps = len(sigmas) - 1
    slopes: deque[Latent] = deque(maxlen=order)
    for index, sigma, sigma_next in intervals(sigmas):
        denoised = denoise(x, sigma)
        slopes.appendleft(derivative(x, sigma, denoised))
        count = len(slopes)
        if lower_order_final and steps < 15:
            count = min(count, steps - index)
        if count == 1 or sigma_next == 0:
            x = x + slopes[0] * (sigma_next - sigma)
        else:
            levels = [float(sigmas[index - back]) for back in range(count)]
            weights = _weights(levels, float(sigma_next), time)
            parts = zip(weights, islice(slopes, count), strict=True)
            x = x + sum(weight * slope for weight, slope in parts)
        yield Step(index, sigma, x, denoised)


def _weights(levels: Sequence[float], end: float, time: DeisTime) -> list[float]:
    """Return the integral over sigma, from levels[0] to `end`, of each Lagrange polynomial."""
    if time is DeisTime.VP:
        nodes = [_vp_time(level) for level in levels]
        times, shares = _vp_points(nodes[0], _vp_time(end))
    else:
        nodes = [math.log(level) for level in levels]
        times, shares = _log_points(nodes[0], math.log(end))
    return [float(shares @ _lagrange(nodes, own, times)) for own in range(len(nodes))]


def _vp_time(sigma: float) -> float:
    root = math.sqrt(_VP_START**2 + 2 * _VP_GROWTH * math.log1p(sigma**2))
    return (root - _VP_START) / _VP_GROWTH


def _vp_points(start: float, end: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points in time for the integral over sigma, and the weight of each point.

    Rectangles with both ends included, as in ComfyUI: within 1e-4 of the integral.
    """
    times = np.linspace(start, end, _VP_POINTS)
    growth = np.exp(_VP_GROWTH * times**2 / 2 + _VP_START * times)
    slope = (_VP_GROWTH * times + _VP_START) * growth / (2 * np.sqrt(growth - 1))
    return times, slope * ((end - start) / _VP_POINTS)


def _log_points(start: float, end: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the same points and weights as `_vp_points`, but with log(sigma) as the time.

    The points are Gauss-Legendre's; diffusers has this integral in closed form.
    """
    half = (end - start) / 2
    times = start + half * (1 + _POINTS)
    return times, np.exp(times) * _POINT_WEIGHTS * half


def _lagrange(nodes: Sequence[float], own: int, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evaluate the polynomial that is 1 at nodes[own] and 0 at the other nodes."""
    result = np.ones_like(times)
    for index, node in enumerate(nodes):
        if index != own:
            result *= (times - node) / (nodes[own] - node)
    return result
