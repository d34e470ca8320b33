"""The choice of sampler function, levels and initial latents, as the request's tool does it."""

from collections.abc import Callable
from functools import partial

import msgspec
import numpy as np

from engine.api.conventions import Convention
from engine.api.noise_rules import InitialNoise
from engine.api.record import ResolvedRequest
from engine.api.values import ConventionName, SamplerName, ScheduleName
from engine.sampling.noise_model import NoiseModel
from engine.sampling.samplers import SAMPLERS, bind_options
from engine.sampling.schedules import (
    FlowSchedule,
    NoiseSchedule,
    RedrawnLevels,
    ScheduleChoice,
    a1111_timestep_levels,
    a1111_unipc_levels,
    redraw_sigmas,
    scheduler_levels,
)
from engine.sampling.types import GuidedSampler, Latent, Sampler, Sigmas

# A1111 runs these samplers by timesteps of its own and ignores the chosen schedule.
A1111_BY_TIMESTEPS = {
    SamplerName.DDIM: a1111_timestep_levels,
    SamplerName.DDIM_CFG_PP: a1111_timestep_levels,
    SamplerName.PLMS: a1111_timestep_levels,
    SamplerName.UNIPC: a1111_unipc_levels,
    SamplerName.UNIPC_BH2: a1111_unipc_levels,
}
_BY_SCHEDULERS = (ConventionName.DIFFUSERS, ConventionName.INVOKE)

# (standard normal noise, latents of a start picture or None) -> the initial latents.
Start = Callable[[Latent, Latent | None], Latent]


class SamplingPlan(msgspec.Struct, frozen=True):
    """The inputs of a sampler's run; the latents are [1, C, H, W].

    `sigmas` are the visited levels, the end of the `whole` schedule; a single level means no step.
    `training` converts levels to timesteps. `finish` converts the last x to the latent to decode.
    `brownian` takes the noise of the steps from a Brownian path, if the convention has one.
    """

    sampler: Sampler | GuidedSampler
    training: NoiseSchedule
    sigmas: Sigmas
    whole: Sigmas
    start: Start
    finish: Callable[[Latent], Latent]
    brownian: bool


def plan_sampling(
    request: ResolvedRequest,
    model: NoiseModel,
    *,
    redraws: bool,
) -> SamplingPlan:
    """Return the plan by the request's convention. `redraws`: the job starts from a picture.

    Raises EngineError REQUEST_INVALID for options that the sampler or the schedule does not have.
    """
    convention = request.convention
    choice = _choice(request, model)
    sampler = bind_options(
        request.sampler, request.sampler_options, convention.name, choice.training
    )
    strength = request.strength if redraws else None
    by_timesteps = A1111_BY_TIMESTEPS.get(request.sampler)
    brownian = SAMPLERS[request.sampler].brownian
    if isinstance(choice.training, FlowSchedule):
        levels = _levels(request, choice, redraws=redraws)
        start = partial(_start_of_flow, choice.training, levels.taken[0])
        taken, whole = levels.taken, levels.whole
        return SamplingPlan(sampler, choice.training, taken, whole, start, _as_it_is, brownian)
    if convention.name in _BY_SCHEDULERS:
        own = scheduler_levels(request.sampler, choice, request.steps, strength)
        levels = own.sigmas, own.sigmas
        # Only one of diffusers' SDE schedulers has a path, `DPMSolverSDEScheduler`.
        brownian = request.sampler is SamplerName.DPMPP_SDE
        return SamplingPlan(sampler, own.training, *levels, own.start, own.finish, brownian)
    timed = convention.name is ConventionName.A1111 and choice.training.has_timesteps
    if timed and by_timesteps is not None:
        own = by_timesteps(request.steps, choice.training, strength, convention.redraw_steps)
        levels = own.sigmas, own.sigmas
        return SamplingPlan(sampler, choice.training, *levels, own.start, own.finish, brownian)
    levels = _levels(request, choice, redraws=redraws)
    first = levels.taken[0] if redraws else levels.whole[0]
    start = _start(convention, first, choice.training.sigma_max)
    taken, whole = levels.taken, levels.whole
    return SamplingPlan(sampler, choice.training, taken, whole, start, _as_it_is, brownian)


def _choice(request: ResolvedRequest, model: NoiseModel) -> ScheduleChoice:
    return ScheduleChoice(
        request.schedule,
        model.training(request),
        request.schedule_options,
        request.convention.name,
        model.aligned_for,
        request.sampler in request.convention.discards_next_to_last,
    )


def _levels(request: ResolvedRequest, choice: ScheduleChoice, *, redraws: bool) -> RedrawnLevels:
    convention = request.convention
    if redraws:
        return redraw_sigmas(choice, request.steps, request.strength, convention.redraw_steps)
    whole = choice.sigmas(request.steps)
    if SAMPLERS[request.sampler].ends_only and convention.name is ConventionName.A1111:
        # The run covers all training levels; the chosen schedule only scales the noise.
        choice = ScheduleChoice(ScheduleName.KARRAS, choice.training)
        return RedrawnLevels(choice.sigmas(request.steps), whole)
    return RedrawnLevels(whole, whole)


def _start(convention: Convention, first: np.float32, highest: np.float32) -> Start:
    """Return a function that scales noise to the first level and adds it to a picture, if any."""
    from_noise = over_picture = first
    if convention.initial_noise is InitialNoise.VARIANCE:
        # The standard deviation of a picture of unit variance plus noise of this level.
        deviation = np.sqrt(1 + first**2)
        if convention.name is not ConventionName.COMFY:
            from_noise = deviation  # A1111's "SGM noise multiplier"
        elif first >= highest * (1 - 1e-5):
            # ComfyUI's `max_denoise`: nothing of the picture is left.
            from_noise = over_picture = deviation

    def start(noise: Latent, init: Latent | None) -> Latent:
        return noise * from_noise if init is None else init + noise * over_picture

    return start


def _start_of_flow(
    training: FlowSchedule, first: np.float32, noise: Latent, init: Latent | None
) -> Latent:
    return noise * first if init is None else training.noised(init, noise, first)


def _as_it_is(x: Latent) -> Latent:
    return x
