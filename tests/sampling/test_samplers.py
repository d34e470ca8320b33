"""Samplers against frozen trajectories of k-diffusion and A1111, and what all of them promise."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.api.methods import SAMPLER_FACTS
from engine.api.request import SamplerOptions
from engine.api.values import ConventionName, ErrorCode, SamplerName
from engine.errors import EngineError
from engine.sampling.samplers import (
    SAMPLERS,
    bind_options,
    ddim,
    dpm_adaptive,
    dpm_fast,
    euler,
    euler_ancestral,
    heun,
    lcm,
    lms,
    restart,
)
from engine.sampling.samplers.dpm_solver import renewal
from engine.sampling.samplers.times import level_at, time_of
from engine.sampling.types import Latent, Sampler, Step
from tests.sampling.references import REFERENCES
from tests.sampling.toy import (
    DRAWS,
    KEPT,
    SHAPE,
    RecordedNoise,
    Unguided,
    draws,
    mixture_denoise,
    no_noise,
)

FOLDER = Path(__file__).parent / "frozen"
FROZEN = np.load(FOLDER / "k_diffusion.npz")
RESTARTS = np.load(FOLDER / "restart.npz")
# How often a step draws noise when no option is set, where it is not once; Restart draws when it
# goes back up, for which eight steps are too few.
DRAWS_PER_STEP = {SamplerName.DPMPP_SDE: 2, SamplerName.RESTART: 0}
# Those that do not end with the picture of the last step: see their docstrings.
END_ELSEWHERE = {SamplerName.LMS, SamplerName.DPM_FAST, SamplerName.DPM_ADAPTIVE}


class AskedNoise:
    """Plays back noise, and remembers the intervals it was asked for."""

    def __init__(self, dtype: type[np.floating[Any]] = np.float32) -> None:
        self._play = RecordedNoise(draws(DRAWS).astype(dtype))
        self.intervals: list[tuple[float, float]] = []

    def __call__(self, sigma: np.float32, sigma_next: np.float32) -> Latent:
        """The next draw."""
        self.intervals.append((float(sigma), float(sigma_next)))
        return self._play(sigma, sigma_next)


def run(sampler: Sampler, noise: AskedNoise, dtype: type[np.floating[Any]]) -> list[Step]:
    """All steps on the frozen inputs."""
    x, sigmas = FROZEN["x"].astype(dtype), FROZEN["sigmas"].astype(dtype)
    return list(sampler(mixture_denoise, x, sigmas, noise))


@pytest.mark.parametrize("name", REFERENCES)
def test_trajectories_equal_those_of_k_diffusion(name: str):
    """In float64, where nothing but the frozen values is rounded, and in float32 as it is used."""
    reference, expected = REFERENCES[name], FROZEN[name]
    for dtype, tolerance in ((np.float64, 4e-6), (np.float32, reference.tolerance)):
        steps = run(reference.ours, AskedNoise(dtype), dtype)
        ours = np.stack([step.x for step in steps])
        assert ours.dtype == dtype
        # Where k-diffusion churns before it shows x, only the end is known.
        np.testing.assert_allclose(ours[-len(expected) :][KEPT], expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", REFERENCES)
def test_noise_is_asked_for_as_in_k_diffusion(name: str):
    """A Brownian path answers by interval: the same ones, in the same order."""
    noise, expected = AskedNoise(), FROZEN[f"{name}/intervals"]
    run(REFERENCES[name].ours, noise, np.float32)
    drawn = np.array(noise.intervals).reshape(-1, 2)
    if "s_churn" in REFERENCES[name].options:
        # k-diffusion asks torch itself, at each step.
        assert len(drawn) == len(FROZEN["sigmas"]) - 1
    elif len(drawn):
        np.testing.assert_allclose(drawn, expected, rtol=2e-4 if "adaptive" in name else 1e-6)
    else:
        # DPM fast and adaptive multiply what they draw by 0 then.
        assert "sde" not in name
        assert not name.endswith(("_a", "half", "a1111"))


@pytest.mark.parametrize("case", [key[:-5] for key in RESTARTS.files if key.endswith("/last")])
def test_restart_equals_a1111s(case: str):
    """At numbers of steps with no, one and two repetitions, and from the middle of schedules."""
    sigmas = RESTARTS[f"{case}/sigmas"]
    x = np.ones(SHAPE, np.float32) * sigmas[0]
    noise = RecordedNoise(draws(DRAWS))
    steps = list(restart(mixture_denoise, x, sigmas, noise, noise_scale=1.01))
    denoised = np.stack([step.denoised for step in steps])
    levels = [step.sigma for step in steps]
    np.testing.assert_allclose(levels, RESTARTS[f"{case}/levels"], rtol=2e-6)
    np.testing.assert_allclose(denoised[KEPT], RESTARTS[f"{case}/denoised"], rtol=0, atol=1e-5)
    np.testing.assert_allclose(steps[-1].x[KEPT], RESTARTS[f"{case}/last"], rtol=0, atol=1e-5)
    assert steps[-1].done == 1
    # What is saved is spent, but where there is nothing to repeat.
    assert len(steps) == (15 if case == "low" else len(sigmas) - 1)


def test_lcm_jumps_and_adds_noise():
    sigmas, noise = FROZEN["sigmas"], draws(8)
    sampler = lcm(mixture_denoise, FROZEN["x"], sigmas, RecordedNoise(noise), noise_scale=0.5)
    x = FROZEN["x"]
    for step in sampler:
        denoised = mixture_denoise(x, sigmas[step.index])
        x = denoised + sigmas[step.index + 1] * noise[step.index] * 0.5
        np.testing.assert_array_equal(step.denoised, denoised)
        np.testing.assert_array_equal(step.x, x)


def test_lcm_keeps_a_constant_picture():
    """A consistency model answers with the same picture at any level: the result is that one."""
    picture = np.full(SHAPE, 0.25, np.float32)
    noise = RecordedNoise(draws(8))
    *_, step = lcm(lambda x, sigma: picture, FROZEN["x"], FROZEN["sigmas"], noise)
    np.testing.assert_array_equal(step.x, picture)


def test_ddim_equals_euler():
    for ours, expected in zip(
        ddim(mixture_denoise, FROZEN["x"], FROZEN["sigmas"], no_noise),
        euler(mixture_denoise, FROZEN["x"], FROZEN["sigmas"], no_noise),
        strict=True,
    ):
        np.testing.assert_array_equal(ours.x, expected.x)


def test_noise_is_drawn_at_each_ancestral_step():
    """k-diffusion draws noise even where none is added: later steps' draws depend on it."""
    noise = AskedNoise()
    sigmas = np.array([2, 2, 1, 0], np.float32)
    assert list(euler_ancestral(mixture_denoise, FROZEN["x"], sigmas, noise))
    assert noise.intervals == [(2, 2), (2, 1)]


