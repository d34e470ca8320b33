"""Rectified flow: its levels, its path, and samplers on it beside an exact solution."""

import math

import msgspec
import numpy as np
import pytest

from engine.api.conventions import CONVENTIONS
from engine.api.methods import SAMPLER_FACTS
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName, ErrorCode, PredictionType, SamplerName, ScheduleName
from engine.errors import EngineError
from engine.sampling.denoiser import Denoiser
from engine.sampling.masking import Keeping, Kept, MaskedDenoise
from engine.sampling.noise_model import (
    FLOW_SAMPLERS,
    FLOW_SCHEDULES,
    FlowLevels,
    RectifiedFlow,
    SizeShift,
    VarianceExploding,
)
from engine.sampling.plan import plan_sampling
from engine.sampling.schedules import FlowSchedule
from engine.sampling.types import Latent
from tests.metadata.records import PLAIN_REQUEST
from tests.sampling.toy import normals

NOISE = normals([1], (4, 6, 6))
# Data from a normal distribution.
MEAN, DEVIATION = 0.7, 0.4
A1111 = ConventionName.A1111


def asked(**changes: object) -> ResolvedRequest:
    fields: dict[str, object] = {
        "convention": CONVENTIONS[A1111],
        "sampler": SamplerName.EULER,
        "schedule": ScheduleName.SIMPLE,
        "steps": 20,
    }
    return msgspec.structs.replace(PLAIN_REQUEST, **(fields | changes))


def velocity(x: Latent, timestep: np.float32, guided: bool) -> Latent:
    """The mean of noise - picture where x = (1 - t) * picture + t * noise, of normal data."""
    t = float(timestep) / 1000
    variance = ((1 - t) * DEVIATION) ** 2 + t**2
    centred = (x - (1 - t) * MEAN) / variance
    return (t * centred - (MEAN + (1 - t) * DEVIATION**2 * centred)).astype(np.float32)


def sampled(request: ResolvedRequest, shift: float = 1.5) -> Latent:
    plan = plan_sampling(request, RectifiedFlow(shift), redraws=False)
    denoise = Denoiser(velocity, plan.training, PredictionType.FLOW, guidance=1.0)
    start = plan.start(NOISE, None)
    *_, last = plan.sampler(denoise, start, plan.sigmas, lambda sigma, sigma_next: NOISE)
    return plan.finish(last.x)


def test_the_highest_level_is_noise_alone() -> None:
    plan = plan_sampling(asked(), RectifiedFlow(3.0), redraws=False)
    assert plan.sigmas[0] == 1
    assert plan.training.sigma_to_timestep(plan.sigmas[0]) == 1000
    np.testing.assert_array_equal(plan.start(NOISE, None), NOISE)


def test_a_shift_moves_levels_towards_noise_and_keeps_both_ends() -> None:
    plain, moved = (FlowSchedule.of(shift, A1111).sigmas for shift in (1.0, 3.0))
    np.testing.assert_allclose(plain, np.arange(1, 1001) / 1000, rtol=1e-6)
    assert moved[-1] == plain[-1] == 1
    assert (moved[:-1] > plain[:-1]).all()
    # Esser et al. (2024), equation 23: in the middle, shift / (1 + shift).
    np.testing.assert_allclose(moved[499], 0.75, rtol=1e-6)


def test_the_shift_grows_with_the_size_of_the_picture() -> None:
    """The shifts of 256 and 4096 tokens are those of diffusers' `calculate_shift`."""
    shift = SizeShift()
    np.testing.assert_allclose(shift(asked(width=256, height=256)), math.exp(0.5))
    np.testing.assert_allclose(shift(asked(width=1024, height=1024)), math.exp(1.15))
    flow = RectifiedFlow(SizeShift())
    small, large = (
        flow.training(asked(width=side, height=side)).sigmas[499] for side in (256, 1024)
    )
    assert small < large


