"""Samplers against frozen trajectories of k-diffusion, and against problems with known answers.

A wrong coefficient shows in the order: the rate at which the error falls as steps get smaller.
"""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.api.request import SamplerOptions
from engine.api.values import ErrorCode, SamplerName
from engine.errors import EngineError
from engine.sampling.samplers import (
    SAMPLERS,
    SdeCorrection,
    bind_options,
    ddim,
    dpmpp_2m,
    dpmpp_2m_sde,
    euler,
    euler_ancestral,
    heun,
    lcm,
)
from engine.sampling.types import Denoise, Latent, NoiseSource, Sampler, Sigmas
from tests.sampling.toy import (
    SHAPE,
    BasisNoise,
    Gaussian,
    RecordedNoise,
    Unguided,
    mixture_denoise,
    no_noise,
)

FROZEN = np.load(Path(__file__).parent / "frozen" / "samplers.npz")
HEUN_SDE = partial(dpmpp_2m_sde, correction=SdeCorrection.HEUN)
OF_FROZEN: dict[str, Sampler] = {
    "euler": euler,
    "euler_a": euler_ancestral,
    "euler_a/half": partial(euler_ancestral, eta=0.5, noise_scale=1.01),
    "heun": heun,
    "dpmpp_2m": dpmpp_2m,
    "dpmpp_2m_sde": dpmpp_2m_sde,
    "dpmpp_2m_sde/heun": HEUN_SDE,
    "dpmpp_2m_sde/half": partial(dpmpp_2m_sde, eta=0.5, noise_scale=1.01),
}


def last(
    sampler: Sampler, denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource
) -> Latent:
    """The result of a whole run."""
    return list(sampler(denoise, x, sigmas, noise))[-1].x


def levels(steps: int) -> NDArray[Any]:
    """Karras's spacing from 10 to 0.05, but long and short steps in turn: their ratio must count.

    In float64, in which samplers then compute: float32 would hide the error behind its rounding.
    """
    index = np.arange(steps + 1)
    ramp = (index + 0.3 * (index % 2)) / steps
    return (math.cbrt(10) + ramp * (math.cbrt(0.05) - math.cbrt(10))) ** 3


def order(error: Callable[[int], float], steps: int) -> float:
    """The observed order of convergence: log2 of the gain from twice as many steps."""
    return float(np.log2(error(steps) / error(2 * steps)))


@pytest.mark.parametrize("name", OF_FROZEN)
def test_trajectories_are_those_of_k_diffusion(name: str):
    noise = RecordedNoise(FROZEN["noise"])
    steps = list(OF_FROZEN[name](mixture_denoise, FROZEN["x"], FROZEN["sigmas"], noise))
    assert len(steps) == len(FROZEN[name])
    for step, expected in zip(steps, FROZEN[name], strict=True):
        assert step.x.dtype == np.float32
        np.testing.assert_allclose(step.x, expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        (euler, 1),
        (ddim, 1),
        (partial(euler_ancestral, eta=0), 1),
        (heun, 2),
        (dpmpp_2m, 2),
        (partial(dpmpp_2m_sde, eta=0), 2),
        (partial(HEUN_SDE, eta=0), 2),
    ],
)
def test_order_of_convergence_to_the_solution(sampler: Sampler, expected: int):
    problem = Gaussian(mean=0.3, deviation=0.7)
    x = np.array([-8.0, 1.0, 12.0])

    def error(steps: int) -> float:
        sigmas = levels(steps)
        result = last(sampler, problem.denoise, x, sigmas, no_noise)
        return float(np.abs(result - problem.solution(x, sigmas[0], sigmas[-1])).max())

    assert order(error, 160) == pytest.approx(expected, abs=0.15)
    assert error(320) < 0.1**expected


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        (euler_ancestral, 1),
        (partial(euler_ancestral, eta=0.5), 1),
        (partial(ddim, eta=1.0), 1),
        (dpmpp_2m_sde, 2),
        (partial(dpmpp_2m_sde, eta=0.5), 2),
        (HEUN_SDE, 2),
    ],
)
def test_variance_converges_to_that_of_the_data(sampler: Sampler, expected: int):
    """Noise that is too strong, too weak or correlated with x ends in another variance."""
    problem = Gaussian(mean=0.0, deviation=0.7)

    def error(steps: int) -> float:
        sigmas = levels(steps)
        x = np.zeros(steps + 1)
        x[0] = np.sqrt(problem.variance(sigmas[0]))
        result = last(sampler, problem.denoise, x, sigmas, BasisNoise(steps + 1))
        return float(abs((result**2).sum() - problem.variance(sigmas[-1])))

    assert order(error, 160) == pytest.approx(expected, abs=0.2)
    assert error(320) < 0.1**expected


def test_lcm_jumps_and_adds_noise():
    sigmas, noise = FROZEN["sigmas"], FROZEN["noise"]
    steps = list(lcm(mixture_denoise, FROZEN["x"], sigmas, RecordedNoise(noise)))
    x = FROZEN["x"]
    for step in steps:
        denoised = mixture_denoise(x, sigmas[step.index])
        x = denoised + sigmas[step.index + 1] * noise[step.index]
        np.testing.assert_array_equal(step.denoised, denoised)
        np.testing.assert_array_equal(step.x, x)


