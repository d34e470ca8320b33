"""First and last levels of diffusers' and InvokeAI's runs; all levels: tests/oracle/."""

import numpy as np
import pytest

from engine.api.values import ConventionName, SamplerName, ScheduleName
from engine.sampling.schedules import NoiseSchedule, ScheduleChoice
from engine.sampling.schedules.scheduler_levels import scheduler_levels

TRAINING = NoiseSchedule.scaled_linear(convention=ConventionName.DIFFUSERS)
NOISE = np.random.default_rng(0).standard_normal((1, 4, 2, 3)).astype(np.float32)
PICTURE = np.full_like(NOISE, 0.5)


def choice(schedule: ScheduleName, convention: ConventionName) -> ScheduleChoice:
    return ScheduleChoice(schedule, TRAINING, convention=convention)


LEADING = choice(ScheduleName.DDIM, ConventionName.DIFFUSERS)
KARRAS = choice(ScheduleName.KARRAS, ConventionName.DIFFUSERS)


def test_schedulers_of_unit_variance_begin_and_end_with_it():
    levels = scheduler_levels(SamplerName.DDIM, LEADING, 20)
    assert levels.sigmas[0] == TRAINING.sigmas[951]
    assert levels.sigmas[-1] == TRAINING.sigma_min
    x = levels.start(NOISE, None)
    assert x.dtype == np.float32
    np.testing.assert_allclose(x / np.sqrt(1 + levels.sigmas[0] ** 2), NOISE, rtol=1e-6)
    finished = levels.finish(PICTURE)
    assert finished.dtype == np.float32
    np.testing.assert_allclose(finished, 0.5 * np.sqrt(TRAINING.alphas[0]), rtol=1e-6)


def test_other_schedulers_begin_at_sigma_and_end_with_the_picture():
    levels = scheduler_levels(SamplerName.EULER, KARRAS, 20)
    np.testing.assert_array_equal(levels.start(NOISE, None), NOISE * levels.sigmas[0])
    np.testing.assert_array_equal(levels.finish(PICTURE), PICTURE)


def test_leading_levels_begin_with_the_variance_of_a_noised_picture():
    levels = scheduler_levels(SamplerName.EULER, LEADING, 20)
    expected = NOISE * np.sqrt(1 + levels.sigmas[0] ** 2)
    np.testing.assert_allclose(levels.start(NOISE, None), expected, rtol=1e-6)


@pytest.mark.parametrize("sampler", [SamplerName.DDIM, SamplerName.EULER, SamplerName.UNIPC])
def test_invokeai_begins_with_noise_times_the_level(sampler: SamplerName):
    levels = scheduler_levels(sampler, choice(ScheduleName.DDIM, ConventionName.INVOKE), 20)
    np.testing.assert_array_equal(levels.start(NOISE, None), NOISE * levels.sigmas[0])


@pytest.mark.parametrize(("strength", "taken"), [(0.0, 0), (0.04, 0), (0.3, 6), (1.0, 20)])
def test_diffusers_redraws_in_the_last_steps(strength: float, taken: int):
    whole = scheduler_levels(SamplerName.UNIPC, KARRAS, 20).sigmas
    levels = scheduler_levels(SamplerName.UNIPC, KARRAS, 20, strength)
    np.testing.assert_array_equal(levels.sigmas, whole[20 - taken :])
    x = levels.start(NOISE, PICTURE)
    np.testing.assert_allclose(x, PICTURE + NOISE * levels.sigmas[0], rtol=1e-6)


@pytest.mark.parametrize("strength", [0.0, 0.301, 0.951, 1.0])
@pytest.mark.parametrize("schedule", [ScheduleName.DDIM, ScheduleName.KARRAS])
def test_invokeai_redraws_from_a_timestep_down(schedule: ScheduleName, strength: float):
    ours = choice(schedule, ConventionName.INVOKE)
    whole = scheduler_levels(SamplerName.UNIPC, ours, 20)
    levels = scheduler_levels(SamplerName.UNIPC, ours, 20, strength)
    told = [whole.training.sigma_to_timestep(sigma) for sigma in whole.sigmas[:-1]]
    kept = sum(round(float(timestep)) < round(1000 * strength) for timestep in told)
    assert 0 <= kept <= 20
    np.testing.assert_array_equal(levels.sigmas, whole.sigmas[20 - kept :])


@pytest.mark.parametrize("schedule", [ScheduleName.KARRAS, ScheduleName.EXPONENTIAL])
def test_multistep_schedulers_give_the_network_whole_timesteps(schedule: ScheduleName):
    ours = choice(schedule, ConventionName.DIFFUSERS)
    levels = scheduler_levels(SamplerName.UNIPC, ours, 20)
    exact = [float(TRAINING.sigma_to_timestep(sigma)) for sigma in levels.sigmas[:-1]]
    told = [float(levels.training.sigma_to_timestep(sigma)) for sigma in levels.sigmas[:-1]]
    assert all(timestep.is_integer() for timestep in told)
    away = 0.5 if schedule is ScheduleName.KARRAS else 1
    np.testing.assert_allclose(told, exact, rtol=0, atol=away + 1e-3)
    # Of DEIS the last level is visited twice, by a step without length.
    deis = scheduler_levels(SamplerName.DEIS, ours, 20).sigmas
    assert deis[-1] == deis[-2]