def test_a_tool_may_move_and_count_levels_otherwise() -> None:
    """ComfyUI and Forge take every n-th of ten thousand levels, at one shift for all sizes."""
    own = FlowLevels(math.exp(1.15), count=10_000)
    flow = RectifiedFlow(SizeShift(), tools={ConventionName.COMFY: own})
    small, large = (
        plan_sampling(
            asked(steps=7, width=side, height=side, convention=CONVENTIONS[ConventionName.COMFY]),
            flow,
            redraws=False,
        ).sigmas
        for side in (256, 1024)
    )
    np.testing.assert_array_equal(small, large)
    times = [(10_000 - int(step * 10_000 / 7)) / 10_000 for step in range(7)]
    expected = [math.exp(1.15) / (math.exp(1.15) + 1 / t - 1) for t in times]
    np.testing.assert_allclose(small[:-1], expected, rtol=1e-6)


@pytest.mark.parametrize(
    "sampler",
    [flow_sampler for flow_sampler in FLOW_SAMPLERS if not SAMPLER_FACTS[flow_sampler].adds_noise],
)
@pytest.mark.parametrize("convention", ConventionName)
def test_samplers_converge_to_the_exact_solution(
    convention: ConventionName, sampler: SamplerName
) -> None:
    """Normal data keep their place: x(t) = (1 - t) * mean + deviation(t) * noise."""
    exact = MEAN + DEVIATION * NOISE
    request = asked(sampler=sampler, convention=CONVENTIONS[convention])
    coarse, fine = (
        np.abs(sampled(msgspec.structs.replace(request, steps=steps)) - exact).max()
        for steps in (10, 160)
    )
    assert fine < min(0.02, coarse / 8)


@pytest.mark.parametrize("schedule", FLOW_SCHEDULES)
@pytest.mark.parametrize("convention", ConventionName)
def test_schedules_fall_from_noise_to_the_picture(
    convention: ConventionName, schedule: ScheduleName
) -> None:
    request = asked(schedule=schedule, convention=CONVENTIONS[convention])
    levels = plan_sampling(request, RectifiedFlow(2.0), redraws=False).sigmas
    assert 0.99 < levels[0] <= 1
    assert levels[-1] == 0
    assert (np.diff(levels) < 0).all()


def test_a_picture_is_redrawn_from_its_share_of_the_first_latents() -> None:
    request = asked(strength=0.5)
    plan = plan_sampling(request, RectifiedFlow(), redraws=True)
    level, picture = plan.sigmas[0], np.full_like(NOISE, 5)
    assert 0 < level < 1
    expected = (1 - level) * picture + level * NOISE
    np.testing.assert_allclose(plan.start(NOISE, picture), expected, rtol=1e-6)


def test_the_part_that_a_mask_keeps_has_the_noise_of_the_level() -> None:
    schedule, level = FlowSchedule.of(1.0, A1111), np.float32(0.25)
    mask = np.zeros((1, 1, 6, 6), np.float32)
    kept = Kept(np.full_like(NOISE, 2), mask, NOISE, np.float32(1))
    seen: list[Latent] = []

    class Inner:
        def __call__(self, x: Latent, sigma: np.float32) -> Latent:
            seen.append(x)
            return x

        def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
            return self(x, sigma), x

    masked = MaskedDenoise(Inner(), kept, Keeping.SHOWN_AND_PICTURE, schedule)
    made = masked(np.zeros_like(NOISE), level)
    np.testing.assert_allclose(seen[0], 0.75 * 2 + 0.25 * NOISE, rtol=1e-6)
    np.testing.assert_array_equal(made, kept.latent)


def test_a_model_of_other_levels_does_not_predict_flow() -> None:
    with pytest.raises(EngineError) as refused:
        VarianceExploding(PredictionType.FLOW).training(asked())
    assert refused.value.code is ErrorCode.REQUEST_INVALID


def test_zero_terminal_snr_is_refused() -> None:
    with pytest.raises(EngineError) as refused:
        plan_sampling(asked(zero_terminal_snr=True), RectifiedFlow(), redraws=False)
    assert refused.value.code is ErrorCode.REQUEST_INVALID
