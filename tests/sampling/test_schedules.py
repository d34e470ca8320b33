"""Schedules against frozen values and by their properties."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.api.conventions import RedrawSteps
from engine.api.methods import SCHEDULE_OPTIONS
from engine.api.redraw_steps import redrawn_steps
from engine.api.request import ScheduleOptions
from engine.api.values import ConventionName, ErrorCode, ScheduleName
from engine.errors import EngineError
from engine.sampling.beta_distribution import beta_quantile
from engine.sampling.schedules import (
    SCHEDULES,
    NoiseSchedule,
    ScheduleChoice,
    redraw_sigmas,
    sigmas_for,
)

FROZEN = np.load(Path(__file__).parent / "frozen" / "schedules.npz")
TRAINING = NoiseSchedule.scaled_linear()


def test_the_training_sigmas_equal_frozen_ones():
    assert TRAINING.sigmas.dtype == np.float32
    np.testing.assert_allclose(TRAINING.sigmas, FROZEN["training"], rtol=2e-7)
    assert TRAINING.sigma_min == pytest.approx(0.0291675, rel=2e-6)
    assert TRAINING.sigma_max == pytest.approx(14.614642, rel=1e-7)


@pytest.mark.parametrize("key", [key for key in FROZEN.files if "/" in key])
def test_schedules_equal_the_frozen_references(key: str):
    name, steps = key.split("/")
    sigmas = sigmas_for(ScheduleName(name), int(steps), TRAINING)
    np.testing.assert_allclose(sigmas, FROZEN[key], rtol=2e-6)


STEP_COUNTS = (1, 2, 3, 7, 20, 33, 150, 999, 1000)
# Those that do not begin at the highest level, or have not as many levels as steps.
IRREGULAR = {ScheduleName.DDIM, ScheduleName.ALIGN_YOUR_STEPS}


@pytest.mark.parametrize("name", [name for name in ScheduleName if name not in IRREGULAR])
@pytest.mark.parametrize("steps", STEP_COUNTS)
def test_schedules_fall_strictly_from_the_highest_level(name: ScheduleName, steps: int):
    sigmas = sigmas_for(name, steps, TRAINING)
    assert sigmas.dtype == np.float32
    assert sigmas.shape == (steps + 1,)
    assert sigmas[0] == pytest.approx(TRAINING.sigma_max, rel=2e-6)
    end = TRAINING.sigma_min if name is ScheduleName.KL_OPTIMAL else 0
    assert sigmas[-1] == pytest.approx(end, rel=1e-6)
    assert (np.diff(sigmas) < 0).all()


VISITING_THE_LOWEST = [
    ScheduleName.NORMAL,
    ScheduleName.UNIFORM,
    ScheduleName.KARRAS,
    ScheduleName.EXPONENTIAL,
    ScheduleName.POLYEXPONENTIAL,
    ScheduleName.BETA,
]


@pytest.mark.parametrize("name", VISITING_THE_LOWEST)
def test_some_schedules_visit_the_lowest_level(name: ScheduleName):
    assert sigmas_for(name, 20, TRAINING)[-2] == pytest.approx(TRAINING.sigma_min, rel=1e-5)


def test_every_name_has_a_schedule():
    assert set(SCHEDULES) == set(ScheduleName)


@pytest.mark.parametrize("steps", [-1, 0, 1001])
def test_impossible_step_counts_are_refused(steps: int):
    with pytest.raises(EngineError, match="between 1 and 1000") as caught:
        sigmas_for(ScheduleName.NORMAL, steps, TRAINING)
    assert caught.value.code is ErrorCode.REQUEST_INVALID


@given(st.floats(0, 999, width=32))
def test_timesteps_convert_to_sigmas_and_back(timestep: float):
    sigma = TRAINING.timestep_to_sigma(np.array([timestep], np.float32))[0]
    assert TRAINING.sigma_to_timestep(sigma) == pytest.approx(timestep, abs=2e-4)


def test_timesteps_are_exact_at_training_levels_and_clipped_at_the_ends():
    for timestep in (0, 1, 500, 998, 999):
        assert TRAINING.sigma_to_timestep(TRAINING.sigmas[timestep]) == timestep
    assert TRAINING.sigma_to_timestep(np.float32(1e-3)) == 0
    assert TRAINING.sigma_to_timestep(np.float32(100)) == 999


@pytest.mark.parametrize(
    ("strength", "taken"), [(0.0, 1), (0.04, 1), (0.05, 2), (0.5, 11), (0.75, 16), (1.0, 20)]
)
def test_strength_takes_the_end_of_the_schedule_as_in_a1111(strength: float, taken: int):
    choice = ScheduleChoice(ScheduleName.KARRAS, TRAINING)
    levels = redraw_sigmas(choice, 20, strength, RedrawSteps.A1111)
    np.testing.assert_array_equal(levels.whole, choice.sigmas(20))
    np.testing.assert_array_equal(levels.taken, levels.whole[-taken - 1 :])


@pytest.mark.parametrize(("strength", "whole"), [(0.02, 500), (0.5, 20), (0.7, 14), (1.0, 10)])
def test_exact_steps_are_the_end_of_a_longer_schedule_as_in_a1111s_second_passes(
    strength: float, whole: int
):
    choice = ScheduleChoice(ScheduleName.KARRAS, TRAINING)
    levels = redraw_sigmas(choice, 10, strength, RedrawSteps.A1111_EXACT)
    np.testing.assert_array_equal(levels.whole, choice.sigmas(whole))
    np.testing.assert_array_equal(levels.taken, levels.whole[-11:])


def test_exact_steps_of_no_strength_are_none():
    choice = ScheduleChoice(ScheduleName.KARRAS, TRAINING)
    assert len(redraw_sigmas(choice, 10, 0.0, RedrawSteps.A1111_EXACT).taken) == 1


@pytest.mark.parametrize("rule", [rule for rule in RedrawSteps if rule != "a1111_exact"])
@pytest.mark.parametrize("steps", [1, 2, 999])
def test_full_strength_takes_the_whole_schedule(rule: RedrawSteps, steps: int):
    choice = ScheduleChoice(ScheduleName.NORMAL, TRAINING)
    levels = redraw_sigmas(choice, steps, 1.0, rule)
    np.testing.assert_array_equal(levels.taken, choice.sigmas(steps))


@pytest.mark.parametrize("strength", [0.02, 0.3, 0.5, 0.77, 1.0])
@pytest.mark.parametrize("rule", RedrawSteps)
def test_the_steps_of_a_redraw_are_counted_without_a_schedule(rule: RedrawSteps, strength: float):
    choice = ScheduleChoice(ScheduleName.KARRAS, TRAINING)
    levels = redraw_sigmas(choice, 20, strength, rule)
    assert len(levels.taken) - 1 == redrawn_steps(20, strength, rule)


@pytest.mark.parametrize("strength", [-0.1, 1.5, float("nan")])
@pytest.mark.parametrize("rule", RedrawSteps)
def test_impossible_strengths_are_refused(rule: RedrawSteps, strength: float):
    choice = ScheduleChoice(ScheduleName.NORMAL, TRAINING)
    with pytest.raises(EngineError, match="strength must be between 0 and 1") as caught:
        redraw_sigmas(choice, 4, strength, rule)
    assert caught.value.code is ErrorCode.REQUEST_INVALID


def test_beta_quantiles_equal_those_of_known_distributions():
    """Beta(1, 1) is uniform, Beta(1/2, 1/2) the arcsine, Beta(1, b) and Beta(a, 1) are powers."""
    p = np.linspace(0, 1, 101)
    for a, b, expected in (
        (1.0, 1.0, p),
        (0.5, 0.5, np.sin(np.pi * p / 2) ** 2),
        (1.0, 0.3, 1 - (1 - p) ** (1 / 0.3)),
        (1.7, 1.0, p ** (1 / 1.7)),
    ):
        np.testing.assert_allclose(beta_quantile(p, a, b), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ScheduleName)
@pytest.mark.parametrize("option", ["sigma_min", "sigma_max", "rho"])
def test_an_option_acts_or_is_refused(name: ScheduleName, option: str):
    values = {"sigma_min": 0.05, "sigma_max": 10.0, "rho": 2.0}
    options = ScheduleOptions(**{option: values[option]})
    if option in SCHEDULE_OPTIONS.get(name, ()):
        changed, own = sigmas_for(name, 20, TRAINING, options), sigmas_for(name, 20, TRAINING)
        assert not np.allclose(changed, own, rtol=1e-3)
    else:
        with pytest.raises(EngineError, match=f"{name.label} has no option {option}") as caught:
            sigmas_for(name, 20, TRAINING, options)
        assert caught.value.code is ErrorCode.REQUEST_INVALID


@pytest.mark.parametrize(
    "options",
    [
        ScheduleOptions(sigma_min=0),
        ScheduleOptions(sigma_min=-1),
        ScheduleOptions(sigma_max=1e5),
        ScheduleOptions(sigma_max=float("nan")),
        ScheduleOptions(rho=0),
        ScheduleOptions(rho=float("inf")),
    ],
)
def test_options_out_of_range_are_refused(options: ScheduleOptions):
    with pytest.raises(EngineError, match="must be between") as caught:
        sigmas_for(ScheduleName.KARRAS, 20, TRAINING, options)
    assert caught.value.code is ErrorCode.REQUEST_INVALID


@pytest.mark.parametrize(
    "options",
    [
        ScheduleOptions(sigma_min=20),
        ScheduleOptions(sigma_min=5, sigma_max=5),
        ScheduleOptions(sigma_min=14.6146),
    ],
)
def test_levels_that_do_not_fall_are_refused(options: ScheduleOptions):
    with pytest.raises(EngineError, match="Exponential do not fall") as caught:
        sigmas_for(ScheduleName.EXPONENTIAL, 200, TRAINING, options)
    assert caught.value.code is ErrorCode.REQUEST_INVALID


ends = st.none() | st.floats(1e-4, 1e4)


@given(
    st.sampled_from(ScheduleName),
    st.sampled_from(ConventionName),
    st.integers(1, 1000),
    ends,
    ends,
    st.none() | st.floats(0.1, 100),
)
@example(ScheduleName.KARRAS, ConventionName.A1111, 20, None, 1e4, 0.1)  # beyond float32
@example(ScheduleName.POLYEXPONENTIAL, ConventionName.A1111, 1000, None, None, 100.0)
def test_any_options_give_falling_levels_or_are_refused(
    name: ScheduleName,
    convention: ConventionName,
    steps: int,
    low: float | None,
    high: float | None,
    rho: float | None,
):
    asked = {"sigma_min": low, "sigma_max": high, "rho": rho}
    options = ScheduleOptions(**{key: asked[key] for key in SCHEDULE_OPTIONS.get(name, ())})
    try:
        sigmas = sigmas_for(name, steps, TRAINING, options, convention)
    except EngineError:
        return
    assert sigmas.dtype == np.float32
    assert (np.diff(sigmas) < 0).all()
    assert sigmas[-1] >= 0


def test_a_tiny_strength_is_refused_in_comfyui():
    choice = ScheduleChoice(ScheduleName.NORMAL, TRAINING)
    with pytest.raises(EngineError, match="too low for 20 steps"):
        redraw_sigmas(choice, 20, 1e-5, RedrawSteps.COMFY)
    assert len(redraw_sigmas(choice, 20, 0.01, RedrawSteps.COMFY).taken) == 21
    with pytest.raises(EngineError, match="do not fall"):  # of 2000 steps many are the same level
        redraw_sigmas(ScheduleChoice(ScheduleName.SIMPLE, TRAINING), 20, 0.01, RedrawSteps.COMFY)
