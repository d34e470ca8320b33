"""Samplers that A1111 has beside k-diffusion's: Restart and LCM, in plain torch.

After `sd_samplers_extra.py` and `sd_samplers_lcm.py` of v1.10.1.
"""
# pyright: basic, reportMissingImports=false
# torch and k-diffusion are absent from the environment that is type-checked.

from itertools import pairwise
from typing import Any

import torch

from tests.oracle.k_diffusion import load


def restart(model: Any, x: Any, sigmas: Any, disable: bool = True, s_noise: float = 1.0) -> Any:
    """Heun's steps that go back up to sigma 2 from 0.1 once or twice (Xu et al. 2023)."""
    sampling = load("sampling")
    before = None
    for level, lower in _restart_steps(sigmas):
        if before is not None and before < level:
            x = x + sampling.torch.randn_like(x) * s_noise * (level**2 - before**2) ** 0.5
        slope = (x - model(x, level[None])) / level
        reached = x + slope * (lower - level)
        if lower > 0:
            slope = (slope + (reached - model(reached, lower[None])) / lower) / 2
        x, before = x + slope * (lower - level), lower
    return x


def _restart_steps(sigmas: Any) -> list[tuple[Any, Any]]:
    """Pairs of levels: few steps are taken as they come, 20 and more share some with restarts."""
    steps = len(sigmas) - 1
    if steps < 20:
        return list(pairwise(sigmas))
    length, times = (steps // 4, 2) if steps >= 36 else (9, 1)
    karras = load("sampling").get_sigmas_karras
    sigmas = karras(steps - length * times, sigmas[-2].item(), sigmas[0].item())
    bottom, top = (int(torch.argmin(abs(sigmas - level))) for level in (0.1, 2))
    again = karras(length + 1, sigmas[bottom].item(), sigmas[top].item())[:-1]
    pairs: list[tuple[Any, Any]] = []
    for index in range(len(sigmas) - 1):
        pairs.append((sigmas[index], sigmas[index + 1]))
        if index + 1 == bottom and top < bottom:
            pairs += list(pairwise(again)) * times
    return pairs


class LcmDenoiser(load("external").DiscreteEpsDDPMDenoiser):
    """The 50 levels that latent consistency models know, and their boundary scalings."""

    def __init__(self, model: Any) -> None:
        super().__init__(model, model.alphas_cumprod[19::20], quantize=None)

    def get_sigmas(self, n: int) -> Any:
        """Levels evenly spaced over the known timesteps."""
        ends = self.sigma_to_t(self.sigma_max), self.sigma_to_t(self.sigma_min)
        return load("sampling").append_zero(self.t_to_sigma(torch.linspace(*ends, n)))

    def sigma_to_t(self, sigma: Any, quantize: Any = None) -> Any:
        """The timestep of the nearest known level."""
        distances = (sigma.log() - self.log_sigmas[:, None]).abs()
        return distances.argmin(dim=0).view(sigma.shape) * 20 + 19

    def t_to_sigma(self, t: Any) -> Any:
        """The level of a timestep, between the known ones by the logarithm."""
        return super().t_to_sigma(torch.clamp((t.float() - 19) / 20, 0, len(self.sigmas) - 1))

    def forward(self, x: Any, sigma: Any, **named: Any) -> Any:
        """The picture; at the lowest levels nearly x itself (Luo et al. 2023, equation 9)."""
        level = sigma[:, None, None, None]
        timestep = self.sigma_to_t(sigma)
        noise = self.inner_model.apply_model(x / (level**2 + 1) ** 0.5, timestep, **named)
        scaled = timestep[:, None, None, None] * 10.0
        keep = 0.25 / (scaled**2 + 0.25)
        return scaled / (scaled**2 + 0.25) ** 0.5 * (x - noise * level) + keep * x


def lcm(model: Any, x: Any, sigmas: Any, disable: bool = True) -> Any:
    """Take the picture, add noise for the next level, again."""
    sampling = load("sampling")
    for level, lower in pairwise(sigmas):
        x = model(x, level[None])
        if lower > 0:
            x = x + lower * sampling.torch.randn_like(x)
    return x
