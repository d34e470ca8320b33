"""A1111's schedules around k-diffusion's denoiser wrapper (`sd_schedulers.py` of v1.10.1)."""
# pyright: basic, reportMissingImports=false
# torch, SciPy and k-diffusion are absent from the environment that is type-checked.

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import stats

from tests.oracle.fidelity.picture import Picture
from tests.oracle.k_diffusion import load

# NVIDIA's table for SD 1 (https://research.nvidia.com/labs/toronto-ai/AlignYourSteps/howto.html)
_ALIGNED = [14.615, 6.475, 3.861, 2.697, 1.886, 1.396, 0.963, 0.652, 0.399, 0.152, 0.029]


def schedule(label: str, steps: int, wrapper: Any, picture: Picture) -> Any:
    """The levels [steps + 1] that A1111 makes."""
    low = wrapper.sigmas[0].item() if picture.sigma_min is None else picture.sigma_min
    high = wrapper.sigmas[-1].item() if picture.sigma_max is None else picture.sigma_max
    rho = {} if picture.rho is None else {"rho": picture.rho}
    sampling = load("sampling")
    spread: dict[str, Callable[[], Any]] = {
        "Uniform": lambda: wrapper.get_sigmas(steps),
        "Karras": lambda: sampling.get_sigmas_karras(steps, low, high, **rho),
        "Exponential": lambda: sampling.get_sigmas_exponential(steps, low, high),
        "Polyexponential": lambda: sampling.get_sigmas_polyexponential(steps, low, high, **rho),
        "SGM Uniform": lambda: _ended(_even(wrapper, low, high, steps + 1)[:-1]),
        "KL Optimal": lambda: _arctangents(steps, low, high),
        "Align Your Steps": lambda: _ended(_aligned(steps)),
        "Simple": lambda: _ended(
            [wrapper.sigmas[-1 - int(i * len(wrapper.sigmas) / steps)] for i in range(steps)]
        ),
        "Normal": lambda: _ended(_even(wrapper, low, high, steps)),
        "DDIM": lambda: _ended(wrapper.sigmas[1 :: max(len(wrapper.sigmas) // steps, 1)].flip(0)),
        "Beta": lambda: _ended(
            [
                low + stats.beta.ppf(place, 0.6, 0.6) * (high - low)
                for place in 1 - np.linspace(0, 1, steps)
            ]
        ),
    }
    return spread[label]()


SCHEDULES = (
    "Uniform",
    "Karras",
    "Exponential",
    "Polyexponential",
    "SGM Uniform",
    "KL Optimal",
    "Align Your Steps",
    "Simple",
    "Normal",
    "DDIM",
    "Beta",
)


def _even(wrapper: Any, low: float, high: float, count: int) -> list[Any]:
    """Levels at evenly spaced timesteps."""
    ends = (wrapper.sigma_to_t(torch.tensor(level)) for level in (high, low))
    return [wrapper.t_to_sigma(place) for place in torch.linspace(*ends, count)]


def _arctangents(steps: int, low: float, high: float) -> Any:
    """Evenly spaced in arctan(sigma); the last level is the lowest, not 0."""
    share = torch.arange(steps + 1) / steps
    least, most = (torch.arctan(torch.tensor(level)) for level in (low, high))
    return torch.tan(share * least + (1.0 - share) * most)


def _aligned(steps: int) -> list[float]:
    """The table, or what lies between its entries, evenly in the logarithm."""
    if steps == len(_ALIGNED):
        return _ALIGNED
    places = np.linspace(0, 1, len(_ALIGNED))
    logs = np.interp(np.linspace(0, 1, steps), places, np.log(_ALIGNED[::-1]))
    return list(np.exp(logs)[::-1])


def _ended(levels: Any) -> Any:
    return torch.tensor([*(float(level) for level in levels), 0.0])
