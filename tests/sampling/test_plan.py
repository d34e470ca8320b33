"""From a request to levels and a beginning, as the request's tool has them."""

import msgspec
import numpy as np
import pytest

from engine.api.conventions import CONVENTIONS
from engine.api.noise_rules import InitialNoise
from engine.api.record import ResolvedRequest
from engine.api.request import SamplerOptions, ScheduleOptions
from engine.api.values import ConventionName, ErrorCode, PredictionType, SamplerName, ScheduleName
from engine.errors import EngineError
from engine.sampling.noise_model import VarianceExploding
from engine.sampling.plan import SamplingPlan, plan_sampling
from engine.sampling.schedules import NoiseSchedule
from engine.sampling.types import Latent
from tests.metadata.records import PLAIN_REQUEST

A1111, COMFY = ConventionName.A1111, ConventionName.COMFY
DIFFUSERS, INVOKE = ConventionName.DIFFUSERS, ConventionName.INVOKE
MODEL = VarianceExploding(PredictionType.EPSILON)
HIGHEST = float(NoiseSchedule.scaled_linear().sigma_max)
NOISE = np.full((1, 4, 2, 2), 2, np.float32)
PICTURE = np.full((1, 4, 2, 2), 5, np.float32)


def asked(name: ConventionName = A1111, **changes: object) -> ResolvedRequest:
    fields: dict[str, object] = {
        "convention": CONVENTIONS[name],
        "sampler": SamplerName.EULER,
        "schedule": ScheduleName.NORMAL,
        "steps": 10,
        "strength": 0.5,
    }
    return msgspec.structs.replace(PLAIN_REQUEST, **(fields | changes))


def planned(
    name: ConventionName = A1111, *, redraws: bool = False, **changes: object
) -> SamplingPlan:
    return plan_sampling(asked(name, **changes), MODEL, redraws=redraws)


@pytest.mark.parametrize("sampler", SamplerName)
@pytest.mark.parametrize("name", ConventionName)
def test_every_sampler_can_be_planned_as_every_tool(
    name: ConventionName, sampler: SamplerName
) -> None:
    for redraws in (False, True):
        plan = planned(name, sampler=sampler, redraws=redraws)
        assert plan.sigmas.dtype == np.float32
        assert len(plan.sigmas) >= 2
        x = plan.start(NOISE, PICTURE if redraws else None)
        assert x.dtype == plan.finish(x).dtype == np.float32


def test_noise_is_scaled_to_the_first_level_as_in_the_tool() -> None:
    by_variance = float(np.sqrt(1 + HIGHEST**2))
    for name, scale in ((A1111, HIGHEST), (COMFY, by_variance), (DIFFUSERS, HIGHEST)):
        np.testing.assert_allclose(planned(name).start(NOISE, None), 2 * scale, rtol=1e-4)
    multiplied = msgspec.structs.replace(CONVENTIONS[A1111], initial_noise=InitialNoise.VARIANCE)
    x = planned(convention=multiplied).start(NOISE, None)
    np.testing.assert_allclose(x, 2 * by_variance, rtol=1e-6)


def test_comfyui_scales_by_variance_only_at_full_strength() -> None:
    lower = planned(COMFY, redraws=True)
    first = lower.sigmas[0]
    np.testing.assert_allclose(lower.start(NOISE, PICTURE), 5 + 2 * first, rtol=1e-6)
    highest = planned(COMFY, redraws=True, strength=1.0)
    by_variance = np.sqrt(1 + HIGHEST**2)
    np.testing.assert_allclose(highest.start(NOISE, PICTURE), 5 + 2 * by_variance, rtol=1e-6)


def test_a_picture_is_redrawn_in_the_steps_of_its_tool() -> None:
    taken = {name: planned(name, redraws=True).sigmas for name in (A1111, COMFY, DIFFUSERS)}
    assert {name: len(sigmas) - 1 for name, sigmas in taken.items()} == {
        A1111: 6,
        COMFY: 10,
        DIFFUSERS: 5,
    }
    np.testing.assert_array_equal(taken[A1111], planned().sigmas[-7:])


