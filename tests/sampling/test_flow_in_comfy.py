"""Samplers with noise on straight paths, beside ComfyUI's formulas written down again.

comfy/k_diffusion/sampling.py as in ComfyUI 0.3.75 (sample_euler_ancestral_RF,
sample_dpmpp_2s_ancestral_RF, sample_dpmpp_sde, sample_dpmpp_2m_sde, sample_dpmpp_3m_sde with CONST,
sigma_to_half_log_snr, offset_first_sigma_for_snr); in float64.
"""

import math
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.api.methods import SAMPLER_FACTS
from engine.api.request import SamplerOptions
from engine.api.values import PredictionType, SamplerName
from engine.sampling.denoiser import Denoiser
from engine.sampling.noise_model import FLOW_SAMPLERS, RectifiedFlow
from engine.sampling.plan import plan_sampling
from engine.sampling.samplers import SAMPLERS
from engine.sampling.types import Latent
from tests.sampling.test_flow import DEVIATION, MEAN, NOISE, asked, sampled, velocity

Exact = NDArray[np.float64]
SHIFT, STEPS = math.exp(1.15), 6
NOISY = [flow_sampler for flow_sampler in FLOW_SAMPLERS if SAMPLER_FACTS[flow_sampler].adds_noise]


def picture(x: Exact, t: float) -> Exact:
    """The network's picture, as `velocity` predicts it."""
    variance = ((1 - t) * DEVIATION) ** 2 + t**2
    return MEAN + (1 - t) * DEVIATION**2 * (x - (1 - t) * MEAN) / variance


def drawn(sigma: float, sigma_next: float) -> Exact:
    """Noise that tells its interval."""
    return np.cos(7 * NOISE.astype(np.float64) + 3 * sigma + 5 * sigma_next)


def half_log_snr(sigma: float) -> float:
    return math.log((1 - sigma) / sigma)


def downstep(sigma: float, following: float, eta: float) -> tuple[float, float, float]:
    """The level down to, the share of what is there, and the noise that is added."""
    down = following * (1 + (following / sigma - 1) * eta)
    share = (1 - following) / (1 - down)
    return down, share, math.sqrt(following**2 - (down * share) ** 2)


def euler_ancestral(x: Exact, levels: list[float], eta: float) -> Exact:
    for sigma, following in pairwise(levels):
        denoised = picture(x, sigma)
        if following == 0:
            return denoised
        down, share, renoise = downstep(sigma, following, eta)
        x = down / sigma * x + (1 - down / sigma) * denoised
        x = share * x + drawn(sigma, following) * renoise
    return x


def dpmpp_2s_ancestral(x: Exact, levels: list[float], eta: float) -> Exact:
    for sigma, following in pairwise(levels):
        denoised = picture(x, sigma)
        if following == 0:
            return denoised
        down, share, renoise = downstep(sigma, following, eta)
        middle = 0.9999
        if sigma != 1:
            half = (half_log_snr(sigma) + half_log_snr(down)) / 2
            middle = 1 / (math.exp(half) + 1)
        seen = middle / sigma * x + (1 - middle / sigma) * denoised
        x = down / sigma * x + (1 - down / sigma) * picture(seen, middle)
        x = share * x + drawn(sigma, following) * renoise
    return x


def ancestral(start: float, end: float, eta: float) -> tuple[float, float]:
    up = min(end, eta * math.sqrt(end**2 * (start**2 - end**2) / start**2))
    return math.sqrt(end**2 - up**2), up


def dpmpp_sde(x: Exact, levels: list[float], eta: float) -> Exact:
    for sigma, following in pairwise(levels):
        denoised = picture(x, sigma)
        if following == 0:
            return denoised
        first, last = half_log_snr(sigma), half_log_snr(following)
        half = first + (last - first) / 2
        between = 1 / (1 + math.exp(half))
        seen = x
        target, ends = denoised, ((half, between), (last, following))
        for at, level in ends:
            down, up = ancestral(math.exp(-first), math.exp(-at), eta)
            length = -math.log(down) - first
            alpha = level * math.exp(at)
            share = alpha / (sigma * math.exp(first)) * math.exp(-length)
            seen = share * x - alpha * math.expm1(-length) * target
            seen = seen + alpha * drawn(sigma, level) * up
            if level == between:
                target = picture(seen, level)
        x = seen
    return x


