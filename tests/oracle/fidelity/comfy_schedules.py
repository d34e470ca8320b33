"""ComfyUI's levels (`ModelSamplingDiscrete`) and schedules (`comfy/samplers.py`)."""
# pyright: basic, reportMissingImports=false
# torch, SciPy and k-diffusion are absent from the environment that is type-checked.

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import stats

from tests.oracle.k_diffusion import load

SCHEDULES = (
    "simple",
    "sgm_uniform",
    "karras",
    "exponential",
    "ddim_uniform",
    "beta",
    "normal",
    "linear_quadratic",
    "kl_optimal",
)


class Levels:
    """The 1000 trained levels, lowest first, and timesteps, which are always whole."""

    def __init__(self, *, zero_terminal: bool = False) -> None:
        betas = torch.linspace(0.00085**0.5, 0.012**0.5, 1000, dtype=torch.float64) ** 2
        products = torch.cumprod(1 - betas, 0)
        if zero_terminal:
            roots = products.sqrt()
            products = ((roots - roots[-1]) * (roots[0] / (roots[0] - roots[-1]))) ** 2
            products[-1] = 4.8973451890853435e-08
        sigmas = ((1 - products) / products) ** 0.5
        self.sigmas, self.logs = sigmas.float(), sigmas.log().float()

    def timestep(self, sigma: Any) -> Any:
        """The number of the nearest level for each of [B]."""
        return (sigma.log() - self.logs[:, None]).abs().argmin(dim=0)

    def at(self, timestep: Any) -> Any:
        """The level of a timestep, between the whole ones by the logarithm."""
        place = torch.clamp(timestep.float(), 0, 999)
        low, high, share = place.floor().long(), place.ceil().long(), place.frac()
        return ((1 - share) * self.logs[low] + share * self.logs[high]).exp()


def schedule(name: str, steps: int, levels: Levels) -> Any:
    """The levels [steps + 1] that ComfyUI makes."""
    low, high = float(levels.sigmas[0]), float(levels.sigmas[-1])
    sampling = load("sampling")
    made: dict[str, Callable[[], Any]] = {
        "simple": lambda: _ended([levels.sigmas[-1 - int(i * 1000 / steps)] for i in range(steps)]),
        "sgm_uniform": lambda: _ended(levels.at(torch.linspace(999, 0, steps + 1)[:-1])),
        "normal": lambda: _ended(levels.at(torch.linspace(999, 0, steps))),
        "karras": lambda: sampling.get_sigmas_karras(steps, low, high),
        "exponential": lambda: sampling.get_sigmas_exponential(steps, low, high),
        "ddim_uniform": lambda: _ended(levels.sigmas[1 :: max(1000 // steps, 1)].flip(0)),
        "beta": lambda: _beta(steps, levels),
        "linear_quadratic": lambda: _linear_quadratic(steps) * levels.sigmas[-1],
        "kl_optimal": lambda: _kl_optimal(steps, low, high),
    }
    return made[name]()


def _beta(steps: int, levels: Levels) -> Any:
    """Quantiles of the timestep, rounded; a timestep that comes twice in a row counts once."""
    quantiles = stats.beta.ppf(1 - np.linspace(0, 1, steps, endpoint=False), 0.6, 0.6)
    places = np.rint(quantiles * 999).astype(int)
    kept = [place for i, place in enumerate(places) if i == 0 or place != places[i - 1]]
    return _ended(levels.sigmas[kept])


def _kl_optimal(steps: int, low: float, high: float) -> Any:
    share = torch.arange(steps, dtype=torch.float) / (steps - 1)
    return _ended(torch.tan(share * np.arctan(low) + (1 - share) * np.arctan(high)))


def _linear_quadratic(steps: int, threshold: float = 0.025) -> Any:
    """From 1 to 0: half the steps evenly down to 1 - threshold, the rest along a parabola.

    The parabola a k^2 + b k + c in the step k passes (half, threshold) with the line's own slope
    and (steps, 1): Genmo's Mochi 1, `linear_quadratic_schedule`.
    """
    half = steps // 2
    rest, slope = steps - half, threshold / half
    a = (half - threshold * steps) / (half * rest**2)
    b = slope - 2 * (half - threshold * steps) / rest**2
    gone = [i * slope for i in range(half)]
    gone += [a * k**2 + b * k + a * half**2 for k in range(half, steps)]
    return torch.tensor([1.0 - share for share in [*gone, 1.0]])


def _ended(levels: Any) -> Any:
    return torch.tensor([*(float(level) for level in levels), 0.0])