def test_a1111s_timestep_samplers_have_their_own_levels_and_scale() -> None:
    plan = planned(sampler=SamplerName.DDIM, schedule=ScheduleName.KARRAS)
    karras = planned(schedule=ScheduleName.KARRAS)
    assert plan.sigmas[-1] > 0
    assert not np.isin(plan.sigmas[1:-1], karras.sigmas).any()
    scale = np.sqrt(1 + plan.sigmas[-1] ** 2)
    np.testing.assert_allclose(plan.finish(PICTURE), 5 / scale, rtol=1e-6)
    # ComfyUI's goes by the schedule and ends with the picture.
    comfy = planned(COMFY, sampler=SamplerName.DDIM, schedule=ScheduleName.KARRAS)
    np.testing.assert_array_equal(comfy.sigmas, planned(COMFY, schedule=ScheduleName.KARRAS).sigmas)
    np.testing.assert_array_equal(comfy.finish(PICTURE), PICTURE)


def test_some_samplers_leave_out_the_next_to_last_level() -> None:
    full = planned(steps=11).sigmas
    discarding = planned(sampler=SamplerName.DPM2)
    np.testing.assert_array_equal(discarding.sigmas, np.delete(full, -2))
    never = msgspec.structs.replace(CONVENTIONS[A1111], discards_next_to_last=())
    kept = planned(sampler=SamplerName.DPM2, convention=never)
    np.testing.assert_array_equal(kept.sigmas, planned().sigmas)


@pytest.mark.parametrize("schedule", [ScheduleName.SIMPLE, ScheduleName.SGM_UNIFORM])
def test_dpm_fast_goes_from_end_to_end_in_a1111(schedule: ScheduleName) -> None:
    levels = NoiseSchedule.scaled_linear()
    for sampler in (SamplerName.DPM_FAST, SamplerName.DPM_ADAPTIVE):
        sigmas = planned(sampler=sampler, schedule=schedule).sigmas
        ends = sigmas[0], sigmas[sigmas > 0].min()
        np.testing.assert_allclose(ends, (levels.sigma_max, levels.sigma_min), rtol=1e-5)


def test_zero_terminal_snr_starts_from_noise_alone() -> None:
    for name in ConventionName:
        assert planned(name, zero_terminal_snr=True).sigmas[0] > 1000


def test_options_reach_their_sampler_or_schedule_and_unknown_ones_are_refused() -> None:
    lowest = planned(
        schedule=ScheduleName.KARRAS, schedule_options=ScheduleOptions(sigma_min=0.5)
    ).sigmas[-2]
    assert lowest == pytest.approx(0.5, rel=1e-5)
    strangers = (
        asked(schedule=ScheduleName.SIMPLE, schedule_options=ScheduleOptions(rho=7)),
        asked(sampler=SamplerName.DPMPP_2M, sampler_options=SamplerOptions(eta=1)),
    )
    for request in strangers:
        with pytest.raises(EngineError) as caught:
            plan_sampling(request, MODEL, redraws=False)
        assert caught.value.code is ErrorCode.REQUEST_INVALID


def test_a1111s_lcm_visits_levels_of_its_own_whatever_the_spacing() -> None:
    own = {
        schedule: planned(sampler=SamplerName.LCM, schedule=schedule).sigmas
        for schedule in (ScheduleName.NORMAL, ScheduleName.UNIFORM)
    }
    uniform, normal = own[ScheduleName.UNIFORM], own[ScheduleName.NORMAL]
    np.testing.assert_array_equal(uniform, normal)
    lowest = NoiseSchedule.scaled_linear().sigmas[19]
    assert uniform[-2] == pytest.approx(float(lowest), rel=1e-5)
    assert planned().sigmas[-2] < lowest


@pytest.mark.parametrize(("name", "renews"), [(DIFFUSERS, False), (INVOKE, True), (A1111, True)])
def test_tcd_renews_noise_as_its_tool_does(name: ConventionName, renews: bool) -> None:
    plan, drawn = planned(name, sampler=SamplerName.TCD), list[np.float32]()

    def noise(sigma: np.float32, sigma_next: np.float32) -> Latent:
        drawn.append(sigma)
        return NOISE

    steps = list(plan.sampler(Picture(), plan.start(NOISE, None), plan.sigmas, noise))
    assert len(steps) == 10
    assert bool(drawn) is renews


class Picture:
    """A `GuidedDenoise` that sees the same picture everywhere."""

    def __call__(self, x: Latent, sigma: np.float32, /) -> Latent:
        return PICTURE

    def pair(self, x: Latent, sigma: np.float32) -> tuple[Latent, Latent]:
        return PICTURE, PICTURE