def dpmpp_2m_sde(x: Exact, levels: list[float], eta: float, *, heun: bool = False) -> Exact:
    before, length_before = None, 1.0
    for sigma, following in pairwise(levels):
        denoised = picture(x, sigma)
        if following == 0:
            return denoised
        length = half_log_snr(following) - half_log_snr(sigma)
        whole, alpha = length * (eta + 1), following * math.exp(half_log_snr(following))
        gain = -math.expm1(-whole)
        x = following / sigma * math.exp(-length * eta) * x + alpha * gain * denoised
        if before is not None:
            weight = gain / -whole + 1 if heun else 0.5 * gain
            x = x + alpha * weight * (denoised - before) * length / length_before
        spread = math.sqrt(-math.expm1(-2 * length * eta))
        x = x + drawn(sigma, following) * following * spread
        before, length_before = denoised, length
    return x


def dpmpp_3m_sde(x: Exact, levels: list[float], eta: float) -> Exact:
    past: list[tuple[Exact, float]] = []
    for sigma, following in pairwise(levels):
        denoised = picture(x, sigma)
        if following == 0:
            return denoised
        length = half_log_snr(following) - half_log_snr(sigma)
        whole, alpha = length * (eta + 1), following * math.exp(half_log_snr(following))
        x = following / sigma * math.exp(-length * eta) * x - alpha * math.expm1(-whole) * denoised
        second = math.expm1(-whole) / whole + 1
        if past:
            ratio = past[-1][1] / length
            slope = (denoised - past[-1][0]) / ratio
            if len(past) > 1:
                older = past[-2][1] / length
                bend = (slope - (past[-1][0] - past[-2][0]) / older) / (ratio + older)
                x = x - alpha * (second / whole - 0.5) * bend
                slope = slope + bend * ratio
            x = x + alpha * second * slope
        spread = math.sqrt(-math.expm1(-2 * length * eta))
        x = x + drawn(sigma, following) * following * spread
        past.append((denoised, length))
    return x


def dpmpp_2m_sde_heun(x: Exact, levels: list[float], eta: float) -> Exact:
    return dpmpp_2m_sde(x, levels, eta, heun=True)


COMFYS = {
    SamplerName.EULER_ANCESTRAL: euler_ancestral,
    SamplerName.DPMPP_2S_ANCESTRAL: dpmpp_2s_ancestral,
    SamplerName.DPMPP_SDE: dpmpp_sde,
    SamplerName.DPMPP_2M_SDE: dpmpp_2m_sde,
    SamplerName.DPMPP_2M_SDE_HEUN: dpmpp_2m_sde_heun,
    SamplerName.DPMPP_3M_SDE: dpmpp_3m_sde,
}


@pytest.mark.parametrize("eta", [1.0, 0.6])
@pytest.mark.parametrize("sampler", NOISY)
def test_a_sampler_with_noise_equals_comfyuis(sampler: SamplerName, eta: float) -> None:
    request = asked(sampler=sampler, steps=STEPS, sampler_options=SamplerOptions(eta=eta))
    plan = plan_sampling(request, RectifiedFlow(SHIFT), redraws=False)
    assert plan.sigmas[0] == 1
    denoise = Denoiser(velocity, plan.training, PredictionType.FLOW, guidance=1.0)

    def noise(sigma: np.float32, sigma_next: np.float32) -> Latent:
        return drawn(float(sigma), float(sigma_next)).astype(np.float32)

    *_, last = plan.sampler(denoise, plan.start(NOISE, None), plan.sigmas, noise)
    levels = [float(sigma) for sigma in plan.sigmas]
    if SAMPLERS[sampler].brownian:
        share = 1 - 1e-4
        levels[0] = SHIFT * share / (1 + (SHIFT - 1) * share)
    expected = COMFYS[sampler](NOISE.astype(np.float64), levels, eta)
    assert expected.std() > 0.02
    np.testing.assert_allclose(plan.finish(last.x), expected, rtol=0, atol=2e-4)


@pytest.mark.parametrize("sampler", NOISY)
def test_without_new_noise_a_sampler_converges_to_the_exact_solution(sampler: SamplerName) -> None:
    request = asked(sampler=sampler, sampler_options=SamplerOptions(eta=0.0))
    exact = MEAN + DEVIATION * NOISE
    coarse, fine = (
        np.abs(sampled(msgspec.structs.replace(request, steps=steps)) - exact).max()
        for steps in (10, 160)
    )
    assert fine < min(0.02, coarse / 4)
