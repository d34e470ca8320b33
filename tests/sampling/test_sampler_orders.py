"""Samplers on problems with known answers.

A wrong coefficient shows in the order: the rate at which the error falls as steps get smaller.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.sampling.samplers import (
    SdeCorrection,
    ddim,
    dpm2,
    dpm2_ancestral,
    dpm_adaptive,
    dpm_fast,
    dpmpp_2m,
    dpmpp_2m_sde,
    dpmpp_2s_ancestral,
    dpmpp_3m_sde,
    dpmpp_sde,
    euler,
    euler_ancestral,
    heun,
    lms,
    restart,
)
from engine.sampling.samplers.dpm_adaptive import StepControl
from engine.sampling.types import Denoise, Latent, NoiseSource, Sampler, Sigmas
from tests.sampling.toy import BasisNoise, Gaussian, no_noise

HEUN_SDE = partial(dpmpp_2m_sde, correction=SdeCorrection.HEUN)


def last(
    sampler: Sampler, denoise: Denoise, x: Latent, sigmas: Sigmas, noise: NoiseSource
) -> Latent:
    """The result of a whole run."""
    return list(sampler(denoise, x, sigmas, noise))[-1].x


def levels(steps: int, highest: float = 10.0) -> NDArray[Any]:
    """Karras's spacing down to 0.05, but long and short steps in turn: their ratio must count.

    In float64, in which samplers then compute: float32 would hide the error behind its rounding.
    """
    index = np.arange(steps + 1)
    ramp = (index + 0.3 * (index % 2)) / steps
    return (math.cbrt(highest) + ramp * (math.cbrt(0.05) - math.cbrt(highest))) ** 3


def order(error: Callable[[int], float], steps: int) -> float:
    """The observed order of convergence: log2 of the gain from twice as many steps."""
    return float(np.log2(error(steps) / error(2 * steps)))


def solution_error(sampler: Sampler, sigmas: NDArray[Any]) -> float:
    """The distance from the solution at which a sampler without noise ends."""
    problem = Gaussian(mean=0.3, deviation=0.7)
    x = np.array([-0.8, 0.1, 1.2]) * sigmas[0]
    result = last(sampler, problem.denoise, x, sigmas, no_noise)
    return float(np.abs(result - problem.solution(x, sigmas[0], sigmas[-1])).max())


def variance_error(
    sampler: Sampler, sigmas: NDArray[Any], source: Callable[[int], NoiseSource] = BasisNoise
) -> float:
    """The distance of the variance of a sampler's results from that of the data."""
    problem = Gaussian(mean=0.0, deviation=0.7)
    size = 2 * len(sigmas)
    x = np.zeros(size)
    x[0] = np.sqrt(problem.variance(sigmas[0]))
    result = last(sampler, problem.denoise, x, sigmas, source(size))
    return float(abs((result**2).sum() - problem.variance(sigmas[-1])))


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        (euler, 1),
        (ddim, 1),
        (partial(euler_ancestral, eta=0), 1),
        (heun, 2),
        (dpm2, 2),
        (partial(dpm2_ancestral, eta=0), 2),
        (partial(dpmpp_2s_ancestral, eta=0), 2),
        (dpmpp_2m, 2),
        (partial(dpmpp_sde, eta=0), 2),
        (partial(dpmpp_sde, eta=0, r=1 / 3), 2),
        (partial(dpmpp_2m_sde, eta=0), 2),
        (partial(HEUN_SDE, eta=0), 2),
        (partial(dpmpp_3m_sde, eta=0), 2),
    ],
)
def test_a_sampler_converges_to_the_solution_with_its_order(sampler: Sampler, expected: int):
    observed = order(lambda steps: solution_error(sampler, levels(steps)), 320)
    assert observed == pytest.approx(expected, abs=0.12)
    assert solution_error(sampler, levels(320)) < 0.1**expected


def test_lms_is_of_fourth_order_where_its_first_steps_do_not_count():
    """From a high level they do not: the picture hardly changes there."""
    observed = order(lambda steps: solution_error(lms, levels(steps, 100.0)), 160)
    assert observed == pytest.approx(4, abs=0.15)


def test_dpm_fast_is_of_third_order():
    """With 3 n - 1 evaluations, of which the last two are a step of second order."""
    observed = order(lambda steps: solution_error(dpm_fast, levels(3 * steps - 1)), 40)
    assert observed == pytest.approx(3, abs=0.3)


@pytest.mark.parametrize("order", [2, 3])
def test_dpm_adaptives_error_falls_with_its_tolerance(order: int):
    """A hundred times more exact: the error falls with it, and the tries stay few."""
    errors: list[float] = []
    tries: list[int] = []
    for relative in (0.05, 0.0005):
        control = StepControl(order=order, relative=relative, absolute=relative / 6)
        sampler = partial(dpm_adaptive, control=control)
        errors.append(solution_error(sampler, levels(8)))
        problem = Gaussian(mean=0.3, deviation=0.7)
        x = np.array([-8.0, 1.0, 12.0])
        tries.append(len(list(sampler(problem.denoise, x, levels(8), no_noise))))
    assert errors[0] < 0.1
    assert errors[1] < errors[0] / 20
    assert tries[0] < tries[1] < 150