def test_lcm_keeps_a_constant_picture():
    """A consistency model answers with the same picture at any level: the result is that one."""
    picture = np.full(SHAPE, 0.25, np.float32)
    result = last(
        lcm, lambda x, sigma: picture, FROZEN["x"], FROZEN["sigmas"], RecordedNoise(FROZEN["noise"])
    )
    np.testing.assert_array_equal(result, picture)


def test_ddim_is_euler():
    for ours, expected in zip(
        ddim(mixture_denoise, FROZEN["x"], FROZEN["sigmas"], no_noise),
        euler(mixture_denoise, FROZEN["x"], FROZEN["sigmas"], no_noise),
        strict=True,
    ):
        np.testing.assert_array_equal(ours.x, expected.x)


def test_every_name_has_a_sampler():
    assert set(SAMPLERS) == set(SamplerName)


@pytest.mark.parametrize("name", SamplerName)
@pytest.mark.parametrize("count", [1, 2, 8])
def test_contract(name: SamplerName, count: int):
    """Steps in order, x untouched, noise and evaluations as the registry says, float32."""
    info = SAMPLERS[name]
    sigmas = FROZEN["sigmas"][-count - 1 :]
    x = FROZEN["x"]
    before = x.copy()
    calls: list[float] = []
    draws = 0

    def denoise(x: Latent, sigma: np.float32) -> Latent:
        calls.append(float(sigma))
        return mixture_denoise(x, sigma)

    def noise(sigma: np.float32, sigma_next: np.float32) -> Latent:
        nonlocal draws
        draws += 1
        return FROZEN["noise"][0]

    steps = list(info.function(Unguided(denoise), x, sigmas, noise))
    assert [step.index for step in steps] == list(range(count))
    np.testing.assert_array_equal([step.sigma for step in steps], sigmas[:-1])
    np.testing.assert_array_equal(x, before)
    assert {step.x.dtype for step in steps} == {np.dtype(np.float32)}
    assert {step.x.shape for step in steps} == {SHAPE}
    assert len(calls) == info.evaluations * (count - 1) + 1
    # Nothing is added at the end.
    assert draws == (count - 1 if info.uses_noise else 0)


@pytest.mark.parametrize("name", SamplerName)
def test_the_result_is_the_last_denoised_picture(name: SamplerName):
    noise = RecordedNoise(FROZEN["noise"])
    sampler = SAMPLERS[name].function
    *_, step = sampler(Unguided(mixture_denoise), FROZEN["x"], FROZEN["sigmas"], noise)
    np.testing.assert_allclose(step.x, step.denoised, rtol=0, atol=1e-6)


def test_nothing_is_computed_before_it_is_asked_for():
    """Whoever iterates may stop: cancelling costs no evaluation."""
    calls = 0

    def denoise(x: Latent, sigma: np.float32) -> Latent:
        nonlocal calls
        calls += 1
        return mixture_denoise(x, sigma)

    steps = heun(denoise, FROZEN["x"], FROZEN["sigmas"], no_noise)
    assert calls == 0
    next(steps)
    assert calls == 2


def test_options_reach_the_sampler():
    """Bound, they do what they do when given by hand; unset ones stay the sampler's own."""
    options = SamplerOptions(eta=0.5, noise_scale=1.01)
    bound = bind_options(SamplerName.EULER_ANCESTRAL, options)
    noise = RecordedNoise(FROZEN["noise"])
    steps = bound(Unguided(mixture_denoise), FROZEN["x"], FROZEN["sigmas"], noise)
    for step, expected in zip(steps, FROZEN["euler_a/half"], strict=True):
        np.testing.assert_allclose(step.x, expected, rtol=0, atol=2e-5)
    assert bind_options(SamplerName.EULER, SamplerOptions()) is euler


@pytest.mark.parametrize("name", SamplerName)
@pytest.mark.parametrize("option", ["eta", "noise_scale", "churn", "churn_from", "churn_to"])
def test_options_are_those_of_the_registry(name: SamplerName, option: str):
    options = SamplerOptions(**{option: 0.5})
    if option in SAMPLERS[name].options:
        noise = RecordedNoise(FROZEN["noise"])
        sampler = bind_options(name, options)
        assert list(sampler(Unguided(mixture_denoise), FROZEN["x"], FROZEN["sigmas"], noise))
    else:
        with pytest.raises(EngineError, match=f"has no option {option}") as caught:
            bind_options(name, options)
        assert caught.value.code is ErrorCode.REQUEST_INVALID


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, 1e30])
def test_impossible_options_are_refused(value: float):
    with pytest.raises(EngineError, match="eta must be between 0 and 10000") as caught:
        bind_options(SamplerName.EULER_ANCESTRAL, SamplerOptions(eta=value))
    assert caught.value.code is ErrorCode.REQUEST_INVALID
