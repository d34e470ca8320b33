"""ComfyUI's samplers that k-diffusion has not got, in plain torch.

Named as ComfyUI names them (`comfy/k_diffusion/sampling.py`, `comfy/extra_samplers/uni_pc.py`).
Each takes the guided denoiser, x, the levels and a function for the noise between two levels.
"""
# pyright: basic, reportMissingImports=false
# torch and k-diffusion are absent from the environment that is type-checked.

from functools import partial
from itertools import pairwise
from math import log
from typing import Any

import torch

from tests.oracle.fidelity import unipc
from tests.oracle.k_diffusion import load


def lms(model: Any, x: Any, sigmas: Any, noise: Any) -> Any:
    """k-diffusion's, but the step to 0 takes the picture as it is."""
    if sigmas[-1] > 0:  # another node goes on
        return load("sampling").sample_lms(model, x, sigmas, disable=True)
    x = load("sampling").sample_lms(model, x, sigmas[:-1], disable=True)
    return model(x, sigmas[-2][None])


def ddpm(model: Any, x: Any, sigmas: Any, noise: Any) -> Any:
    """Ho et al. (2020), equations 6 and 7, between any two levels."""
    for sigma, lower in pairwise(sigmas):
        predicted = (x - model(x, sigma[None])) / sigma
        product, next_product = 1 / (sigma**2 + 1), 1 / (lower**2 + 1)
        alpha = product / next_product
        scaled = x * product.sqrt()
        x = (scaled - (1 - alpha) * predicted / (1 - product).sqrt()) / alpha.sqrt()
        if lower > 0:
            variance = (1 - alpha) * (1 - next_product) / (1 - product)
            x = (x + variance.sqrt() * noise(sigma, lower)) / next_product.sqrt()
    return x


def lcm(model: Any, x: Any, sigmas: Any, noise: Any) -> Any:
    """Take the picture, add noise for the next level, again."""
    for sigma, lower in pairwise(sigmas):
        x = model(x, sigma[None])
        if lower > 0:
            x = x + lower * noise(sigma, lower)
    return x


def euler_ancestral_cfg_pp(
    model: Any, x: Any, sigmas: Any, noise: Any, eta: float = 1.0, s_noise: float = 1.0
) -> Any:
    """CFG++ (Chung et al. 2024): the guided picture, with the noise that is there without it."""
    for sigma, lower in pairwise(sigmas):
        picture = model(x, sigma[None])
        if lower == 0:
            return picture
        slope = (x - model.unguided) / sigma
        down, up = load("sampling").get_ancestral_step(sigma, lower, eta)
        x = picture + down * slope
        if eta > 0 and s_noise > 0:
            x = x + noise(sigma, lower) * s_noise * up
    return x


euler_cfg_pp = partial(euler_ancestral_cfg_pp, eta=0.0)


def res_multistep(model: Any, x: Any, sigmas: Any, noise: Any) -> Any:
    """Zhang et al. (2023), RES of second order in the form with one evaluation a step."""
    before = None
    for index, (sigma, lower) in enumerate(pairwise(sigmas)):
        picture = model(x, sigma[None])
        if lower == 0 or before is None:
            x = x + (x - picture) / sigma * (lower - sigma)
        else:
            h = (sigma / lower).log()
            # The last picture was at the level before this one.
            c2 = (sigma / sigmas[index - 1]).log() / h
            phi_1 = torch.expm1(-h) / -h
            phi_2 = (phi_1 - 1.0) / -h
            x = torch.exp(-h) * x + h * ((phi_1 - phi_2 / c2) * picture + phi_2 / c2 * before)
        before = picture
    return x


def deis(model: Any, x: Any, sigmas: Any, noise: Any) -> Any:
    """Zhang and Chen (2023), tAB-DEIS of order 3 over the times of a linear variance schedule."""
    slopes: list[Any] = []
    weights = _deis_weights(sigmas)
    for index, (sigma, lower) in enumerate(pairwise(sigmas)):
        slope = (x - model(x, sigma[None])) / sigma
        slopes = [slope, *slopes][:3]
        if lower == 0 or index == 0:
            x = x + (lower - sigma) * slope
        else:
            x = x + sum(w * s for w, s in zip(weights[index], slopes, strict=True))
    return x


def _deis_weights(sigmas: Any, points: int = 10_000) -> list[list[Any]]:
    """Integrals over each step of d sigma / dt times Lagrange's polynomials, as ComfyUI sums them.

    t(sigma) is that of a schedule from sigma 0.002 at t = 0.001 to 80 at t = 1. The sum of N points
    is divided by N, not N - 1, and is in float32, which shows in the fourth digit.
    """
    low, high, start = log(0.002**2 + 1), log(80**2 + 1), 1e-3
    slope = 2 * (low / start - high) / (start - 1)
    base = high - 0.5 * slope
    times = ((base**2 + 2 * slope * (sigmas**2 + 1).log()).sqrt() - base) / slope
    rows: list[list[Any]] = []
    for index, (time, following) in enumerate(pairwise(times)):
        known = [times[index - back] for back in range(min(index + 1, 3))]
        taus = torch.linspace(float(time), float(following), points)
        alpha = torch.exp(-0.5 * taus**2 * slope - taus * base)
        integrand = 0.5 * (taus * slope + base) / torch.sqrt(alpha * (1 - alpha))
        row = []
        for place in range(len(known)):
            polynomial = torch.ones_like(taus)
            for other in range(len(known)):
                if other != place:
                    polynomial *= (taus - known[other]) / (known[place] - known[other])
            row.append((integrand * polynomial).sum() * ((following - time) / points))
        rows.append(row)
    return rows


def uni_pc(model: Any, x: Any, sigmas: Any, noise: Any, *, second_form: bool = False) -> Any:
    """UniPC with B(h) = h."""

    def denoise(x: Any, sigma: Any) -> Any:
        return model(x, sigma[None])

    return unipc.comfy(denoise, x, sigmas, second_form=second_form)


uni_pc_bh2 = partial(uni_pc, second_form=True)