def test_times_are_rounded_once():
    for value in np.exp(np.random.RandomState(3).uniform(-4, 4, 300)).astype(np.float32):
        assert time_of(value) == np.float32(-math.log(value))
        assert level_at(value) == np.float32(math.exp(-value))
        assert time_of(value).dtype == level_at(value).dtype == np.float32


def test_renewal_never_passes_the_end():
    """And adds nothing there; rounding makes no variance negative, which would be a NaN."""
    random = np.random.RandomState(4)
    for end in random.uniform(0, 4, 300).astype(np.float32):
        time_next = np.minimum(end, np.float32(random.uniform(0, 4)))
        target, up = renewal(np.float32(-1), time_next, end, float(random.choice([1e-6, 0.5, 1])))
        assert time_next - 1e-6 <= target <= end + 1e-6
        assert up**2 + level_at(target) ** 2 == pytest.approx(level_at(time_next) ** 2, rel=1e-5)


def test_brownian_samplers_are_those_of_a1111():
    """sd_samplers_kdiffusion.py, `brownian_noise`."""
    assert {name.label for name, info in SAMPLERS.items() if info.brownian} == {
        "DPM++ SDE",
        "DPM++ 2M SDE",
        "DPM++ 2M SDE Heun",
        "DPM++ 3M SDE",
    }


def test_every_name_has_a_sampler_and_its_facts():
    assert set(SAMPLERS) == set(SamplerName), "each has its line in engine/sampling/samplers"
    assert set(SAMPLER_FACTS) == set(SamplerName), "each has its line in engine/api/methods.py"


@pytest.mark.parametrize("name", SamplerName)
def test_noise_that_depends_on_the_tool_is_a1111s(name: SamplerName):
    depends = SAMPLER_FACTS[name].adds_noise is None
    assert depends == (ConventionName.A1111 in SAMPLERS[name].variants)