def test_dpm_adaptive_yields_refused_tries_and_its_progress():
    problem = Gaussian(mean=0.3, deviation=0.7)
    x = np.array([-8.0, 1.0, 12.0])
    sampler = partial(dpm_adaptive, control=StepControl(relative=0.001, absolute=1e-4, first=5.0))
    steps = list(sampler(problem.denoise, x, levels(8), no_noise))
    assert [step.index for step in steps] == list(range(len(steps)))
    assert steps[0].done == 0
    np.testing.assert_array_equal(steps[0].x, x)
    shares = [step.done or 0.0 for step in steps]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_dpm_adaptive_advances_where_no_step_is_short_enough():
    """A picture that jumps at each look does not hold it up for ever."""
    signs = cycle((1.0, -1.0, -1.0, 1.0, -1.0))

    def denoise(x: Latent, sigma: np.float32) -> Latent:
        return np.full_like(x, next(signs))

    sampler = partial(dpm_adaptive, control=StepControl(relative=0.0, absolute=1e-30))
    late = list(islice(sampler(denoise, np.array([3.0]), levels(8), no_noise), 100))[-1]
    assert late.done is not None
    assert 0 < late.done < 0.01


def test_dpm_adaptive_ends_at_numbers_that_are_not_finite():
    def denoise(x: Latent, sigma: np.float32) -> Latent:
        return x * np.nan

    (step,) = dpm_adaptive(denoise, np.array([3.0]), levels(8), no_noise)
    assert np.isnan(step.x).all()


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        (euler_ancestral, 1),
        (partial(euler_ancestral, eta=0.5), 1),
        (partial(ddim, eta=1.0), 1),
        (partial(euler, churn=20.0), 1),
        (partial(heun, churn=20.0), 2),
        (partial(dpm2, churn=20.0), 2),
        (dpm2_ancestral, 2),
        (partial(dpm2_ancestral, eta=0.5), 2),
        (dpmpp_2s_ancestral, 2),
        (partial(dpmpp_2s_ancestral, eta=0.5), 2),
        (dpmpp_2m_sde, 2),
        (partial(dpmpp_2m_sde, eta=0.5), 2),
        (HEUN_SDE, 2),
        (dpmpp_3m_sde, 2),
        (partial(dpmpp_3m_sde, eta=0.5), 2),
    ],
)
def test_the_variance_converges_to_that_of_the_data(sampler: Sampler, expected: int):
    """Noise that is too strong, too weak or correlated with x ends in another variance."""
    observed = order(lambda steps: variance_error(sampler, levels(steps)), 160)
    assert observed == pytest.approx(expected, abs=0.2)
    assert variance_error(sampler, levels(320)) < 0.21**expected


class PathNoise:
    """Increments of a Brownian path over sigma, as `BasisNoise` shows its draws.

    For samplers that ask for a part of a step and then for the whole of it.
    """

    def __init__(self, size: int) -> None:
        self._draw = BasisNoise(size)
        self._begun: tuple[np.float32, np.float32, Latent] | None = None

    def __call__(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        """The increment, as standard normal values."""
        rest, way = sigma, np.float64(0)
        if self._begun and self._begun[0] == sigma:
            _, rest, way = self._begun
        way = way + self._draw(rest, sigma_next) * np.sqrt(rest - sigma_next)
        self._begun = (sigma, sigma_next, way)
        return way / np.sqrt(sigma - sigma_next)


@pytest.mark.parametrize("eta", [0.5, 1.0])
@pytest.mark.parametrize(("source", "expected"), [(PathNoise, 2), (BasisNoise, 1)])
def test_dpmpp_sde_is_of_second_order_on_a_brownian_path(
    eta: float, source: Callable[[int], NoiseSource], expected: int
):
    """The sampler's two draws per step overlap: independent draws leave an error of first order."""
    sampler = partial(dpmpp_sde, eta=eta)

    def error(steps: int) -> float:
        return variance_error(sampler, levels(steps), source)

    assert order(error, 320) == pytest.approx(expected, abs=0.15)


@pytest.mark.parametrize("eta", [0.5, 1.0])
def test_dpm_fast_and_adaptive_renew_noise_without_changing_the_variance(eta: float):
    assert variance_error(partial(dpm_fast, eta=eta), levels(80)) < 1e-4
    control = StepControl(relative=0.001, absolute=1e-4)
    adaptive = partial(dpm_adaptive, eta=eta, control=control)
    assert variance_error(adaptive, levels(200)) < 1e-2


def test_restart_keeps_the_variance():
    """The noise that leads back up is as strong as the noise that was taken away."""
    sigmas = np.append(np.exp(np.linspace(math.log(10), math.log(0.002), 160)), 0)
    assert variance_error(restart, sigmas) < 1e-3