@pytest.mark.parametrize("name", SamplerName)
@pytest.mark.parametrize("count", [1, 2, 8])
def test_every_sampler_keeps_the_contract(name: SamplerName, count: int):
    """Steps in order, x untouched, noise and evaluations as the registry says, float32."""
    info, facts = SAMPLERS[name], SAMPLER_FACTS[name]
    sigmas = FROZEN["sigmas"][-count - 1 :]
    x = FROZEN["x"]
    before = x.copy()
    calls: list[float] = []
    noise = AskedNoise()

    def denoise(x: Latent, sigma: np.float32) -> Latent:
        calls.append(float(sigma))
        return mixture_denoise(x, sigma)

    steps = list(info.function(Unguided(denoise), x, sigmas, noise))
    assert [step.index for step in steps] == list(range(len(steps)))
    np.testing.assert_array_equal(x, before)
    assert {step.x.dtype for step in steps} == {np.dtype(np.float32)}
    assert {step.x.shape for step in steps} == {SHAPE}
    # Nothing is added at the end.
    per_step = DRAWS_PER_STEP.get(name, 1) if facts.adds_noise else 0
    assert len(noise.intervals) == per_step * (count - 1)
    if info.ends_only:
        shares = [step.done or 0.0 for step in steps]
        assert shares == sorted(shares)
        assert shares[-1] == 1
        assert calls[0] == pytest.approx(sigmas[0], rel=1e-6)
    else:
        np.testing.assert_array_equal([step.sigma for step in steps], sigmas[:-1])
        improved = 1 if name is SamplerName.PLMS and count > 1 else 0  # its first step
        assert len(calls) == facts.evaluations * (count - 1) + 1 + improved


@pytest.mark.parametrize("name", SamplerName)
@pytest.mark.parametrize("level", [0, 3])
def test_a_single_level_takes_no_step(name: SamplerName, level: float):
    """ComfyUI has it so where nothing is to be redrawn."""
    sampler, sigmas = SAMPLERS[name].function, np.array([level], np.float32)
    assert not list(sampler(Unguided(mixture_denoise), FROZEN["x"], sigmas, no_noise))


def test_progress_counts_steps_or_shares_of_the_way():
    x = FROZEN["x"]
    assert [Step(index, x[0], x, x).progress(20) for index in (0, 19)] == [1, 20]
    assert [Step(60, x[0], x, x, done).progress(20) for done in (0.0, 0.52, 1.0)] == [0, 10, 20]


@pytest.mark.parametrize("count", range(1, 9))
def test_dpm_fast_uses_exactly_its_evaluations(count: int):
    calls: list[float] = []

    def denoise(x: Latent, sigma: np.float32) -> Latent:
        calls.append(float(sigma))
        return mixture_denoise(x, sigma)

    sigmas = FROZEN["sigmas"][-count - 1 :]
    steps = list(dpm_fast(denoise, FROZEN["x"], sigmas, no_noise))
    assert len(calls) == count
    assert len(steps) == (count // 3 + 1 if count > 1 else 1)


@pytest.mark.parametrize("sampler", [dpm_fast, dpm_adaptive])
def test_a_single_level_gives_its_denoised_picture(sampler: Sampler):
    (step,) = sampler(mixture_denoise, FROZEN["x"], FROZEN["sigmas"][-2:], no_noise)
    np.testing.assert_array_equal(step.x, mixture_denoise(FROZEN["x"], FROZEN["sigmas"][-2]))


@pytest.mark.parametrize("name", sorted(set(SamplerName) - END_ELSEWHERE))
def test_the_result_is_the_last_denoised_picture(name: SamplerName):
    noise = RecordedNoise(draws(DRAWS))
    sampler = SAMPLERS[name].function
    *_, step = sampler(Unguided(mixture_denoise), FROZEN["x"], FROZEN["sigmas"], noise)
    np.testing.assert_allclose(step.x, step.denoised, rtol=0, atol=1e-6)


def test_a_step_is_computed_only_when_it_is_asked_for():
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


@pytest.mark.parametrize(
    ("name", "bound", "reference"),
    [
        (SamplerName.EULER_ANCESTRAL, SamplerOptions(eta=0.5, noise_scale=1.01), "euler_a/half"),
        (
            SamplerName.HEUN,
            SamplerOptions(churn=4.0, churn_from=0.1, churn_to=8.0, noise_scale=1.01),
            "heun/churn",
        ),
        (SamplerName.DPMPP_2M_SDE_HEUN, SamplerOptions(), "dpmpp_2m_sde_heun"),
    ],
)
def test_options_reach_the_sampler(name: SamplerName, bound: SamplerOptions, reference: str):
    """Bound, they do what they do when given by hand; unset ones stay the sampler's own."""
    sampler = bind_options(name, bound)
    noise = RecordedNoise(draws(DRAWS))
    steps = list(sampler(Unguided(mixture_denoise), FROZEN["x"], FROZEN["sigmas"], noise))
    ours = np.stack([step.x for step in steps])[-len(FROZEN[reference]) :]
    np.testing.assert_allclose(ours[KEPT], FROZEN[reference], rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", [SamplerName.DPM_FAST, SamplerName.DPM_ADAPTIVE])
def test_a1111_renews_all_noise_of_some_samplers_unless_an_option_is_set(name: SamplerName):
    x, sigmas = FROZEN["x"], FROZEN["sigmas"]
    plain = SAMPLERS[name].function
    for options, expected in (
        (SamplerOptions(), partial(plain, eta=1.0)),
        (SamplerOptions(eta=0.5), partial(plain, eta=0.5)),
    ):
        ours = bind_options(name, options, ConventionName.A1111)
        (*_, result), (*_, same) = (
            sampler(Unguided(mixture_denoise), x, sigmas, RecordedNoise(draws(DRAWS)))
            for sampler in (ours, expected)
        )
        np.testing.assert_array_equal(result.x, same.x)
    assert bind_options(name, SamplerOptions(), ConventionName.COMFY) is plain


def test_lms_ends_with_the_picture_in_comfyui():
    sampler = bind_options(SamplerName.LMS, SamplerOptions(), ConventionName.COMFY)
    steps = list(sampler(Unguided(mixture_denoise), FROZEN["x"], FROZEN["sigmas"], no_noise))
    expected = list(lms(mixture_denoise, FROZEN["x"], FROZEN["sigmas"], no_noise))
    np.testing.assert_array_equal(steps[-2].x, expected[-2].x)
    np.testing.assert_array_equal(steps[-1].x, expected[-1].denoised)


@pytest.mark.parametrize("name", SamplerName)
@pytest.mark.parametrize("option", ["eta", "noise_scale", "churn", "churn_from", "churn_to"])
def test_a_sampler_takes_exactly_the_options_of_the_registry(name: SamplerName, option: str):
    options = SamplerOptions(**{option: 0.5})
    if option in SAMPLER_FACTS[name].options:
        noise = RecordedNoise(draws(DRAWS))
        sampler = bind_options(name, options)
        assert list(sampler(Unguided(mixture_denoise), FROZEN["x"], FROZEN["sigmas"], noise))
    else:
        with pytest.raises(EngineError, match=f"has no option {option}") as caught:
            bind_options(name, options)
        assert caught.value.code is ErrorCode.REQUEST_INVALID


@pytest.mark.parametrize(
    "name", [name for name, facts in SAMPLER_FACTS.items() if "eta" in facts.options]
)
def test_without_eta_no_noise_is_drawn(name: SamplerName):
    sampler = bind_options(name, SamplerOptions(eta=0))
    assert list(sampler(Unguided(mixture_denoise), FROZEN["x"], FROZEN["sigmas"], no_noise))


@pytest.mark.parametrize("name", SamplerName)
@pytest.mark.parametrize("value", [0, 10_000])
def test_the_most_extreme_options_give_numbers(name: SamplerName, value: float):
    """No overflow, no logarithm of 0: NumPy's warnings are errors here."""
    options = SamplerOptions(**dict.fromkeys(SAMPLER_FACTS[name].options, value))
    noise = RecordedNoise(draws(1000))
    sampler = bind_options(name, options)
    for step in sampler(Unguided(mixture_denoise), FROZEN["x"], FROZEN["sigmas"], noise):
        assert np.isfinite(step.x).all()
        if step.index == 200:
            break


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, 1e30])
def test_impossible_options_are_refused(value: float):
    with pytest.raises(EngineError, match="eta must be between 0 and 10000") as caught:
        bind_options(SamplerName.EULER_ANCESTRAL, SamplerOptions(eta=value))
    assert caught.value.code is ErrorCode.REQUEST_INVALID
